#!/usr/bin/env python3
"""compare.py FOLDER [PROVIDER]: as compare.mjs, with onnxruntime's Python package, on CPUExecutionProvider unless another is
named (CUDAExecutionProvider, say). Also looks at the file's metadata, which onnxruntime-node does not show."""
import json
import pathlib
import sys

import numpy as np
import onnxruntime as ort

BATCH = 999  # so that the last batch is smaller
TOLERANCE = 1e-5
MOST_MOVED = 0.05  # how far a p-value may move


def answers_of(session, about, inputs):
    names = [output.name for output in session.get_outputs()]
    parts = [session.run(names, {about["input"]: inputs[first:first + BATCH]}) for first in range(0, len(inputs), BATCH)]
    return {name: np.concatenate([np.asarray(part[i]) for part in parts], axis=1 if parts[0][i].ndim == 3 else 0)
            for i, name in enumerate(names)}


def least_of(output, expected, about):
    """What counts as 0 when differences are relative: logits are sums of numbers of that size. Detectors make much of small
    differences: a thousandth of how far apart their scores are is what networks round."""
    if output in about["detectors"]:
        return 100 * np.std(expected[output])
    return 1.0 if output == "logits" else 1e-9


def compare(folder, providers):
    about = json.loads((folder / "case.json").read_text())
    expected = {path.stem: np.load(path) for path in (folder / "expected").iterdir()}
    session = ort.InferenceSession(str(folder / "model.onnx"), providers=providers)
    answers = answers_of(session, about, np.load(folder / "inputs.npy"))
    metadata = session.get_modelmeta().custom_metadata_map
    failures = []
    if "class_names" not in metadata or ("verdict" in expected) != ("verdict_names" in metadata):
        failures.append(f"metadata is {sorted(metadata)}")
    line = f"{folder.name}: {len(answers['prediction'])} inputs"
    if about["random"]:  # with dropout each run drops other values; the measures are alike on average
        again = answers_of(session, about, np.load(folder / "inputs.npy"))
        if np.array_equal(answers["logits"], again["logits"]):
            failures.append("two runs drop the same values")
        for output in ["entropy", "differential_entropy", "mutual_information"]:
            found, wanted = np.mean(answers[output]), np.mean(expected[output])
            if not abs(found - wanted) <= 0.1 * abs(wanted):
                failures.append(f"mean {output} is {found}, wanted {wanted}")
        return finished(folder, line + ", dropout at work", failures)
    for output in sorted(set(expected) - {"verdict", "p_value", "prediction"}):
        wanted = expected[output]
        nothing = least_of(output, expected, about)
        worst = np.max(np.abs(answers[output] - wanted) / np.maximum(np.abs(wanted), nothing))
        line += f", {output} {worst:.1e}"
        if not worst <= TOLERANCE:
            failures.append(f"{output} differs by {worst}, allowed {TOLERANCE}")
    mistaken = int(np.sum(answers["prediction"] != expected["prediction"]))
    if mistaken:
        failures.append(f"{mistaken} predictions differ")
    if "verdict" in expected:
        differs = answers["verdict"] != expected["verdict"]
        near = np.zeros(len(differs), dtype=bool)  # some measure is at its threshold
        for measure, threshold in about["thresholds"].items():
            if threshold is not None:
                near |= np.abs(expected[measure] - threshold) <= TOLERANCE * max(abs(threshold), least_of(measure, expected, about))
        wrong = int(np.sum(differs & ~near))
        line += f", verdicts {wrong} differ (and {int(np.sum(differs & near))} at the threshold)"
        if wrong:
            failures.append(f"{wrong} verdicts differ")
        # A p-value is a rank among calibration inputs. Those inputs themselves lie at the edge of a rank, and rounding may
        # move them across it; of all other inputs only few may move.
        differences = np.abs(answers["p_value"] - expected["p_value"])
        others = differences[about["calibration_rows"]:]
        moved = int(np.sum(~(others <= 1e-9)))
        line += f", p-values {moved} of {len(others)} moved, by {np.max(differences):.3f} at most"
        if not np.max(differences) <= MOST_MOVED or moved > (0.1 if about["detectors"] else 0.01) * len(others) or len(others) == 0:
            failures.append(f"{moved} p-values of {len(others)} differ, by up to {np.max(differences)}")
    return finished(folder, line, failures)


def finished(folder, line, failures):
    print(line)
    for failure in failures:
        print(f"{folder.name}: {failure}", file=sys.stderr)
    return not failures


def main():
    providers = sys.argv[2:] or ["CPUExecutionProvider"]
    cases = sorted(path.parent for path in pathlib.Path(sys.argv[1]).glob("*/case.json"))
    if not any((case / "expected" / "p_value.npy").exists() for case in cases):
        sys.exit(f"{sys.argv[1]}: {len(cases)} models to compare, none with p-values")
    sys.exit(0 if all([compare(case, providers) for case in cases]) else 1)


if __name__ == "__main__":
    main()
