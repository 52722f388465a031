#!/usr/bin/env python3
"""How many letters a model of digits rejects: with detectors, and by its measures alone, without detectors.

    PRIORNET_DATA=... bench/unfamiliar_digits.py build/dev/bin/priornet [--rows 10000] [--epochs 4] [--seed 1]

`priornet train` on MNIST's first training digits, `calibrate` on its last 5,000 at 5 % false alarms, once by default and once with
--no-detectors: the same network either way. Then how much is rejected of the test digits, of OMNIGLOT inverted (letters of many alphabets,
white on black as digits are), of EMNIST's letters where they are there, of Fashion-MNIST, and of printed letters: A to Z and a to z in each
font of Debian's fonts-dejavu, upright and turned by 15 degrees either way, in a box of 20 x 20 and centred by mass as MNIST's digits are. Some
letters are like digits (O, l, Z). Needs Pillow; prints Markdown.
"""

import argparse
import json
import os
import pathlib
import string
import tempfile

from PIL import Image, ImageChops, ImageDraw, ImageFont
from tool_process import tool_in

STRANGERS = {
    "OMNIGLOT inverted": ("omniglot", "omniglot:evaluation,invert,size=28"),
    "EMNIST letters": ("emnist", "emnist:letters-test,subset=10000"),
    "Fashion-MNIST": ("fashion-mnist", "fashion-mnist:test"),
}
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")


def printed(letter, font, angle):
    """White on black, 28 x 28."""
    large = Image.new("L", (200, 200))
    ImageDraw.Draw(large).text((100, 100), letter, 255, font, "mm")
    large = large.rotate(angle, Image.Resampling.BICUBIC)
    large = large.crop(large.getbbox())
    scale = 20 / max(large.size)
    small = large.resize([max(1, round(scale * side)) for side in large.size], Image.Resampling.BOX)
    image = Image.new("L", (28, 28))
    image.paste(small, ((28 - small.width) // 2, (28 - small.height) // 2))
    pixels = image.load()
    mass = sum(image.getdata())
    centre = [sum(pixels[x, y] * (x, y)[axis] for x in range(28) for y in range(28)) / mass for axis in (0, 1)]
    return ImageChops.offset(image, round(13.5 - centre[0]), round(13.5 - centre[1]))


def write_letters(folder):
    """One folder per letter; nothing where there are no fonts."""
    for path in sorted(FONTS.glob("*.ttf")):
        font = ImageFont.truetype(str(path), 100)
        for letter in string.ascii_letters:
            place = folder / f"{letter}-{'upper' if letter.isupper() else 'lower'}"
            place.mkdir(parents=True, exist_ok=True)
            for angle in (-15, 0, 15):
                printed(letter, font, angle).save(place / f"{path.stem}{angle}.png")
    return folder.exists()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program priornet")
    parser.add_argument("--rows", type=int, default=10000, help="training digits, at most 55,000")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    root = pathlib.Path(os.environ.get("PRIORNET_DATA", "data"))
    sets = {name: place for name, (folder, place) in STRANGERS.items() if (root / folder).exists()}
    with tempfile.TemporaryDirectory() as folder:
        if write_letters(pathlib.Path(folder) / "letters"):
            sets["printed letters"] = "./letters"
        run = tool_in(folder, options.tool)
        run("train", "--data", f"mnist:train,first={options.rows}", "--out", "run", "--seed", str(options.seed), "--quiet", "--set",
            f"training.epochs={options.epochs}")
        print(f"| rejected, in % | error | digits | {' | '.join(sets)} |\n|---|---:|---:|" + "---:|" * len(sets))
        for name, choice in {"with detectors": [], "measures alone": ["--no-detectors"]}.items():
            run("calibrate", "run", "--data", "mnist:train,last=5000", "--out", "m.priornet", *choice)
            ask = [word for place in sets.values() for word in ("--ood", place)]
            said = json.loads(run("evaluate", "m.priornet", "--data", "mnist:test", *ask, "--json"))["summary"]
            shares = [said["test"]["error"]["value"], said["test"]["handed_back"]["value"]]
            shares += [one["handed_back"]["value"] for one in said["foreign"]]
            print(f"| {name} | {' | '.join(f'{100 * share:.2f}' for share in shares)} |", flush=True)


if __name__ == "__main__":
    main()
