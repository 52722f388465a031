import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch

import priornet


def weights_equal(first, second, rows):
    return np.array_equal(first.logits(rows), second.logits(rows))


def test_arrays_are_learnt(blobs, trained):
    rows, labels = blobs
    assert trained.class_names == ["elm", "fir", "oak"]
    assert (trained.input_shape, trained.members, trained.kind) == ([2], 1, "dirichlet")
    assert [line["epoch"] for line in trained.metrics] == [1, 2, 3, 4, 5]
    assert all(line["images_per_second"] > 0 for line in trained.metrics)
    probabilities = trained.predict_proba(rows)
    assert np.allclose(probabilities.sum(1), 1)
    said = np.array(trained.class_names)[probabilities.argmax(1)]
    assert (said == labels).mean() > 0.9


def test_rows_far_away_are_unfamiliar(blobs, tmp_path):
    run = priornet.train(data=blobs, out=tmp_path / "run", settings={"training.epochs": 60}, device="cpu")
    inside = run.measures(blobs[0])
    outside = run.measures(np.random.default_rng(1).normal(0, 60, (100, 2)))
    assert priornet.detect(outside, inside)["differential_entropy"].auroc.value > 0.9


def test_the_tool_trains_the_same_network(blobs, tool, tmp_path, one_thread):
    rows, labels = blobs
    table = tmp_path / "rows.csv"
    lines = ["x,y,kind"] + [f"{x!r},{y!r},{kind}" for (x, y), kind in zip(rows.tolist(), labels)]
    table.write_text("\n".join(lines) + "\n")
    name = f"{table},label=kind"
    tool("train", "--data", name, "--set", "training.epochs=4", "--out", tmp_path / "theirs", "--device", "cpu")
    settings = {"training": {"epochs": 4}}
    by_name = priornet.train(data=name, out=tmp_path / "ours", settings=settings, device="cpu")
    by_arrays = priornet.train(data=blobs, out=tmp_path / "arrays", settings=settings, device="cpu")
    theirs = priornet.Run(tmp_path / "theirs", device="cpu")
    assert weights_equal(theirs, by_name, rows)
    assert weights_equal(theirs, by_arrays, rows)
    losses = [[line["loss"] for line in run.metrics] for run in (theirs, by_name, by_arrays)]
    assert losses[0] == losses[1] == losses[2]


def test_a_configuration_is_a_file_or_a_dict(blobs, tmp_path, one_thread):
    settings = {
        "data": {"standardise": True},
        "model": {"name": "mlp", "dense": [8, 8]},
        "method": {"name": "dpn-reverse", "alpha0": 50.0},
        "outside": {"source": "gaussian-noise"},
        "training": {"epochs": 2, "batch": 16, "seed": 5},
    }
    file = tmp_path / "config.toml"
    text = ['[data]\ntrain = "elsewhere"\nstandardise = true\n']
    for table, keys in list(settings.items())[1:]:
        text.append(f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))
    file.write_text("".join(text))
    by_dict = priornet.train(settings, blobs, out=tmp_path / "dict", device="cpu")
    by_file = priornet.train(file, blobs, out=tmp_path / "file", device="cpu")
    assert by_dict.config == by_file.config
    assert weights_equal(by_dict, by_file, blobs[0])
    again = priornet.train(file, blobs, out=tmp_path / "again", settings={"training.seed": 6}, device="cpu")
    assert not weights_equal(again, by_file, blobs[0])


def test_validation_arrays_are_watched(blobs, tmp_path):
    rows, labels = blobs
    settings = {"training.epochs": 2, "data.validation_share": 0.0}
    run = priornet.train(
        data=blobs, validation=(rows[:30], labels[:30]), out=tmp_path / "run", settings=settings, device="cpu"
    )
    assert "validation" in run.metrics[-1]
    with pytest.raises(ValueError, match="found 'yew'"):
        priornet.train(data=blobs, validation=(rows[:1], ["yew"]), out=tmp_path / "other")


