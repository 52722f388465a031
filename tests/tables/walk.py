"""From CSV to served answers with no preparation by hand, beside scikit-learn on the same split.

    walk.py TOOL [TABLE...]     one table, several, or the five small ones; `million` is the large one

Prints one line per table and fails where a walk does not come to its end, where the accuracy is more than one point, and
two standard errors of the difference, below the best of logistic regression, random forest and MLP, or where more inputs
are rejected than the promised range of false alarms and chance allow.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

try:
    import numpy as np
    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).parent))
import made_up_tables  # noqa: E402

FALSE_ALARM = 0.05


def prepared_by_hand(table):
    """The usual preparation for scikit-learn: dates into parts, keys away, truths to numbers."""
    table = table.drop(columns=[name for name in ("loan_id", "session", "currency", "id") if name in table])
    for name in list(table):
        if name in ("ordered", "day"):
            when = pd.to_datetime(table[name], dayfirst=name == "ordered")
            table[name] = when.astype("int64") / 8.64e13
            table[name + " hour"] = when.dt.hour
            table[name + " weekday"] = when.dt.dayofweek
        elif table[name].dtype == bool:
            table[name] = table[name].astype(float)
    return table


def best_of_sklearn(train, test, label):
    """Name and accuracy of the best of three, each with the usual preparation."""
    features = prepared_by_hand(train.drop(columns=label))
    numbers = features.select_dtypes("number").columns
    texts = [name for name in features if name not in numbers]
    made = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
        ("texts", make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"),
                                OneHotEncoder(handle_unknown="ignore", min_frequency=3)), texts)])
    asked = prepared_by_hand(test.drop(columns=label))
    accuracy = {}
    for name, model in {"logistic regression": LogisticRegression(max_iter=2000),
                        "random forest": RandomForestClassifier(300, random_state=0, n_jobs=1),
                        "MLP": MLPClassifier((64, 64), early_stopping=True, random_state=0, max_iter=300)}.items():
        fitted = make_pipeline(made, model).fit(features, train[label])
        accuracy[name] = float((fitted.predict(asked) == test[label].to_numpy()).mean())
    return max(accuracy.items(), key=lambda item: item[1])


def run(tool, *arguments):
    said = subprocess.run([tool, *arguments], capture_output=True, text=True)
    if said.returncode != 0:
        raise SystemExit(f"priornet {' '.join(arguments)}\n{said.stdout}{said.stderr}")
    return said.stdout


def peak_memory(tool, *arguments):
    """The memory peak of the command, in GB."""
    pid = os.spawnv(os.P_NOWAIT, tool, [tool, *arguments])
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"priornet {' '.join(arguments)}: status {status}")
    return used.ru_maxrss / 1e6


def served(tool, model, rows):
    """What the server answers to a table."""
    server = subprocess.Popen([tool, "serve", model, "--port", "0"], stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        for line in iter(server.stdout.readline, ""):
            if "http://" in line:
                address = line[line.index("http://"):].split()[0].rstrip("/,.;")
                break
        request = urllib.request.Request(address + "/predict", rows.encode(), {"Content-Type": "text/csv"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)["predictions"]
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def quoted(label):
    return f'"{label}"' if "," in label else label


def walk(tool, name, folder):
    table, label, form = getattr(made_up_tables, name)()
    order = np.random.default_rng(0).permutation(len(table))
    cut = len(table) * 7 // 10
    train, test = table.iloc[order[:cut]], table.iloc[order[cut:]]
    ending = ".tsv" if form.get("sep") == "\t" else ".csv"
    learnt, asked = f"{folder}/{name}{ending}.gz", f"{folder}/{name}-new{ending}"
    with gzip.open(learnt, "wt") as file:
        train.to_csv(file, index=False, **form)
    test.drop(columns=label).iloc[:, ::-1].to_csv(asked, index=False, **form)
    run_folder, model = f"{folder}/{name}", f"{folder}/{name}.priornet"
    shown = json.loads(run(tool, "data", "show", f"{learnt},label={quoted(label)}", "--json"))
    types = {column["name"]: column["type"] for column in shown["columns"]}
    started = time.monotonic()
    epochs = ["--epochs", "2"] if name == "million" else []
    memory = peak_memory(tool, "--quiet", "train", "--data", f"{learnt},label={quoted(label)}", "--out", run_folder, *epochs)
    seconds = time.monotonic() - started
    run(tool, "calibrate", run_folder, "--out", model)
    memory = max(memory, peak_memory(tool, "--quiet", "predict", model, asked, "--out", f"{folder}/{name}.jsonl"))
    answers = [json.loads(line) for line in open(f"{folder}/{name}.jsonl")]
    assert len(answers) == len(test), (name, len(answers))
    right = np.array([answer["prediction"] for answer in answers]) == test[label].astype(str).to_numpy()
    rejected = np.mean([answer["verdict"] != "accept" for answer in answers])
    first = 20
    body = test.drop(columns=label).head(first).to_csv(index=False, **form)
    for one, other in zip(answers, served(tool, model, body)):
        assert one["prediction"] == other["prediction"] and abs(one["p_value"] - other["p_value"]) < 1e-6, (name, one, other)
    losses = [json.loads(line)["loss"] for line in open(f"{run_folder}/metrics.jsonl")]
    best, accuracy = ("-", float("nan")) if name == "million" else best_of_sklearn(train, test, label)
    print(f"{name:<9} {len(train):>7} rows  priornet {right.mean():.4f}  {best} {accuracy:.4f}  rejected {rejected:.3f}  "
          f"loss {losses[0]:.4g} to {losses[-1]:.4g}  {seconds:.0f} s  {memory:.2f} GB  "
          f"{' '.join(f'{column}:{kind}' for column, kind in types.items())}", flush=True)
    slack = 2 * (2 * 0.25 / len(test)) ** 0.5 * 0.5  # two classifiers that agree on most rows
    failures = []
    if name != "million" and right.mean() < accuracy - 0.01 - slack:
        failures.append(f"{name}: {right.mean():.4f} right, {best} {accuracy:.4f}")
    calibration = max(40, len(train) // 10)
    spread = (FALSE_ALARM * (1 - FALSE_ALARM) * (2 / calibration + 1 / len(test))) ** 0.5
    if rejected > FALSE_ALARM + 3 * spread:
        failures.append(f"{name}: {rejected:.3f} rejected")
    if losses[0] > 1000:
        failures.append(f"{name}: the loss begins at {losses[0]:.4g}")
    if memory > 1.5:
        failures.append(f"{name}: took {memory:.2f} GB")
    return failures


def main():
    tool, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        failures = [failure for name in names or made_up_tables.ALL for failure in walk(tool, name, folder)]
    sys.exit("\n".join(failures) if failures else 0)


main()
