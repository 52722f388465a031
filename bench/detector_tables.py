#!/usr/bin/env python3
"""Every detector's AUROC of several runs, one table per set of strangers, from one pass per run and set, and what detectors cost.

    bench/detector_tables.py build/release/bin/priornet --runs DNN=runs/dnn DPN=runs/dpn --data cifar10:test \\
        --ood svhn:test cifar100:test tinyimagenet:val,size=32 --device cuda [--cost]

`priornet evaluate RUN --detectors all` of each run: measures and detectors come from the pass that gives the logits, ODIN and the energies of changed
features apart. --cost adds, for the network of each run, the images per second of a plain pass and of one with detectors, on a GPU also with
each of them alone (`priornet bench --only scoring --model RUN`; needs priornet-bench beside the tool). Prints Markdown; the best of each column in
bold.
"""

import argparse
import json
import time

from tool_process import tool_in


def table(title, columns, rows):
    """rows: {name: [number or None, ...]}."""
    best = [max(values) for values in zip(*[[-1.0 if value is None else value for value in row] for row in rows.values()])]
    print(f"\n{title}\n\n| detector | {' | '.join(columns)} |\n|---|" + "---:|" * len(columns))
    for name, row in rows.items():
        cells = ["" if value is None else f"**{value:.2f}**" if value == top else f"{value:.2f}" for value, top in zip(row, best)]
        print(f"| `{name}` | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program priornet")
    parser.add_argument("--runs", nargs="+", required=True, metavar="NAME=RUN")
    parser.add_argument("--data", required=True, help="what the runs know, with labels")
    parser.add_argument("--ood", nargs="+", required=True, help="strangers")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="per line of the costs")
    options = parser.parse_args()
    run = tool_in(".", options.tool)
    names, folders, reports = [], [], []
    for name, _, folder in (word.partition("=") for word in options.runs):
        begin = time.perf_counter()
        strangers = [word for one in options.ood for word in ("--ood", one)]
        reports.append(json.loads(run("evaluate", folder, "--data", options.data, *strangers, "--detectors", "all", "--device", options.device, "--json")))
        names.append(name)
        folders.append(folder)
        inside = reports[-1]["in_distribution"]
        print(f"{name}: {folder}, {reports[-1]['method']}, error {100 * inside['error']:.2f} % of {inside['size']}, "
              f"evaluated in {time.perf_counter() - begin:.0f} s", flush=True)
    for i, one in enumerate(options.ood):
        sets = [report["out_of_distribution"][i] for report in reports]
        rows = {}
        for column, found in enumerate(sets):
            for line in found["detection"]:
                rows.setdefault(line["measure"], [None] * len(sets))[column] = 100 * line["auroc"]["value"]
        table(f"AUROC in %, {sets[0]['set']} ({sets[0]['size']} inputs); {sets[0]['trivial_statistic']} alone: "
              f"{100 * sets[0]['trivial_auroc']:.2f}", names, rows)
    if options.cost:
        costs = {}
        for column, folder in enumerate(folders):
            lines = json.loads(run("bench", "--only", "scoring", "--model", folder, "--device", options.device, "--seconds", str(options.seconds), "--json"))
            for line in lines["scoring"]:
                how = "plain pass" if line["how"].endswith(", one pass") else line["how"]
                costs.setdefault(how, [""] * len(folders))[column] = f"{line['images_per_second']:.0f} ({line['cost']:.2f})"
        print(f"\nImages/s (times the cost of a plain pass)\n\n| one pass | {' | '.join(names)} |\n|---|" + "---:|" * len(names))
        for how, cells in costs.items():
            print(f"| {how} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
