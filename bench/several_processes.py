#!/usr/bin/env python3
"""Training shared by processes beside the same by threads, or beside one process on a GPU: images per second and losses.

    bench/several_processes.py build/release/bin/priornet                      # 2 processes of 1 thread, 1 process of 2 threads
    bench/several_processes.py build/cuda/bin/priornet --device cuda           # 2 processes on GPU 0, 1 process there

Both train the same VGG-6 on 28 x 28 images made from noise, in turn, --rounds times; printed are the medians of images per second (the last epoch of
each run), their ratio in each round, and how far the losses of an epoch are apart. On a GPU both processes get LOCAL_RANK=0, and NCCL must allow two
ranks on one device: where it does not, its message is printed. Needs numpy.
"""

import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile

import numpy
from tool_process import write_set

CONFIG = """
[data]
train = "set"

[model]
name = "vgg6"
keep_dense = 1.0
keep_convolution = 1.0

[method]
name = "dnn"

[training]
epochs = {epochs}
batch = {batch}
rate = 1e-3
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def train(given, folder, processes):
    port = str(free_port())
    started = []
    for rank in range(processes):
        environment = {**os.environ, "PRIORNET_DATA": str(folder)}
        if processes > 1:
            local = "0" if given.device == "cuda" else str(rank)
            environment |= {"RANK": str(rank), "WORLD_SIZE": str(processes), "LOCAL_RANK": local, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        command = [str(pathlib.Path(given.tool).resolve()), "train", "set.toml", "--device", given.device, "--out", f"run{processes}", "--force",
                   "--quiet", "--threads", str(given.processes // processes)]
        started.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    failed = [one.communicate()[1] for one in started if one.wait() != 0]
    if failed:
        raise SystemExit(f"{processes} processes: {failed[0]}")
    lines = (folder / f"run{processes}" / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--images", type=int, default=2560)
    parser.add_argument("--batch", type=int, default=128)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        draw = numpy.random.default_rng(1)
        images = draw.integers(0, 256, (given.images, 1, 28, 28), dtype=numpy.uint8)
        write_set(folder, "set", images, numpy.arange(given.images) % 10, 10)
        (folder / "set.toml").write_text(CONFIG.format(epochs=given.epochs, batch=given.batch))
        rates, ratios, apart = {1: [], given.processes: []}, [], 0.0
        for round in range(given.rounds):
            order = (1, given.processes) if round % 2 == 0 else (given.processes, 1)
            seen = {count: train(given, folder, count) for count in order}
            for count, lines in seen.items():
                rates[count].append(lines[-1]["images_per_second"])
            ratios.append(rates[given.processes][-1] / rates[1][-1])
            for one, several in zip(seen[1], seen[given.processes]):
                apart = max(apart, abs(one["loss"] - several["loss"]) / abs(one["loss"]))
    one, several = (statistics.median(rates[count]) for count in (1, given.processes))
    print(f"load {os.getloadavg()[0]:.1f}; {given.rounds} rounds in turn, medians of images/s\n")
    print(f"| 1 process | {given.processes} processes | ratio of medians | ratios of the rounds | losses apart, relative |\n|---|---|---|---|---|")
    print(f"| {one:,.0f} | {several:,.0f} | {several / one:.3f} | {', '.join(f'{ratio:.2f}' for ratio in ratios)} | {apart:.1e} |")


if __name__ == "__main__":
    main()
