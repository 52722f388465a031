#!/usr/bin/env python3
"""How many strange rows of a table a model rejects, beside scikit-learn's IsolationForest.

    bench/unfamiliar_rows.py build/dev/bin/priornet choice   # sets to choose detectors on
    bench/unfamiliar_rows.py build/dev/bin/priornet test     # sets to report

The sets of `test` were in view when columns_shift was designed, so that their numbers flatter; those of `choice` were not. Calibration by
cross-validation (docs/math.md, section 10), the deviation of columns that never vary and tails that are drawn in once were chosen on `choice` and
sets like it alone; how columns and measures divide the rate was chosen on no set. The numbers of docs/deploy.md are of one run of `test` afterwards.

For each set and split: 30 % of the rows are for testing. `priornet train`, `calibrate` and `predict` with nothing but their defaults, at 5 %
false alarms. The test rows are asked about as they are and changed: every column times 10; the values of a row in another order; noise of 3
deviations on every column; every column larger by 1 deviation. The forest learns from all training rows; its threshold is the one that
rejects 5 % of the test rows as they are, which nobody could know: no way to calibrate it does better on average.
Needs scikit-learn; prints Markdown.
"""

import argparse
import csv
import io
import pathlib
import tempfile

import numpy
from sklearn import datasets
from sklearn.ensemble import IsolationForest
from sklearn.model_selection import train_test_split
from tool_process import tool_in

RATE = 0.05


def diabetes():
    """Thirds of the disease's progress as classes."""
    rows, progress = datasets.load_diabetes(return_X_y=True)
    return 100 * rows, numpy.digitize(progress, numpy.quantile(progress, [1 / 3, 2 / 3]))


def mixed_columns():
    """Columns with long tails, sums of others, one of six kinds, counts."""
    random = numpy.random.default_rng(7)
    labels = random.integers(0, 4, 3000)
    hidden = random.normal(size=(3000, 5)) + labels[:, None] * numpy.array([1, 0.5, -0.5, 0, 0.3])
    kinds = numpy.eye(6)[(labels + random.integers(0, 3, 3000)) % 6]
    counts = random.poisson(3 + labels[:, None], (3000, 2))
    return numpy.hstack([100 * numpy.exp(0.7 * hidden), hidden @ random.normal(size=(5, 3)), kinds, counts]), labels


def measurements(rows, seed, classes, columns, factors):
    """Columns of a few kinds: positive, skewed, in very different units, with shared factors."""

    def made():
        random = numpy.random.default_rng(seed)
        labels = random.integers(0, classes, rows)
        loadings = random.normal(size=(factors, columns))
        means = 1.5 * random.normal(size=(classes, columns)) * random.integers(0, 2, columns)
        hidden = random.normal(size=(rows, factors)) @ loadings * 0.8 + random.normal(size=(rows, columns)) + means[labels]
        unit = 10.0 ** random.uniform(-1, 3, columns)
        return unit * numpy.exp(0.4 * random.uniform(0.3, 1.5, columns) * hidden / numpy.sqrt(1 + 0.64 * factors)), labels

    return made


