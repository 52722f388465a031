#!/usr/bin/env python3
"""How many drawings of an unknown shape a model rejects.

    bench/unfamiliar_shapes.py build/dev/bin/priornet choice   # shapes to choose detectors on
    bench/unfamiliar_shapes.py build/dev/bin/priornet test     # shapes to report

Stars beside circles, triangles and squares were in view when layers_mahalanobis was designed; the shapes of `choice` were not.

Draws grey images of 32 x 32 pixels: one filled shape each, of any place, size, turn and brightness on another brightness, with a little
noise. `priornet train`, `calibrate` and `predict` on folders of them with nothing but their defaults, at 5 % false alarms; then how many new
drawings of the known shapes and how many of the strange one are rejected, and by which score. The same with
--no-detectors: what the measure does alone. Needs Pillow and numpy; prints Markdown.
"""

import argparse
import collections
import csv
import io
import pathlib
import tempfile

import numpy
from PIL import Image, ImageDraw
from tool_process import tool_in

SIDE = 32
FINE = 8  # each pixel is the mean of FINE x FINE finer ones


def polygon(angles, radii):
    return numpy.stack([radii * numpy.cos(angles), radii * numpy.sin(angles)], axis=1)


def regular(corners):
    return polygon(2 * numpy.pi * numpy.arange(corners) / corners, numpy.ones(corners))


def star(points, inner):
    return polygon(numpy.pi * numpy.arange(2 * points) / points, numpy.tile([1.0, inner], points))


def cross(width):
    w = width
    return numpy.array([(1, w), (w, w), (w, 1), (-w, 1), (-w, w), (-1, w), (-1, -w), (-w, -w), (-w, -1), (w, -1), (w, -w), (1, -w)])


SHAPES = {
    "circle": regular(64),
    "triangle": regular(3),
    "square": regular(4),
    "star": star(5, 0.45),
    "ellipse": regular(64) * numpy.array([1.0, 0.5]),
    "hexagon": regular(6),
    "cross": cross(0.3),
    "arrow": numpy.array([(1, 0), (0.1, 0.8), (0.1, 0.3), (-1, 0.3), (-1, -0.3), (0.1, -0.3), (0.1, -0.8)]),
}
GROUPS = {
    "choice": (["ellipse", "hexagon", "cross"], "arrow"),
    "test": (["circle", "triangle", "square"], "star"),
}


def drawing(shape, random):
    turn = random.uniform(0, 2 * numpy.pi)
    size = random.uniform(6, 12)
    place = random.uniform(size + 1, SIDE - size - 1, 2)
    rotation = numpy.array([[numpy.cos(turn), -numpy.sin(turn)], [numpy.sin(turn), numpy.cos(turn)]])
    corners = FINE * (SHAPES[shape] @ rotation * size + place)
    mask = Image.new("L", (SIDE * FINE, SIDE * FINE))
    ImageDraw.Draw(mask).polygon([tuple(corner) for corner in corners], fill=255)
    inside = numpy.asarray(mask.resize((SIDE, SIDE), Image.BOX)) / 255
    back, front = random.uniform(0, 90), random.uniform(140, 255)
    grey = back + (front - back) * inside + random.normal(0, 4, inside.shape)
    return Image.fromarray(numpy.clip(grey, 0, 255).astype(numpy.uint8))


def draw(folder, shape, count, random):
    (folder / shape).mkdir(parents=True)
    for i in range(count):
        drawing(shape, random).save(folder / shape / f"{i}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program priornet")
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--count", type=int, default=1000, help="drawings per shape to learn from")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    known, strange = GROUPS[options.group]
    print(f"Learnt: {', '.join(known)}; strange: {strange}\n")
    print("| seed | watched | accuracy | known, rejected | strange, rejected | strange, unfamiliar | by |")
    print("|---|---|---:|---:|---:|---:|---|")
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            random = numpy.random.default_rng(seed)
            for shape in known:
                draw(folder / "train", shape, options.count, random)
                draw(folder / "test", shape, 300, random)
            draw(folder / "test", strange, 500, random)

            run = tool_in(folder, options.tool)
            run("train", "--data", "./train", "--out", "run", "--seed", str(seed), "--quiet", "--device", "cpu")
            for watched, arguments in {"measure and detector": [], "measure alone": ["--no-detectors"]}.items():
                run("calibrate", "run", "--out", "m.priornet", "--false-alarm", "0.05", "--device", "cpu", *arguments)
                rows = list(csv.DictReader(io.StringIO(run("predict", "m.priornet", "test", "--format", "csv"))))
                of = collections.defaultdict(list)
                for row in rows:
                    of[pathlib.Path(row["input"]).parent.name].append(row)
                inside = [row for shape in known for row in of[shape]]
                right = numpy.mean([row["prediction"] == shape for shape in known for row in of[shape]])
                rejected = [row for row in of[strange] if row["verdict"] != "accept"]
                by = collections.Counter(row["verdict_by"] for row in rejected).most_common()
                print(f"| {seed} | {watched} | {100 * right:.1f} | "
                      f"{100 * numpy.mean([row['verdict'] != 'accept' for row in inside]):.1f} | "
                      f"{100 * len(rejected) / len(of[strange]):.1f} | "
                      f"{100 * numpy.mean([row['verdict'] == 'unfamiliar' for row in of[strange]]):.1f} | "
                      f"{', '.join(f'{name} {count}' for name, count in by)} |", flush=True)


if __name__ == "__main__":
    main()