def test_columns_of_a_validation_frame_are_known_by_name(blobs, tmp_path, one_thread):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["width", "height"])
    settings = {"training.epochs": 2, "data.validation_share": 0.0}

    def watched(name, validation):
        more = {"validation": (validation, blobs[1]), "settings": settings, "device": "cpu"}
        return priornet.train(data=(frame, blobs[1]), out=tmp_path / name, **more).metrics[-1]["validation"]

    assert watched("turned", frame[["height", "width"]]) == watched("same", frame)
    with pytest.raises(ValueError, match="column 'height'"):
        watched("missing", frame[["width"]])


def test_images_are_learnt_from_bytes(tmp_path):
    random = np.random.default_rng(0)
    images = random.integers(0, 60, (80, 1, 12, 12), dtype=np.uint8)
    labels = np.arange(80) % 2
    images[labels == 1, :, 3:9, 3:9] += 180
    run = priornet.train(data=(images, labels), out=tmp_path / "run", settings={"training.epochs": 2}, device="cpu")
    assert run.input_shape == [1, 12, 12]
    assert run.logits(images[:5]).shape == (5, 2)


def test_an_ensemble_has_members(blobs, tmp_path):
    settings = {"method.members": 2, "training.epochs": 2}
    run = priornet.train(data=blobs, out=tmp_path / "run", settings=settings, device="cpu")
    assert run.members == 2
    assert run.logits(blobs[0]).shape == (2, 120, 3)
    assert isinstance(run.measures(blobs[0][:4], samples=0), priornet.DirichletEnsembleMeasures)
    assert run.predict_proba(blobs[0]).shape == (120, 3)


def test_columns_of_a_frame_are_known_by_name(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows, labels = blobs
    frame = pandas.DataFrame(rows, columns=["width", "height"])
    run = priornet.train(
        data=(frame, pandas.Series(labels)), out=tmp_path / "run", settings={"training.epochs": 2}, device="cpu"
    )
    assert run.feature_names == ["width", "height"]
    assert np.array_equal(run.logits(frame), run.logits(frame[["height", "width"]]))
    with pytest.raises(ValueError, match="column 'height'"):
        run.logits(frame[["width"]])


def test_arrays_give_arrays_and_tensors_give_tensors(trained, blobs):
    rows = blobs[0]
    for ask in (trained.logits, trained.predict_proba, lambda given: trained.measures(given).entropy):
        assert isinstance(ask(rows), np.ndarray) and isinstance(ask(rows.tolist()), np.ndarray)
        found = ask(torch.from_numpy(rows))
        assert isinstance(found, torch.Tensor) and np.array_equal(found, ask(rows))


def test_columns_of_any_type_that_holds_numbers_are_inputs(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows, labels = blobs
    plain = pandas.DataFrame({"width": rows[:, 0], "large": (rows[:, 1] > 3).astype(int), "count": np.arange(120)})
    frame = plain.astype({"large": bool, "count": "Int64"})
    frame["rating"] = plain["rating"] = pandas.Series(np.arange(120) % 3, dtype=object)
    run = priornet.train(data=(frame, labels), out=tmp_path / "run", settings={"training.epochs": 1}, device="cpu")
    assert np.array_equal(run.logits(frame), run.logits(plain.astype(np.float32)))
    nullable = frame.astype({"large": "boolean", "width": "Float32"})
    assert np.array_equal(run.logits(nullable), run.logits(frame))


def test_columns_that_are_not_wanted_may_hold_anything(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["width", "height"])
    more = frame.assign(remark="sunny")[["remark", "height", "width"]]
    run = priornet.train(data=(frame, blobs[1]), out=tmp_path / "r", settings={"training.epochs": 1}, device="cpu")
    assert np.array_equal(run.logits(more), run.logits(frame))
    model = priornet.calibrate(run, (more, blobs[1]))
    assert model.thresholds == priornet.calibrate(run, (frame, blobs[1])).thresholds
    assert model.predict(more).verdict == model.predict(frame).verdict
    assert priornet.evaluate(model, (more, blobs[1]), replicates=2).accuracy.size == 120
    with pytest.raises(ValueError, match="column 'remark' should hold numbers, found 'sunny'"):
        priornet.train(data=(more, blobs[1]), out=tmp_path / "other")


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda run: run.logits({"rows": [1]}), "array of numbers, found dict"),
        (lambda run: run.logits(torch.utils.data.DataLoader([1])), "array of numbers, found DataLoader"),
        (lambda run: run.logits([[1, 2], [3]]), "found parts of different sizes"),
        (lambda run: priornet.calibrate(run, {"rows": [1]}), "give batches .inputs, labels., found dict"),
        (lambda run: priornet.calibrate(run, 3), "give batches .inputs, labels., found int"),
        (lambda run: priornet.calibrate(run, [{"rows": [1]}]), "found a batch of type dict"),
    ],
)
def test_what_is_no_array_is_named(call, message, trained):
    with pytest.raises(ValueError, match=message):
        call(trained)


