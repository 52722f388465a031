"""The program priornet, run by the scripts of this folder, and sets of images that every build of it reads."""

import json
import os
import pathlib
import re
import struct
import subprocess


def tool_in(folder, tool, data_root=None):
    """A function that runs the tool with its arguments in `folder` and returns the output; if the tool fails, the script ends.

    The tool looks for data sets in `data_root`; without it, where PRIORNET_DATA says.
    """
    program = str(pathlib.Path(tool).resolve())
    environment = {**os.environ, **({"PRIORNET_DATA": str(data_root)} if data_root else {})}

    def run(*arguments):
        done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise SystemExit(f"priornet {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    return run


def begin_copy(root, name, shape, classes):
    """Opens the prepared copy of a set of images of that shape, [N, C, H, W], in a data root: a file for the labels, int64, and after
    them the images, uint8. The tool maps it, whatever libraries it was built with."""
    header = pathlib.Path(__file__).resolve().parent.parent / "src/learning/sets/prepared_copy.h"
    reader = re.search(r"kReaderVersion = (\d+)", header.read_text(encoding="utf-8"))[1]
    count, *image = shape
    pixels = count * image[0] * image[1] * image[2]
    header = {
        "__metadata__": {"reader": reader, "source": "bench", "class_names": json.dumps([f"class{c}" for c in range(classes)])},
        "labels": {"dtype": "I64", "shape": [count], "data_offsets": [0, 8 * count]},
        "images": {"dtype": "U8", "shape": [count, *image], "data_offsets": [8 * count, 8 * count + pixels]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 4096)
    path = pathlib.Path(root) / "prepared" / f"{name}.safetensors"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "wb")
    file.write(struct.pack("<Q", len(text)) + text)
    return file


def write_set(root, name, images, labels, classes):
    """A whole set, from arrays."""
    with begin_copy(root, name, images.shape, classes) as file:
        labels.astype("<i8").tofile(file)
        images.tofile(file)
