import copy
import json
import pathlib
import pickle
import subprocess
import sys
import tempfile

import networks
import numpy as np
import pytest
import torch

import priornet

NORMALISED = {"mean": networks.MEAN, "deviation": networks.DEVIATION}


@pytest.fixture(scope="module")
def model():
    return priornet.calibrate(
        networks.trained(epochs=2), networks.loader(200, 1), training=networks.loader(200, 0), name="quarters", **NORMALISED
    )


def partly_mislabelled(count, seed):
    """Images and labels; the first 30 labels are wrong, so that there are errors."""
    images, labels = networks.quarters(count, seed)
    labels[:30] = (labels[:30] + 1) % 4
    return images, labels


@pytest.fixture(scope="module")
def evaluation(model):
    return priornet.evaluate(model, partly_mislabelled(300, 2), {"noise": networks.noise(150, 3)}, replicates=50)


def test_numbers_are_those_of_the_metrics(model, evaluation):
    images, labels = partly_mislabelled(300, 2)
    inside, outside = model.predict(images), model.predict(networks.noise(150, 3))
    plain = torch.softmax(model.logits(images), 1)
    wrong = inside.prediction != labels
    assert evaluation.accuracy.size == 300 and evaluation.accuracy.errors == int(wrong.sum()) > 0
    assert evaluation.accuracy.nll == pytest.approx(priornet.metrics.negative_log_likelihood(plain, labels))
    assert evaluation.accuracy.ece == pytest.approx(priornet.metrics.calibration_error(plain, labels))
    for name, found in evaluation.ood["noise"].items():
        confidence = name in priornet.measure_table and priornet.measure_table[name].is_confidence
        expected = priornet.detect(
            outside.scores[name], inside.scores[name], confidence=confidence, replicates=50
        )
        assert found.auroc == pytest.approx(expected.auroc), name
        assert found.positives == 150 and found.negatives == 300 and found.replicates == 50
    entropy = inside.scores["entropy"]
    expected = priornet.detect(entropy[wrong], entropy[~wrong], replicates=50).auroc
    assert evaluation.misclassification["entropy"].auroc == pytest.approx(expected)
    assert set(evaluation.ood["noise"]) == {name for name in model.scores}


def test_verdicts_are_counted_by_cause(model, evaluation):
    verdicts = model.predict(networks.noise(150, 3)).verdict
    found = evaluation.summary["foreign"][0]["verdicts"]
    assert found == {name: verdicts.count(name) for name in found}
    assert evaluation.summary["key_figures"]


def test_it_reads_as_sentences(evaluation):
    text = str(evaluation)
    assert text.startswith("quarters sorts colour images of 8 x 8 pixels into 4 classes: top left, top right")
    assert "a network of type Convolutions" in text and "trained on its own data and tested on test inputs" in text
    assert "<table>" in evaluation._repr_html_()


def test_sets_keep_the_names_that_they_are_given(model):
    others = {"Paris, France": networks.noise(50, 3), "Paris, Texas": networks.noise(50, 4), "day/night": networks.noise(50, 5)}
    found = priornet.evaluate(model, partly_mislabelled(300, 2), others, name="streets, <wet>", replicates=2)
    assert [row["title"] for row in found.summary["foreign"]] == list(others) == list(found.ood)
    noticed = next(figure for figure in found.summary["key_figures"] if figure["name"] == "noticed")
    assert all(f"{name}: " in noticed["detail"] for name in others)
    assert "tested on streets, <wet>" in str(found)
    assert "streets, &lt;wet&gt;" in found._repr_html_() and "<wet>" not in found._repr_html_()


def test_a_page_is_written_for_people(evaluation, tmp_path):
    page = tmp_path / "quarters.html"
    evaluation.report(page)
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "<title>quarters</title>" in text
    assert '"folder":"quarters"' in text and '"noise"' in text and '"curves"' in text and '"images"' in text
    with pytest.raises(OSError, match="nowhere"):
        evaluation.report(tmp_path / "nowhere" / "page.html")


@pytest.mark.parametrize(
    "name, shown",
    [("../out/of", ".._out_of"), ("/{folder}/x", None), ("m" * 200, "m" * 100), ("..", "model"), ("Füchse 2", "F_chse_2")],
    ids=["relative", "absolute", "long", "dots", "letters"],
)
def test_a_page_of_a_model_with_any_name_is_the_only_file(name, shown, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    name = name.replace("{folder}", str(tmp_path))
    named = priornet.calibrate(networks.trained(epochs=1), networks.loader(60, 1), rate=0.1, name=name, **NORMALISED)
    before = sorted(tmp_path.rglob("*"))
    priornet.evaluate(named, partly_mislabelled(60, 2), replicates=2).report(tmp_path / "page.html")
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "page.html"])
    text = (tmp_path / "page.html").read_text()
    assert f"<title>{name}</title>" in text
    assert shown is None or f'"folder":"{shown}"' in text


def test_a_name_that_is_too_long_for_a_page_is_refused(tmp_path):
    named = priornet.calibrate(networks.trained(epochs=1), networks.loader(60, 1), rate=0.1, name="m" * 300, **NORMALISED)
    evaluation = priornet.evaluate(named, partly_mislabelled(60, 2), replicates=2)
    with pytest.raises(ValueError, match="name should be at most 255 bytes, found 300: calibrate"):
        evaluation.report(tmp_path / "page.html")