def cells(rows, seed, columns=27):
    """A third of the columns are noisy functions of a size and a roughness; the others repeat them with more noise."""

    def made():
        random = numpy.random.default_rng(seed)
        labels = (random.random(rows) < 0.4).astype(int)
        size = random.normal(size=rows) + 1.5 * labels
        rough = random.normal(size=rows) + 1.2 * labels
        base = numpy.array([size * numpy.cos(a) + rough * numpy.sin(a) + 0.25 * random.normal(size=rows)
                            for a in numpy.linspace(0, 1.5, columns // 3)]).T
        noise = random.normal(size=base.shape)
        table = numpy.hstack([base, 0.7 * base + 0.5 * noise, base + 0.3 * numpy.abs(random.normal(size=base.shape))])
        return 10.0 ** random.uniform(-2, 2, table.shape[1]) * numpy.exp(0.4 * table), labels

    return made


def quantiles(rows, columns, seed):
    """Shells of one Gaussian."""
    return lambda: datasets.make_gaussian_quantiles(n_samples=rows, n_features=columns, n_classes=3, random_state=seed)


def synthetic(rows, columns, seed, **options):
    return lambda: datasets.make_classification(rows, columns, random_state=seed, **options)


def some(load, rows):
    """This many rows of a set."""

    def loaded():
        inputs, labels = load(return_X_y=True)
        return train_test_split(inputs, labels, train_size=rows, random_state=0, stratify=labels)[::2]

    return loaded


SETS = {
    "choice": {
        "iris": lambda: datasets.load_iris(return_X_y=True),
        "diabetes": diabetes,
        "classification, 100 rows": synthetic(100, 8, 3, n_informative=4, n_redundant=2),
        "classification, 1,500 rows": synthetic(1500, 20, 4, n_informative=6, n_redundant=6, n_classes=4),
        "classification, 3,000 rows": synthetic(3000, 50, 5, n_informative=10, n_redundant=10, n_classes=3),
        "blobs, 400 rows": lambda: datasets.make_blobs(400, 6, centers=5, cluster_std=2.0, random_state=6),
        "blobs, 2,000 rows": lambda: datasets.make_blobs(2000, 12, centers=3, random_state=8),
        "mixed columns": mixed_columns,
        "iris, 100 rows": some(datasets.load_iris, 100),
        "measurements, 180 rows": measurements(180, 11, 3, 12, 3),
        "measurements, 100 rows": measurements(100, 12, 3, 12, 3),
        "cells, 570 rows": cells(570, 15),
        "cells, 250 rows": cells(250, 18),
        "cells, 100 rows": cells(100, 16),
        "cells of 18 columns, 100 rows": cells(100, 17, 18),
        "shells, 300 rows": quantiles(300, 6, 19),
        "shells, 100 rows": quantiles(100, 10, 20),
    },
    "test": {
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
        "digits": lambda: datasets.load_digits(return_X_y=True),
        "synthetic": synthetic(6000, 20, 0, n_informative=10, n_redundant=5, n_classes=3),
        "wine, 100 rows": some(datasets.load_wine, 100),
        "breast cancer, 100 rows": some(datasets.load_breast_cancer, 100),
        "digits, 100 rows": some(datasets.load_digits, 100),
    },
}


def changed(rows, deviation, random):
    return {
        "as they are": rows,
        "times 10": 10 * rows,
        "shuffled": numpy.array([random.permutation(row) for row in rows]),
        "noise of 3": rows + 3 * deviation * random.normal(size=rows.shape),
        "shift of 1": rows + deviation,
    }


def write_table(path, rows, labels=None):
    names = [f"x{column}" for column in range(rows.shape[1])]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names + ([] if labels is None else ["kind"]))
        for i, row in enumerate(rows):
            writer.writerow([repr(float(value)) for value in row] + ([] if labels is None else [f"k{labels[i]}"]))


def verdicts(tool, train, labels, asked, options, seed):
    """The answers of `predict`, one per input."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_table(folder / "train.csv", train, labels)
        write_table(folder / "new.csv", asked)
        run = tool_in(folder, tool)
        run("train", "--data", "./train.csv,label=kind", "--out", "run", "--seed", str(seed), "--quiet", "--device", "cpu")
        run("calibrate", "run", "--out", "m.priornet", "--false-alarm", str(RATE), "--device", "cpu", *options)
        return list(csv.DictReader(io.StringIO(run("predict", "m.priornet", "new.csv", "--format", "csv"))))


def split_shares(tool, inputs, labels, options, seed):
    """For one split: {change: (rejected, called unfamiliar, rejected by the forest)}, and the accuracy."""
    train, test, train_labels, test_labels = train_test_split(
        inputs, labels, test_size=0.3, random_state=seed, stratify=labels)
    sets = changed(test, train.std(0), numpy.random.default_rng(seed))
    said = verdicts(tool, train, train_labels, numpy.concatenate(list(sets.values())), options, seed)
    forest = IsolationForest(random_state=seed).fit(train)
    threshold = numpy.quantile(-forest.score_samples(test), 1 - RATE)
    shares = {}
    for i, (name, rows) in enumerate(sets.items()):
        part = [row["verdict"] for row in said[i * len(test):(i + 1) * len(test)]]
        shares[name] = (numpy.mean([verdict != "accept" for verdict in part]),
                        numpy.mean([verdict == "unfamiliar" for verdict in part]),
                        numpy.mean(-forest.score_samples(rows) > threshold))
    right = numpy.mean([row["prediction"] == f"k{label}" for row, label in zip(said, test_labels)])
    return shares, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program priornet")
    parser.add_argument("group", choices=SETS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="these sets alone")
    parser.add_argument("--calibrate", nargs=argparse.REMAINDER, default=[], help="options of priornet calibrate")
    options = parser.parse_args()
    print(f"Rejected (called unfamiliar) / by the forest, in %, means of {options.splits} splits\n")
    for number, (name, load) in enumerate(SETS[options.group].items()):
        if options.only and name not in options.only:
            continue
        inputs, labels = load()
        results = [split_shares(options.tool, inputs, labels, options.calibrate, seed) for seed in range(options.splits)]
        changes = list(results[0][0])
        if number == 0 or options.only:
            print(f"| set | rows x columns | accuracy | {' | '.join(changes)} |")
            print("|---|---:|---:|" + "---:|" * len(changes))
        cells = []
        for change in changes:
            ours, unfamiliar, forest = 100 * numpy.mean([shares[change] for shares, _ in results], axis=0)
            cells.append(f"{ours:.1f} ({unfamiliar:.1f}) / {forest:.1f}")
        accuracy = 100 * numpy.mean([right for _, right in results])
        print(f"| {name} | {inputs.shape[0]} x {inputs.shape[1]} | {accuracy:.1f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
