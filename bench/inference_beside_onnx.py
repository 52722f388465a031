#!/usr/bin/env python3
"""What `serve` and `predict` compute per second on a CPU, beside the same models exported and run in onnxruntime.

    bench/inference_beside_onnx.py build/dev/bin/priornet [--threads 2] [--rounds 3] [--seconds 2] [--detectors] [--only vgg6] [--keep FOLDER]

An MLP on rows of 784 numbers, VGG-6 on 28 x 28 grey images (with the channels that `train --data` gives it, and with the paper's) and
ResNet-18 on 32 x 32 RGB images are trained for one epoch on noise, calibrated and exported. Then both answer in turn, round after round, in batches of 1, 32 and 256: all that a model says of an input,
verdict included. Each counts by its fastest call, and by the one that took the least processor time, which says more on a busy machine
(with one thread: several also wait on the processor). Needs priornet-bench beside the tool (target priornet_bench_tool), numpy, node and npm,
which installs onnxruntime as tests/onnx has it; prints Markdown.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy
from tool_process import tool_in

HERE = pathlib.Path(__file__).resolve().parent
NETWORKS = {"mlp": (784,), "vgg6-small": (1, 28, 28), "vgg6": (1, 28, 28), "resnet18": (3, 32, 32)}
SETTINGS = {"vgg6": ["--set", "model.blocks=[[64,64],[128,128]]"]}
BATCHES = ("1", "32", "256")


def install_onnxruntime(folder):
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE.parent / "tests" / "onnx" / name, folder)
    command = ["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"npm cannot install onnxruntime-node here: {done.stderr}")


def make_model(folder, priornet, name, detectors):
    draw = numpy.random.default_rng(1)
    shape = NETWORKS[name]
    if len(shape) == 3:
        inputs = draw.integers(0, 256, (400, *shape), dtype=numpy.uint8)
    else:
        inputs = draw.normal(size=(400, *shape)).astype(numpy.float32)
    numpy.savez(folder / f"{name}.npz", inputs=inputs, labels=numpy.arange(400) % 10)
    priornet("train", "--data", f"{name}.npz", "--model", name.split("-")[0], "--epochs", "1", "--batch", "50", "--out", f"{name}-run", "--force",
             "--quiet", *SETTINGS.get(name, []))
    options = [] if detectors else ["--no-detectors"]
    priornet("calibrate", f"{name}-run", "--out", f"{name}.priornet", "--quiet", *options)
    priornet("export", f"{name}.priornet", "--onnx", f"{name}.onnx", "--quiet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="per network, batch size, side and round")
    parser.add_argument("--detectors", action="store_true", help="models as calibrate makes them, with the detectors that they watch")
    parser.add_argument("--keep", help="a folder for the models, used again if they are there")
    parser.add_argument("--only", choices=NETWORKS, nargs="*", default=list(NETWORKS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(given.keep or name)
        folder.mkdir(exist_ok=True)
        priornet = tool_in(folder, given.tool)
        shutil.copy(HERE / "onnx_speed.mjs", folder)
        if not (folder / "node_modules").exists():
            install_onnxruntime(folder)
        for network in given.only:
            if (folder / f"{network}.onnx").exists():
                continue
            make_model(folder, priornet, network, given.detectors)
        best = {(network, batch): [0.0] * 4 for network in given.only for batch in BATCHES}
        seconds, threads = str(given.seconds), str(given.threads)
        for _ in range(given.rounds):
            for network in given.only:
                said = json.loads(priornet("bench", "--only", "prediction", "--model", f"{network}.priornet", "--seconds", seconds,
                                           "--threads", threads, "--json"))
                ours = {str(line["batch"]): (line["inputs_per_second"], line["inputs_per_cpu_second"]) for line in said["prediction"]}
                shape = [str(size) for size in NETWORKS[network]]
                command = ["node", "onnx_speed.mjs", f"{network}.onnx", seconds, threads, *shape]
                theirs = json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)
                for batch in BATCHES:
                    found = best[network, batch]
                    found[:] = map(max, found, (*ours[batch], *theirs[batch]))
    print(f"{threads} threads, load {os.getloadavg()[0]:.1f}, fastest calls of {given.rounds} rounds\n")
    print("| network | batch | inputs/s: ours | onnxruntime | ratio | inputs per CPU second: ours | onnxruntime | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for (network, batch), (ours, ours_cpu, theirs, theirs_cpu) in best.items():
        print(f"| {network} | {batch} | {ours:,.0f} | {theirs:,.0f} | {ours / theirs:.2f} | {ours_cpu:,.0f} | {theirs_cpu:,.0f} | "
              f"{ours_cpu / theirs_cpu:.2f} |")


if __name__ == "__main__":
    main()
