#!/usr/bin/env python3
"""How many letters a model of digits rejects: with detectors, and by its measures alone, as it was before there were any.

    PRIORNET_DATA=... bench/unfamiliar_digits.py build/dev/bin/priornet [--rows 10000] [--epochs 4]

`priornet train` on MNIST's first training digits, `calibrate` on its last 5,000 at 5 % false alarms, once by default and once with
--no-detectors: the same network either way. Then how much is rejected of the test digits, of OMNIGLOT inverted (letters of many alphabets,
white on black as digits are), of EMNIST's letters where they are there, and of Fashion-MNIST. Prints Markdown.
"""

import argparse
import json
import os
import pathlib
import tempfile

from tool_process import tool_in

STRANGERS = {
    "OMNIGLOT inverted": ("omniglot", "omniglot:evaluation,invert,size=28"),
    "EMNIST letters": ("emnist", "emnist:letters-test,subset=10000"),
    "Fashion-MNIST": ("fashion-mnist", "fashion-mnist:test"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program priornet")
    parser.add_argument("--rows", type=int, default=10000, help="training digits, at most 55,000")
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    root = pathlib.Path(os.environ.get("PRIORNET_DATA", "data"))
    sets = {name: place for name, (folder, place) in STRANGERS.items() if (root / folder).exists()}
    with tempfile.TemporaryDirectory() as folder:
        run = tool_in(folder, options.tool)
        run("train", "--data", f"mnist:train,first={options.rows}", "--out", "run", "--quiet", "--set",
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
