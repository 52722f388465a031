#!/usr/bin/env python3
"""Trains for one epoch on more images than memory, or a GPU, may hold, and on the same with no limit.

    bench/large_set.py build/release/bin/priornet --limit 4GB                       # a CPU: JPEGs
    bench/large_set.py build/cuda/bin/priornet --device-limit 4GB --form pixels     # a GPU: pixels, no reader needed

--form jpeg makes a folder of JPEGs of --side x --side, one folder per class, which the tool decodes to --size x --size; its prepared copy is
removed before each run, so that each decodes. --form pixels writes the prepared copy itself, as a build without libjpeg can read it.

--limit is RLIMIT_DATA (`prlimit --data`): all memory of the process that no file stands behind; half of it is what pixels may take.
--device-limit is PRIORNET_DEVICE_MEMORY: all that LibTorch takes on the GPU; half of it is what pixels may take. Each run without a limit
follows the one with it, in the same order --repeat times.

Printed per run: seconds from start to end, images per second of the epoch, the most memory without a file (RssAnon, ten times per second), the
loss of the epoch, which does not depend on where the set lies. With --runs limited the unlimited run is left out (a machine of 24 GB has no
room for it). Needs numpy, prlimit for --limit, Pillow for --form jpeg.
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
from tool_process import begin_copy

CLASSES = 10
DISTINCT = 4096  # images of --form pixels; the others are shifted copies of these

CONFIG = """
[data]
train = "{set}"
{augmentation}validation_share = {kept}
calibration_share = {kept}

[model]
{model}

[method]
name = "dnn"

[training]
epochs = 1
batch = {batch}
rate = 1e-3
optimiser = "sgd"
precision = "{precision}"
"""

MODELS = {
    "small": 'name = "vgg6"\nblocks = [[2], [4], [4]]\ndense = [16]',
    "resnet18": 'name = "resnet18"',
}


def coarse(number):
    draw = numpy.random.default_rng(number)
    values = draw.integers(0, 256, (8, 8, 3), dtype=numpy.uint8)
    values[..., number % 3] //= 1 + number % CLASSES  # what tells the classes apart
    return values


def make_jpeg(task):
    from PIL import Image

    path, number, side = task
    Image.fromarray(coarse(number)).resize((side, side), Image.BILINEAR).save(path, quality=75)


def make_jpegs(folder, count, side):
    tasks = []
    for number in range(CLASSES):
        (folder / f"class{number}").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / f"class{number % CLASSES}" / f"{number:07}.jpg"
        if not path.exists():
            tasks.append((str(path), number, side))
    with multiprocessing.Pool() as pool:
        for _ in pool.imap_unordered(make_jpeg, tasks, chunksize=256):
            pass


def write_large(root, count, size):
    """The set `large`: images, uint8 [count, 3, size, size], and labels, as priornet keeps them."""
    path = root / "prepared" / "large.safetensors"
    if path.exists() and path.stat().st_size > count * 3 * size * size:
        return
    repeats = -(-size // 8)
    distinct = min(count, DISTINCT)
    some = numpy.empty((distinct, 3, size, size), dtype=numpy.uint8)
    for number in range(distinct):
        some[number] = coarse(number).repeat(repeats, 0).repeat(repeats, 1)[:size, :size].transpose(2, 0, 1)
    with begin_copy(root, "large", (count, 3, size, size), CLASSES) as file:
        # Image n is a shifted copy of number n % DISTINCT, with the same class.
        (numpy.arange(count) % distinct % CLASSES).astype("<i8").tofile(file)
        for first in range(0, count, distinct):
            numpy.roll(some, first // distinct, 3)[: count - first].tofile(file)


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


def run(given, folder, limited):
    root = folder / "data-root"
    if given.form == "jpeg":
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
    out = folder / "run"
    config = folder / "large_set.toml"
    name = "large" if given.form == "pixels" else f"{folder / 'images'},size={given.size}"
    precision = "bfloat16" if given.device == "cuda" else "float32"
    augmentation = "flip = true\nshift = 4\n" if given.device == "cuda" else ""
    config.write_text(CONFIG.format(set=name, augmentation=augmentation, kept=given.kept, model=MODELS[given.model], batch=given.batch, precision=precision))
    command = [str(pathlib.Path(given.tool).resolve()), "train", str(config), "--device", given.device, "--out", str(out), "--force",
               "--quiet"]
    environment = {**os.environ, "PRIORNET_DATA": str(root), "TMPDIR": str(folder)}
    if limited and given.limit:
        command = ["prlimit", f"--data={bytes_of(given.limit)}", *command]
    if limited and given.device_limit:
        environment["PRIORNET_DEVICE_MEMORY"] = given.device_limit
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    most = most_memory(process)
    if process.wait() != 0:
        raise SystemExit(f"priornet train ended with {process.returncode}")
    seconds = time.perf_counter() - begin
    last = json.loads((out / "metrics.jsonl").read_text().splitlines()[-1])
    words = (f"{given.limit} of memory " if given.limit else "") + (f"{given.device_limit} on the device" if given.device_limit else "")
    print(f"| {words.strip() if limited else 'none'} | {seconds:.0f} | {last['images_per_second']:,.0f} | {most:,.0f} | {last['loss']:.6f} |",
          flush=True)
    return last["images_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--images", type=int, default=200_000)
    parser.add_argument("--side", type=int, default=256, help="of the JPEGs, in pixels")
    parser.add_argument("--size", type=int, default=224, help="that the network takes them at")
    parser.add_argument("--form", choices=["jpeg", "pixels"], default="jpeg")
    parser.add_argument("--limit", help="of memory, as 4GB")
    parser.add_argument("--device-limit", help="of the GPU's memory, as 4GB")
    parser.add_argument("--model", choices=list(MODELS), help="resnet18 on a GPU, else small")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--kept", type=float, default=0.02, help="share of the rows for validation, and again for calibration")
    parser.add_argument("--runs", choices=["both", "limited"], default="both")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--folder", help="where images and scratch files lie; kept")
    given = parser.parse_args()
    given.device = "cuda" if given.device_limit else "cpu"
    given.model = given.model or ("resnet18" if given.device_limit else "small")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(given.folder or name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.perf_counter()
        if given.form == "jpeg":
            make_jpegs(folder / "images", given.images, given.side)
        else:
            write_large(folder / "data-root", given.images, given.size)
        gigabytes = given.images * 3 * given.size**2 / 1e9
        what = f"JPEGs of {given.side} x {given.side}, taken at" if given.form == "jpeg" else "images of"
        print(f"{given.images} {what} {given.size} x {given.size}: {gigabytes:.1f} GB of pixels, made in {time.perf_counter() - begin:.0f} s\n")
        print("| limit | seconds | images/s | most memory without a file, MB | loss |\n|---|---|---|---|---|", flush=True)
        for _ in range(given.repeat):
            limited = run(given, folder, True)
            if given.runs == "both":
                print(f"\nwith the limit {100 * limited / run(given, folder, False):.1f} % of the images/s without it\n", flush=True)


if __name__ == "__main__":
    main()