def test_a_run_that_is_there_is_not_replaced_unasked(blobs, trained):
    out = trained.folder
    with pytest.raises(OSError, match=str(out)):
        priornet.train(data=blobs, out=out, device="cpu")
    priornet.train(data=blobs, out=out, settings={"training.epochs": 1}, force=True, device="cpu")
    assert len(priornet.Run(out).metrics) == 1


def test_metrics_of_older_runs_get_todays_names(trained):
    file = trained.folder / "metrics.jsonl"
    now = trained.metrics
    file.write_text(file.read_text().replace("images_per_second", "images_a_second"))
    assert priornet.Run(trained.folder).metrics == now


def test_other_rows_cannot_resume_a_run(blobs, trained):
    rows, labels = blobs
    with pytest.raises(OSError, match="its rows have changed since"):
        priornet.train(
            data=(rows + 1, labels), out=trained.folder, settings={"training.epochs": 5}, resume=True, device="cpu"
        )


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda b, out: priornet.train(out=out), ValueError, "configuration, or data"),
        (lambda b, out: priornet.train(data=b, out=out, resume=True, force=True), ValueError, "exclude"),
        (lambda b, out: priornet.train(data=b, out=out, settings={"training.epoch": 1}), ValueError, "training.epoch"),
        (lambda b, out: priornet.train(data=b, out=out, settings={"training.epochs": 0}), ValueError, "epochs"),
        (lambda b, out: priornet.train(data=b, out=out, settings={"training": object()}), ValueError, "a setting"),
        (lambda b, out: priornet.train(data=b, out=out, device="tpu"), ValueError, "device should be"),
        (lambda b, out: priornet.train(data=(b[0], b[1][:5]), out=out), ValueError, "labels"),
        (lambda b, out: priornet.train(data=(b[0], np.zeros(120)), out=out), ValueError, "at least 2 classes"),
        (lambda b, out: priornet.train("nowhere.toml", out=out), OSError, "nowhere.toml"),
        (lambda b, out: priornet.train(data="./nowhere.csv,label=x", out=out), OSError, "nowhere.csv"),
        (lambda b, out: priornet.Run(out), OSError, "no such folder"),
    ],
)
def test_errors_have_their_kind_and_the_library_s_message(call, error, message, blobs, tmp_path):
    with pytest.raises(error, match=message):
        call(blobs, tmp_path / "run")