def test_an_evaluation_says_that_it_cannot_be_pickled(evaluation):
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="an Evaluation cannot be pickled or copied: keep its json, or the page"):
            attempt(evaluation)


def test_two_models_are_compared_by_a_paired_test(model, evaluation):
    other = priornet.calibrate(networks.trained(epochs=1), networks.loader(200, 1), **NORMALISED)
    found = priornet.evaluate(
        model, partly_mislabelled(300, 2), {"noise": networks.noise(150, 3)}, against=other, replicates=10
    )
    assert evaluation.comparison == []
    rows = {(row.task, row.score): row for row in found.comparison}
    images, _ = networks.quarters(300, 2)
    sets = networks.noise(150, 3), images
    first, second = (tuple(one.predict(part).scores["entropy"] for part in sets) for one in (model, other))
    expected = priornet.metrics.compare(first, second)
    row = rows["noise", "entropy"]
    assert row[2:] == pytest.approx((expected.first, expected.second, expected.z, expected.p_value), rel=1e-6)
    assert ("misclassification", "entropy") in rows


def test_a_run_is_evaluated_as_the_tool_does_it(trained, blobs, tool, tmp_path, one_thread):
    rows, labels = blobs
    far = np.random.default_rng(1).normal(0, 60, (50, 2)).astype(np.float32)

    def table(name, points, kinds):
        path = tmp_path / name
        lines = ["x,y,kind"] + [f"{x!r},{y!r},{kind}" for (x, y), kind in zip(points.tolist(), kinds)]
        path.write_text("\n".join(lines) + "\n")
        return f"{path},label=kind"

    inside, outside = table("in.csv", rows, labels), table("out.csv", far, ["oak"] * 50)
    said = tool(
        "evaluate", trained.folder, "--data", inside, "--ood", outside, "--replicates", "20", "--json", "--device", "cpu"
    )
    theirs = json.loads(said)
    ours = priornet.evaluate(trained, blobs, {"out": far}, replicates=20)
    names = ("set", "trivial_statistic")  # names of sets and columns: arrays have none
    for found, expected in (
        (ours.json["in_distribution"], theirs["in_distribution"]),
        (ours.json["out_of_distribution"][0], theirs["out_of_distribution"][0]),
    ):
        assert {**found, **dict.fromkeys(names)} == {**expected, **dict.fromkeys(names)}


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: priornet.evaluate(m, networks.quarters(20, 1)[0]), "should have labels"),
        (lambda m: priornet.evaluate(m, []), "found none"),
        (lambda m: priornet.evaluate(m, (networks.quarters(20, 1)[0], None)), "should have labels"),
        (lambda m: priornet.evaluate(m, networks.loader(20, 1), networks.noise(5, 3)), "ood should be sets by name.* found Tensor"),
        (lambda m: priornet.evaluate(networks.Convolutions(), networks.loader(20, 1)), "should come from calibrate.* found Convolutions"),
        (lambda m: priornet.evaluate(m, (networks.quarters(20, 1)[0], ["left"] * 20)), "among the classes top left"),
        (lambda m: priornet.evaluate(m, networks.loader(20, 1), {"rows": np.zeros((3, 4))}), "rows: inputs should be"),
        (lambda m: priornet.evaluate(m, networks.loader(20, 1), seed=2**63), "evaluate: seed should be"),
    ],
)
def test_errors_say_what_is_wrong(call, message, model):
    with pytest.raises(ValueError, match=message):
        call(model)


_INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import networks, priornet, torch
torch.set_num_threads(1)
normalised = {"mean": networks.MEAN, "deviation": networks.DEVIATION}
network, held_out, many = networks.Convolutions(), networks.loader(100, 1), networks.loader(5000, 2)
model = priornet.calibrate(network, held_out, **normalised)
work = {
    "calibrate": lambda: priornet.calibrate(network, held_out, training=many, **normalised),
    "evaluate": lambda: priornet.evaluate(model, many, {"noise": networks.noise(5000, 3)}, replicates=1000),
}[sys.argv[2]]

def interrupt(done):
    while not any(thread.name == "priornet" for thread in threading.enumerate()):
        if done.wait(0.001):
            return
    os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C does, while the library computes

for attempt in range(20):
    done = threading.Event()
    interrupting = threading.Thread(target=interrupt, args=(done,))
    try:
        interrupting.start()
        work()
        done.set()
        interrupting.join()  # on a busy machine the signal may come after the work
    except KeyboardInterrupt as stopped:
        print(stopped)
        if str(stopped):  # otherwise the signal came just before or after the work
            sys.exit(3)
"""


@pytest.mark.parametrize("work, message", [("calibrate", "calibration was stopped"), ("evaluate", "evaluation was stopped")])
def test_ctrl_c_stops_what_the_library_computes(work, message):
    words = [sys.executable, "-c", _INTERRUPTED, str(pathlib.Path(__file__).parent), work]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (3, message), done.stderr
