#!/usr/bin/env python3
"""Trains on a folder of JPEGs with a limit on the memory of the process, and without one.

    bench/large_set.py build/release/bin/priornet --images 200000 --side 256 --size 64 --limit 4GB

The images, one folder per class, are made once in --folder and used again. Limited is RLIMIT_DATA (`prlimit --data`): all memory of the
process that no file stands behind. Half of it is what pixels may take (PRIORNET_MEMORY changes that); the rest of a set lies in a file in
--folder, whose pages the system drops as it needs them. Printed: seconds from start to end, images per second of the epoch, the most
memory without a file that was seen (RssAnon, ten times per second). Prepared copies of the first run are removed before the second, so that
both decode. Needs numpy, Pillow and prlimit.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import numpy
from PIL import Image

CLASSES = 10


def make_image(task):
    path, number, side = task
    draw = numpy.random.default_rng(number)
    coarse = draw.integers(0, 256, (8, 8, 3), dtype=numpy.uint8)
    coarse[..., number % 3] //= 1 + number % CLASSES  # what tells the classes apart
    Image.fromarray(coarse).resize((side, side), Image.BICUBIC).save(path, quality=85)


def make_images(folder, count, side):
    tasks = []
    for number in range(count):
        path = folder / f"class{number % CLASSES}" / f"{number:07}.jpg"
        if not path.exists():
            tasks.append((str(path), number, side))
    for number in range(CLASSES):
        (folder / f"class{number}").mkdir(parents=True, exist_ok=True)
    with multiprocessing.Pool() as pool:
        for _ in pool.imap_unordered(make_image, tasks, chunksize=256):
            pass


def bytes_of(size):
    number, unit = re.fullmatch(r"(\d+)(KB|MB|GB)", size).groups()
    return int(number) << {"KB": 10, "MB": 20, "GB": 30}[unit]


def most_memory(process):
    most = 0
    while process.poll() is None:
        try:
            text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        found = re.search(r"RssAnon:\s+(\d+) kB", text)
        most = max(most, int(found.group(1)) if found else 0)
        time.sleep(0.1)
    return most / 1024


def run(given, folder, limit):
    root = folder / "data-root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    out = folder / "run"
    command = [str(pathlib.Path(given.tool).resolve()), "train", "--data", f"{folder / 'images'},size={given.size}", "--model", "vgg6", "--epochs",
               "1", "--batch", "64", "--out", str(out), "--force", "--quiet"]
    if limit:
        command = ["prlimit", f"--data={bytes_of(limit)}", *command]
    environment = {**os.environ, "PRIORNET_DATA": str(root), "TMPDIR": str(folder)}
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment)
    most = most_memory(process)
    if process.wait() != 0:
        raise SystemExit(f"priornet train ended with {process.returncode}")
    seconds = time.perf_counter() - begin
    last = json.loads((out / "metrics.jsonl").read_text().splitlines()[-1])
    print(f"| {limit or 'none'} | {seconds:.0f} | {last['images_a_second']:,.0f} | {most:,.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--images", type=int, default=200_000)
    parser.add_argument("--side", type=int, default=256, help="of the JPEGs, in pixels")
    parser.add_argument("--size", type=int, default=64, help="that the network takes them at")
    parser.add_argument("--limit", default="4GB")
    parser.add_argument("--folder", help="where images and scratch files lie; kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(given.folder or name).resolve()
        make_images(folder / "images", given.images, given.side)
        pixels = given.images * 3 * given.size**2 / 2**20
        print(f"{given.images} JPEGs of {given.side} x {given.side}, taken at {given.size} x {given.size}: {pixels:,.0f} MB of pixels\n")
        print("| limit | seconds | images/s | most memory without a file, MB |\n|---|---|---|---|", flush=True)
        for limit in (given.limit, None):
            run(given, folder, limit)


if __name__ == "__main__":
    main()