def replaced(values, place, value):
    """A copy with another value at one place."""
    copy = np.array(values, dtype=object if value is None else None)
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda x, y: (x, replaced(y, 7, None)), r"found None in row 7 \(counted from 0\)"),
        (lambda x, y: (x, replaced(np.arange(120) % 2.0, 7, np.nan)), "found nan in row 7"),
        (lambda x, y: (x, replaced(np.full(120, "2020-01-01", "M8[D]"), 7, "NaT")), "found NaT in row 7"),
        (lambda x, y: (x, None), r"labels should be \[N\], found None"),
        (lambda x, y: (replaced(x, (5, 1), np.nan), y), r"found nan in row 5 \(counted from 0\), column 1"),
        (lambda x, y: (replaced(x.astype(float), (5, 1), 1e300), y), "found inf in row 5"),
        (lambda x, y: x, "should be arrays .X, y., found ndarray"),
        (lambda x, y: (x, y, y), "should be arrays .X, y., found 3 parts"),
        (lambda x, y: {"X": x, "y": y}, "should be arrays .X, y., found dict"),
    ],
)
def test_labels_that_are_missing_and_numbers_that_are_not_finite_are_refused(change, message, blobs, tmp_path):
    for arrays in ({"data": change(*blobs)}, {"data": blobs, "validation": change(*blobs)}):
        with pytest.raises(ValueError, match=message):
            priornet.train(**arrays, out=tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()


def test_a_missing_value_is_found_by_the_name_of_its_column(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(replaced(blobs[0], (5, 1), np.nan), columns=["width", "height"])
    with pytest.raises(ValueError, match=r"found nan in row 5 \(counted from 0\), column 'height'"):
        priornet.train(data=(frame, blobs[1]), out=tmp_path / "run", device="cpu")
    with pytest.raises(ValueError, match="found <NA> in row 1"):
        labels = pandas.Series([True, None] * 60, dtype="boolean")
        priornet.train(data=(blobs[0], labels), out=tmp_path / "run", device="cpu")


@pytest.mark.parametrize(
    "name, message", [("", "has a class without a name"), ("e\nm", r"has a class with control characters in its name: e\\nm")]
)
def test_names_that_no_model_file_may_have_are_refused(name, message, blobs, tmp_path):
    labels = np.where(blobs[1] == "elm", name, blobs[1])
    with pytest.raises(ValueError, match=f"train: the data {message}"):
        priornet.train(data=(blobs[0], labels), out=tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()


def test_validation_inputs_of_another_width_are_refused(blobs, tmp_path):
    with pytest.raises(ValueError, match=r"shape of a training input, \[2\], found \[1\]"):
        priornet.train(data=blobs, validation=(blobs[0][:, :1], blobs[1]), out=tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()


def test_training_leaves_pytorchs_random_numbers_alone(blobs, tmp_path):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    priornet.train(data=blobs, out=tmp_path / "run", settings={"training.epochs": 2}, device="cpu")
    assert torch.equal(torch.rand(3), expected)


def test_the_default_dtype_changes_no_network(blobs, trained, tmp_path, request, one_thread):
    def learnt(name):
        return priornet.train(data=blobs, out=tmp_path / name, settings={"training.epochs": 2}, device="cpu")

    expected = learnt("float32").logits(blobs[0])
    request.getfixturevalue("double_by_default")
    found = learnt("float64")
    assert np.array_equal(found.logits(blobs[0]), expected)
    assert torch.get_default_dtype() == torch.float64 and torch.zeros(1).dtype == torch.float64
    torch.set_default_dtype(torch.float32)
    assert np.array_equal(priornet.Run(found.folder, device="cpu").logits(blobs[0]), expected)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_rows_of_unsigned_numbers_are_learnt(dtype, blobs, tmp_path, one_thread):
    counts = (100 + 10 * blobs[0]).astype(dtype)
    settings = {"training.epochs": 1}
    run = priornet.train(data=(counts, blobs[1]), out=tmp_path / "run", settings=settings, device="cpu")
    plain = (counts.astype(np.float32), blobs[1])
    same = priornet.train(data=plain, out=tmp_path / "same", settings=settings, device="cpu")
    assert weights_equal(run, same, counts)


def test_labels_of_several_kinds_are_refused(blobs, tmp_path):
    with pytest.raises(ValueError, match="all of one kind, found int and str"):
        priornet.train(data=(blobs[0], replaced(blobs[1].astype(object), 7, 3)), out=tmp_path / "run")


def test_inputs_of_another_shape_are_a_value_error(trained):
    with pytest.raises(ValueError, match="rows of 2 numbers"):
        trained.logits(np.zeros((1, 3)))


def test_a_run_shows_what_it_is(trained):
    assert "classes: 3: elm, fir, oak" in repr(trained)
    assert "<td" in trained._repr_html_() and "elm, fir, oak" in trained._repr_html_()


def test_threads_may_ask_one_run(trained, blobs):
    alone = trained.logits(blobs[0])
    found = []
    threads = [threading.Thread(target=lambda: found.append(np.array_equal(trained.logits(blobs[0]), alone))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_threads_may_ask_where_the_user_works_in_float64(trained, blobs, double_by_default):
    found = []

    def ask():
        found.extend(trained.logits(blobs[0]).dtype == np.float32 for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80
    assert torch.get_default_dtype() == torch.float64


def test_threads_may_train_at_once(blobs, tmp_path, one_thread):
    runs = {}

    def work(name):
        # Without dropout, which draws from PyTorch's one generator.
        settings = {"training.epochs": 3, "model.keep_dense": 1.0}
        runs[name] = priornet.train(data=blobs, out=tmp_path / name, settings=settings, device="cpu")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert weights_equal(runs["a"], runs["b"], blobs[0])


def test_progress_is_shown_where_it_is_asked_for(blobs, tmp_path, capfd):
    settings = {"training.epochs": 3}
    priornet.train(data=blobs, out=tmp_path / "loud", settings=settings, progress=True, device="cpu")
    assert capfd.readouterr().err
    priornet.train(data=blobs, out=tmp_path / "silent", settings=settings, device="cpu")
    assert capfd.readouterr() == ("", "")


_DATA = """
import os, sys, threading, time
import numpy as np, torch, priornet
torch.set_num_threads(1)
rows = np.random.default_rng(3).normal(size=(120, 2)).astype(np.float32)
labels = (rows[:, 0] > 0).astype(int)

def train(**more):
    settings = {"training.epochs": 300}
    priornet.train(data=(rows, labels), out=sys.argv[1], settings=settings, device="cpu", **more)
"""
_STOPPABLE = """
try:
    train(resume=len(sys.argv) > 2)
except KeyboardInterrupt as stopped:
    print("stopped:", stopped)
    sys.exit(3)
"""
_IN_A_THREAD = """
def work():
    while True:
        train(force=True)

threading.Thread(target=work, daemon=True).start()
while not os.path.exists(sys.argv[1] + "/metrics.jsonl"):
    time.sleep(0.01)
"""


def start_training(folder, *more):
    words = [sys.executable, "-c", _DATA + _STOPPABLE, str(folder), *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def interrupted_run(tmp_path):
    """The folder of a run that Ctrl-C stopped before its end: one that was over by then is no use."""
    for attempt in range(20):
        folder = tmp_path / f"stopped-{attempt}"
        metrics = folder / "metrics.jsonl"
        process = start_training(folder)
        while process.poll() is None and not (metrics.exists() and metrics.read_text().count("\n") >= 5):
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
        if metrics.read_text().count("\n") < 300:
            assert process.returncode == 3, said
            assert f"with resume=True it goes on from {folder}" in said
            return folder
    pytest.fail("no run could be stopped before its end: the interpreter's lock is held while it trains")


def test_ctrl_c_leaves_a_checkpoint_from_which_training_goes_on(tmp_path):
    stopped, whole = interrupted_run(tmp_path), tmp_path / "whole"
    for folder, more in ((stopped, ["resume"]), (whole, [])):
        process = start_training(folder, *more)
        said, _ = process.communicate()
        assert process.returncode == 0, said
    rows = np.random.default_rng(8).normal(size=(50, 2)).astype(np.float32)
    resumed, straight = (priornet.Run(folder, device="cpu") for folder in (stopped, whole))
    assert len(resumed.metrics) == len(straight.metrics) == 300
    assert weights_equal(resumed, straight, rows)


def test_python_ends_in_order_while_a_thread_trains(tmp_path):
    words = [sys.executable, "-c", _DATA + _IN_A_THREAD, str(tmp_path / "run")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def seconds_and_width(blobs):
    """Rows with Unix seconds within a minute, float64."""
    return np.column_stack([1.7e9 + 15 * blobs[0][:, 0].astype(float), blobs[0][:, 1]])


def test_columns_that_float32_cannot_tell_apart_are_refused_by_name(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = seconds_and_width(blobs)
    frame = pandas.DataFrame(rows, columns=["time", "width"])
    message = "should differ by more than float32 rounds, .* subtract its mean .or another round number. first"
    given = [(rows, "0"), (torch.from_numpy(rows), "0"), (frame, "'time'"), (frame.round().astype({"time": "Int64"}), "'time'")]
    given += [(rows.astype(np.int64), "0"), (frame[["width", "time"]].astype({"time": int}), "'time'")]
    for inputs, name in given:
        with pytest.raises(ValueError, match=f"inputs: column {name} {message}"):
            priornet.train(data=(inputs, blobs[1]), out=tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()
    frame["time"] -= 1.7e9
    run = priornet.train(data=(frame, blobs[1]), out=tmp_path / "run", settings={"training.epochs": 1}, device="cpu")
    assert run.feature_names == ["time", "width"]


def test_columns_that_float32_does_tell_apart_are_taken(blobs, tmp_path):
    rows = blobs[0].astype(float)
    years = 1.7e9 + 1e8 * rows[:, :1]
    constant = np.full((120, 1), 0.1)
    noisy = 0.1 + 1e-16 * rows[:, :1]  # a constant, as computing it leaves it
    large = 1e6 + rows[:, :1] * 200
    run = priornet.train(
        data=(np.hstack([rows, years, constant, noisy, large]), blobs[1]), out=tmp_path / "run",
        settings={"training.epochs": 1}, device="cpu",
    )  # fmt: skip
    assert run.input_shape == [6]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda pandas: pandas.date_range("2020", periods=120), r"it holds dates \(datetime64\[ns\]\): make numbers of them"),
        (lambda pandas: pandas.date_range("2020", periods=120, tz="UTC"), r"it holds dates \(datetime64\[ns, UTC\]\)"),
        (lambda pandas: pandas.period_range("2020", periods=120), r"it holds dates \(period\[D\]\)"),
        (lambda pandas: pandas.date_range("2020", periods=120).date, r"it holds dates \(object\)"),
        (lambda pandas: pandas.to_timedelta(np.arange(120), "h"), r"it holds durations \(timedelta64\[ns\]\): .* seconds"),
    ],
)
def test_a_column_of_dates_is_called_so(make, message, blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["width", "height"]).assign(when=make(pandas))
    with pytest.raises(ValueError, match=f"column 'when' should hold numbers, {message}"):
        priornet.train(data=(frame, blobs[1]), out=tmp_path / "run", device="cpu")


def test_a_column_that_is_there_twice_is_not_learnt(blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    for names in (["a", "a"], [1, "1"]):
        frame = pandas.DataFrame(blobs[0], columns=names)
        with pytest.raises(ValueError, match=f"one column '{names[0]}', found 2: give each column its own name"):
            priornet.train(data=(frame, blobs[1]), out=tmp_path / "run", device="cpu")


def test_images_without_channels_are_named_by_their_shape(tmp_path):
    images, labels = np.zeros((20, 8, 8), dtype=np.uint8), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"found shape \[20, 8, 8\]: .* images without channels: images\[:, None\]"):
        priornet.train(data=(images, labels), out=tmp_path / "run", device="cpu")


def test_a_run_of_images_says_which_dimension_is_missing(tmp_path):
    images = np.random.default_rng(0).integers(0, 255, (40, 1, 12, 12), dtype=np.uint8)
    data = images, np.arange(40) % 2
    run = priornet.train(data=data, out=tmp_path / "run", settings={"training.epochs": 1}, device="cpu")
    with pytest.raises(ValueError, match=r"images \[N, 1, 12, 12\], found shape \[40, 12, 12\]: one image: images\[None\]"):
        run.logits(images[:, 0])


def test_inputs_that_are_all_the_same_are_refused(blobs, tmp_path):
    rows = np.tile(blobs[0][:1], (120, 1))
    images = np.full((120, 1, 8, 8), 7, dtype=np.uint8)
    for inputs, what in ((rows, "rows"), (images, "images")):
        with pytest.raises(ValueError, match=f"train: the inputs should differ, found 120 equal {what}"):
            priornet.train(data=(inputs, blobs[1]), out=tmp_path / "run", device="cpu")
    rows[:, 1] = blobs[0][:, 1]
    priornet.train(data=(rows, blobs[1]), out=tmp_path / "run", settings={"training.epochs": 1}, device="cpu")
