import copy
import json
import os
import pickle
import signal
import subprocess
import threading
import urllib.request
import warnings

import networks
import numpy as np
import pytest
import torch

import priornet

NORMALISED = {"mean": networks.MEAN, "deviation": networks.DEVIATION}


@pytest.fixture(scope="module")
def network():
    return networks.trained()


@pytest.fixture(scope="module")
def model(network):
    """With detectors."""
    return priornet.calibrate(
        network, networks.loader(400, 1), training=networks.loader(400, 0), name="quarters", **NORMALISED
    )


def test_a_network_of_one_s_own_is_asked_with_thresholds(network, model):
    assert network.training  # calibrate() left it in training mode
    images, labels = networks.quarters(500, 2)
    said = model.predict(images)
    with torch.no_grad():
        logits = network.eval()(networks.normalised(images)).double()
    network.train()
    assert torch.equal(said.prediction, logits.argmax(1))
    assert said.classes == [networks.CLASSES[number] for number in said.prediction]
    temperature = model.thresholds.temperature
    torch.testing.assert_close(said.probabilities, torch.softmax(logits / temperature, 1), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(said.probability, said.probabilities.max(1).values)
    measured = priornet.measures(logits, "softmax")
    torch.testing.assert_close(said.scores["entropy"], measured.entropy, rtol=1e-3, atol=1e-5)
    assert len(said) == 500 and said.accepted.dtype == torch.bool
    assert [verdict == "accept" for verdict in said.verdict] == [p > model.thresholds.rate for p in said.p_value.tolist()]
    assert all((verdict == "accept") == (by == "") for verdict, by in zip(said.verdict, said.verdict_by))
    assert float((~said.accepted).double().mean()) < 0.12  # at most 5 % on average
    assert (said.prediction == labels).double().mean() > 0.9


def test_what_the_network_never_saw_is_unfamiliar(model):
    said = model.predict(networks.noise(200, 3))
    assert said.verdict.count("unfamiliar") > 150
    assert set(said.verdict_by) & set(model.scores[-1:])  # a detector rejected some


def test_bytes_and_normalised_images_are_the_same_inputs(network, model):
    images, _ = networks.quarters(50, 4)
    by_bytes, by_values = model.predict(images), model.predict(networks.normalised(images))
    assert torch.equal(by_bytes.p_value, by_values.p_value)
    from_bytes = priornet.calibrate(network, networks.loader(400, 1, as_bytes=True), **NORMALISED)
    from_values = priornet.calibrate(network, networks.loader(400, 1), **NORMALISED)
    assert from_bytes.thresholds == from_values.thresholds
    for values in (2 * networks.normalised(images), 0.9 * networks.normalised(images)):  # too large; between bytes
        with pytest.raises(ValueError, match="say how they were normalised, or give bytes"):
            model.predict(values)
    with pytest.raises(ValueError, match="say how they were normalised, or give bytes"):
        priornet.calibrate(network, networks.loader(400, 1))


def test_numpy_goes_in_and_comes_out(model):
    images, _ = networks.quarters(5, 4)
    said = model.predict(images.numpy())
    assert isinstance(said.p_value, np.ndarray) and isinstance(said.scores["entropy"], np.ndarray)
    assert np.array_equal(said.p_value, model.predict(images).p_value.numpy())
    assert isinstance(model.logits(images), torch.Tensor)
    assert isinstance(model.logits(images.numpy()), np.ndarray)


def test_no_inputs_give_no_answers(model):
    images, _ = networks.quarters(0, 4)
    for said in (model.predict(images), model.predict(images.numpy())):
        assert len(said) == 0 and str(said.accepted.dtype).endswith("bool")


def test_a_pickle_and_a_copy_answer_the_same(model):
    images, _ = networks.quarters(50, 5)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert torch.equal(again.predict(images).p_value, model.predict(images).p_value)
        assert (again.name, again.thresholds, again.provenance) == (model.name, model.thresholds, model.provenance)
        assert again.device == model.device


def test_a_run_says_that_it_cannot_be_pickled(trained):
    for attempt in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="a Run cannot be pickled or copied: open its folder again"):
            attempt(trained)


def test_a_model_is_calibrated_once(trained, blobs):
    model = priornet.calibrate(priornet.load(trained.folder, device="cpu"), blobs)
    assert model.thresholds == priornet.calibrate(trained, blobs).thresholds
    with pytest.raises(ValueError, match="has thresholds already: give the network or the run"):
        priornet.calibrate(model, blobs)


def test_images_of_another_size_are_fitted(model):
    images, _ = networks.quarters(5, 4)
    assert model.predict(images.repeat_interleave(2, 2).repeat_interleave(2, 3)).prediction.tolist() == (
        model.predict(images).prediction.tolist()
    )


def test_a_file_answers_as_the_model_that_was_saved(model, tmp_path):
    path = tmp_path / "quarters.priornet"
    model.save(path)
    with pytest.raises(OSError, match="allow_torchscript=True"):
        priornet.load(path)
    again = priornet.load(path, device="cpu", allow_torchscript=True)
    images, _ = networks.quarters(100, 5)
    first, second = model.predict(images), again.predict(images)
    assert torch.equal(first.p_value, second.p_value) and first.verdict_by == second.verdict_by
    assert (again.name, again.class_names, again.thresholds) == (model.name, networks.CLASSES, model.thresholds)
    assert torch.equal(first.p_value, again.predict(networks.normalised(images)).p_value)


def test_the_tool_opens_the_file_and_answers_the_same(model, tool, tmp_path, one_thread):
    model.save(tmp_path / "m.priornet")
    images, _ = networks.quarters(60, 6)
    np.save(tmp_path / "images.npy", images.numpy())
    lines = tool("predict", tmp_path / "m.priornet", tmp_path / "images.npy", "--allow-torchscript", "--device", "cpu",
                 "--format", "jsonl")
    theirs = [json.loads(line) for line in lines.splitlines()]
    ours = model.predict(images)
    assert [row["prediction"] for row in theirs] == ours.classes
    assert [row["verdict"] for row in theirs] == ours.verdict
    assert [row["verdict_by"] for row in theirs] == ours.verdict_by
    assert [row["p_value"] for row in theirs] == ours.p_value.tolist()
    for name, values in ours.scores.items():
        assert [row[name] for row in theirs] == values.tolist(), name


def test_a_torchvision_network_is_served_and_answers_what_python_answers(tool, tmp_path):
    torchvision = pytest.importorskip("torchvision")
    torch.manual_seed(1)
    network = torchvision.models.resnet18(num_classes=4)
    with torch.no_grad():  # statistics of batch norm that fit the weights
        for _ in range(20):
            network(torch.randn(16, 3, 32, 32))
    images = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (120, 3, 32, 32), dtype=np.uint8))
    model = priornet.calibrate(network, (images[20:], torch.arange(100) % 4), rate=0.3, name="resnet", **NORMALISED)
    model.save(tmp_path / "resnet.priornet")
    words = [os.environ["PRIORNET_TOOL"], "serve", "resnet.priornet", "--port", "0", "--device", "cpu"]
    refused = subprocess.run(words, cwd=tmp_path, text=True, capture_output=True)
    assert refused.returncode == 1 and "--allow-torchscript" in refused.stderr
    words.append("--allow-torchscript")
    server = subprocess.Popen(words, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        lines = (word.rstrip(".,;/") for line in server.stdout for word in line.split())
        address = next(word for word in lines if word.startswith("http://"))
        data = images[:20].flatten().tolist()
        request = {"inputs": [{"name": "input", "datatype": "UINT8", "shape": [20, 3, 32, 32], "data": data}]}
        with urllib.request.urlopen(f"{address}/v2/models/resnet/infer", json.dumps(request).encode()) as answer:
            theirs = {item["name"]: item["data"] for item in json.load(answer)["outputs"]}
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()
    ours = model.predict(images[:20])
    np.testing.assert_allclose(theirs["p_value"], ours.p_value, atol=1e-9)
    np.testing.assert_allclose(theirs["entropy"], ours.scores["entropy"], rtol=1e-4, atol=1e-6)
    assert [model.class_names.index(name) for name in ours.classes] == theirs["prediction"]
    assert theirs["verdict"] == ours.verdict and theirs["verdict_by"] == ours.verdict_by
    assert len(set(ours.verdict)) > 1  # some are handed back, too


def test_a_network_answers_where_it_lies(device):
    network = networks.trained(epochs=2)
    images, _ = networks.quarters(60, 2)
    with torch.no_grad():
        expected = network.eval()(networks.normalised(images)).double()
    model = priornet.calibrate(
        network.to(device), networks.loader(100, 1), training=networks.loader(100, 0), rate=0.1, **NORMALISED
    )
    torch.testing.assert_close(model.logits(images.to(device)), expected, rtol=1e-3, atol=1e-3)
    assert len(model.predict(images).verdict) == 60


def test_what_cannot_be_scripted_is_traced_and_compared():
    network = networks.trained(networks.Unscriptable, epochs=1)
    model = priornet.calibrate(network, networks.loader(100, 1), **NORMALISED)
    images, _ = networks.quarters(30, 2)
    with torch.no_grad():
        expected = network.eval()(networks.normalised(images)).double()
    torch.testing.assert_close(model.logits(images), expected, rtol=1e-4, atol=1e-5)
    with pytest.warns(UserWarning, match="was traced"), pytest.raises(ValueError, match="gives other logits for the first batch"):
        priornet.calibrate(networks.Fickle(), networks.loader(100, 1), **NORMALISED)


def test_features_are_those_of_a_named_layer(network):
    def calibrated(layer, detector="knn"):
        more = {"training": networks.loader(200, 0), "watch": [detector], "layer": layer, **NORMALISED}
        return priornet.calibrate(network, networks.loader(100, 1), **more)

    images, _ = networks.quarters(30, 2)
    scores = {layer: calibrated(layer).predict(images).scores["knn"] for layer in (None, "drop", "hidden")}
    torch.testing.assert_close(scores[None], scores["drop"], rtol=1e-4, atol=1e-6)  # the input of the last layer
    assert not torch.allclose(scores["drop"], scores["hidden"], rtol=1e-2)
    with pytest.raises(ValueError, match="layer 'conv' should give"):
        calibrated("conv")
    with pytest.raises(ValueError, match="one of named_modules"):
        calibrated("nowhere")
    with pytest.raises(ValueError, match="watch should name some of"):
        calibrated(None, "entropy")


def test_the_older_name_of_watch_still_works_and_says_so(network):
    def watched(**more):
        model = priornet.calibrate(network, networks.loader(100, 1), training=networks.loader(200, 0), **more, **NORMALISED)
        return [watch.score for watch in model.thresholds.watches]

    with pytest.warns(DeprecationWarning, match="detectors is now called watch"):
        older = watched(detectors=["gen"])
    assert older == watched(watch=["gen"]) == watched(watch=["gen", "gen"])
    assert "gen" in older
    assert "gen" not in watched(watch=[])
    with pytest.raises(ValueError, match="give watch alone"):
        watched(watch=["gen"], detectors=["gen"])


def test_a_prior_network_says_why(blobs):
    rows, names = blobs
    labels = torch.from_numpy(np.unique(names, return_inverse=True)[1])
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    optimiser = torch.optim.Adam(network.parameters(), 1e-2)
    inside = torch.from_numpy(rows)
    for _ in range(200):
        optimiser.zero_grad()
        logits = network(torch.cat([inside, 20 * torch.randn(60, 2)]))
        priornet.prior_network_loss(logits, labels, reverse=True, alpha0=50.0).total.backward()
        optimiser.step()
    model = priornet.calibrate(network, (rows, labels), kind="dirichlet", class_names=["elm", "fir", "oak"])
    assert model.kind == "dirichlet" and "differential_entropy" in model.scores
    assert [(watch.cause, watch.score) for watch in model.thresholds.watches] == [
        ("unfamiliar", "differential_entropy"),
        ("ambiguous", "expected_entropy"),
    ]
    with torch.no_grad():
        logits = network(inside).double()
    expected = priornet.measures(logits)
    torch.testing.assert_close(
        model.predict(inside).scores["differential_entropy"], expected.differential_entropy, rtol=1e-3, atol=1e-4
    )
    by_name = priornet.calibrate(network, (rows, names), kind="dirichlet", class_names=["elm", "fir", "oak"])
    assert by_name.thresholds == model.thresholds


def test_several_networks_are_an_ensemble_that_may_be_undecided(tmp_path):
    members = [networks.trained(epochs=1, seed=seed) for seed in range(3)]
    model = priornet.calibrate(members, networks.loader(200, 1), rate=0.1, **NORMALISED)
    images, _ = networks.quarters(40, 2)
    with torch.no_grad():
        expected = torch.stack([member.eval()(networks.normalised(images)).double() for member in members])
    torch.testing.assert_close(model.logits(images), expected, rtol=1e-4, atol=1e-5)
    measured = priornet.measures(expected, "softmax")
    said = model.predict(images)
    torch.testing.assert_close(said.scores["mutual_information"], measured.mutual_information, rtol=1e-3, atol=1e-5)
    assert "undecided" in [watch.cause for watch in model.thresholds.watches]
    model.save(tmp_path / "three.priornet")
    again = priornet.load(tmp_path / "three.priornet", device="cpu", allow_torchscript=True)
    assert torch.equal(again.predict(images).p_value, said.p_value)
    with pytest.raises(ValueError, match="of the same number of classes"):
        other = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 5))
        priornet.calibrate([members[0], other], networks.loader(200, 1), **NORMALISED)
    with pytest.raises(ValueError, match="member of the ensemble"):
        other = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 4))
        priornet.calibrate([members[0], other], networks.loader(200, 1), **NORMALISED)


def test_columns_of_a_frame_are_known_by_name(blobs, trained, tool, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["width", "height"])
    network = torch.nn.Linear(2, 3)
    model = priornet.calibrate(network, (frame, pandas.Series(blobs[1])), class_names=["elm", "fir", "oak"])
    assert model.feature_names == ["width", "height"]
    turned = frame[["height", "width"]]
    assert np.array_equal(model.predict(frame).p_value, model.predict(turned).p_value)
    with pytest.raises(ValueError, match="column 'height'"):
        model.predict(frame[["width"]])
    model.save(tmp_path / "m.priornet")
    turned.to_csv(tmp_path / "turned.csv", index=False)
    said = tool("predict", tmp_path / "m.priornet", tmp_path / "turned.csv", "--allow-torchscript", "--format", "jsonl")
    assert [json.loads(line)["prediction"] for line in said.splitlines()] == model.predict(frame).classes


def test_thresholds_may_be_of_each_class_and_inputs_without_labels(network):
    images, _ = networks.quarters(400, 1)
    model = priornet.calibrate(network, networks.loader(400, 1), per_class=True, **NORMALISED)
    assert model.thresholds.per_class
    unlabelled = priornet.calibrate(network, images, **NORMALISED)
    assert unlabelled.thresholds.temperature == 1.0 and unlabelled.thresholds.calibration_size == 400
    assert unlabelled.class_names == ["0", "1", "2", "3"]
    assert priornet.calibrate(network, (images, None), **NORMALISED).thresholds._replace(calibration_set="") == (
        unlabelled.thresholds._replace(calibration_set="")
    )


def test_too_few_inputs_are_warned_of(network):
    with pytest.warns(UserWarning, match="more inputs or a higher rate help"):
        priornet.calibrate(network, networks.loader(10, 1), **NORMALISED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        priornet.calibrate(network, networks.loader(100, 1), rate=0.1, **NORMALISED)


def test_a_threshold_that_nothing_exceeds_is_infinite_and_shown_in_words(network, tmp_path):
    with pytest.warns(UserWarning):
        model = priornet.calibrate(network, networks.loader(10, 1), **NORMALISED)
    model.save(tmp_path / "few.priornet")
    for one in (model, priornet.load(tmp_path / "few.priornet", device="cpu", allow_torchscript=True)):
        assert [watch.threshold for watch in one.thresholds.watches] == [np.inf] * len(one.thresholds.watches)
        for shown in (repr(one), one._repr_html_()):
            assert "never by entropy: too few inputs in the calibration" in shown


def test_a_run_is_calibrated_as_the_tool_does_it(trained, blobs, tool, tmp_path, one_thread):
    rows, labels = (blobs[0] * 1.25).astype(np.float32), blobs[1]  # other rows: of rows that the run learnt from, the tool uses only a few
    table = tmp_path / "rows.csv"
    lines = ["x,y,kind"] + [f"{x!r},{y!r},{kind}" for (x, y), kind in zip(rows.tolist(), labels)]
    table.write_text("\n".join(lines) + "\n")
    said = tool(
        "calibrate", trained.folder, "--data", f"{table},label=kind", "--no-detectors", "--json", "--device", "cpu",
        "--out", tmp_path / "m.priornet",
    )  # fmt: skip
    theirs = json.loads(said)
    ours = priornet.calibrate(trained, (rows, labels))
    assert ours.thresholds.temperature == theirs["temperature"]
    assert [watch._asdict() for watch in ours.thresholds.watches] == [
        {"cause": watch["cause"], "score": watch["measure"], "threshold": watch["threshold"]}
        for watch in theirs["watches"]
    ]
    opened = priornet.load(tmp_path / "m.priornet", device="cpu")
    assert torch.equal(opened.predict(torch.from_numpy(rows)).p_value, ours.predict(torch.from_numpy(rows)).p_value)


def test_a_model_without_thresholds_gives_no_verdicts(trained, blobs):
    model = priornet.load(trained.folder, device="cpu")
    said = model.predict(blobs[0])
    assert model.thresholds is None and "thresholds: none" in repr(model)
    assert (said.verdict, len(said.p_value)) == ([], 0) and "verdict" not in repr(said)
    np.testing.assert_allclose(said.probabilities, trained.predict_proba(blobs[0]), rtol=1e-6)
    with pytest.raises(ValueError, match="has no thresholds"):
        said.accepted


def test_labels_of_a_run_are_those_that_it_learnt(blobs, tmp_path):
    rows, names = blobs
    numbers = np.array([2, 3, 1])[np.unique(names, return_inverse=True)[1]]  # these are no class numbers
    run = priornet.train(data=(rows, numbers), out=tmp_path / "run", settings={"training.epochs": 5}, device="cpu")
    assert run.class_names == ["1", "2", "3"]
    found = priornet.evaluate(priornet.calibrate(run, (rows, numbers)), (rows, numbers), replicates=10)
    assert found.accuracy.error < 0.1
    with pytest.raises(ValueError, match="among the classes 1, 2, 3, found '0'"):
        priornet.calibrate(run, (rows, numbers - 1))


def test_labels_of_a_run_with_a_torchscript_network_are_those_that_it_learnt(blobs, tmp_path):
    rows, names = blobs
    numbers = np.array([2, 0, 1])[np.unique(names, return_inverse=True)[1]] + 1  # as class numbers they are off by one
    layers = [torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)]
    torch.jit.script(torch.nn.Sequential(*layers)).save(str(tmp_path / "own.pt"))
    settings = {"data": {"standardise": True}, "model": {"file": tmp_path / "own.pt"}, "method": {"name": "dnn"}}
    settings["training"] = {"epochs": 40, "batch": 16, "rate": 0.01}
    run = priornet.train(settings, (rows, numbers), out=tmp_path / "run", device="cpu")
    model = priornet.calibrate(run, (rows, numbers))
    model.save(tmp_path / "m.priornet")
    again = priornet.load(tmp_path / "m.priornet", device="cpu", allow_torchscript=True)
    for one in (run, model, again):
        assert priornet.evaluate(one, (rows, numbers), replicates=10).accuracy.error < 0.1
    assert priornet.calibrate(run, (rows, numbers.astype(str))).thresholds == model.thresholds


def test_a_model_of_priornet_s_networks_is_exported(trained, blobs, tmp_path):
    model = priornet.calibrate(trained, blobs)
    signature = priornet.export(model, tmp_path / "m.pt")
    assert signature["input"]["shape"] == [-1, 2]
    found = torch.jit.load(str(tmp_path / "m.pt"))(torch.from_numpy(blobs[0]))
    assert [output["name"] for output in signature["outputs"]] == list(found)
    assert {output["name"]: output["type"] for output in signature["outputs"]}["p_value"] == "float64"
    torch.testing.assert_close(found["p_value"], model.predict(torch.from_numpy(blobs[0])).p_value)
    assert priornet.export(trained, tmp_path / "m.onnx")["input"] == signature["input"]
    assert (tmp_path / "m.onnx").stat().st_size > 0


def test_a_network_of_one_s_own_is_exported_by_its_framework(model, tmp_path):
    with pytest.raises(ValueError, match="export it with the framework that it comes from"):
        priornet.export(model, tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="should end in .onnx"):
        priornet.export(model, tmp_path / "m.txt")
    with pytest.raises(ValueError, match="bytes or unit"):
        priornet.export(model, tmp_path / "m.onnx", input="floats")


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda n, d: priornet.calibrate(n, [], **NORMALISED), ValueError, "at least 2 inputs"),
        (lambda n, d: priornet.calibrate(n, d, rate=1.5, **NORMALISED), ValueError, "rate should be between 0 and 1"),
        (lambda n, d: priornet.calibrate(n, d, rate=0, **NORMALISED), ValueError, "rate should be .* found 0"),
        (lambda n, d: priornet.calibrate(lambda x: x, d), ValueError, "a torch.nn.Module.* found function"),
        (lambda n, d: priornet.calibrate([n, 3], d), ValueError, "a torch.nn.Module.* found int"),
        (lambda n, d: priornet.calibrate(n, (d.dataset[:9][0], 3), **NORMALISED), ValueError, "label per input, found int for 9"),
        (
            lambda n, d: priornet.calibrate(torch.nn.Linear(2, 3).double(), np.zeros((9, 2))),
            ValueError,
            r"weights of float32, found torch.float64: network.float\(\)",
        ),
        (lambda n, d: priornet.calibrate(n, d, kind="beta", **NORMALISED), ValueError, "softmax or dirichlet"),
        (lambda n, d: priornet.calibrate(n, d, class_names=["a"], **NORMALISED), ValueError, "should be 4, one per logit"),
        (lambda n, d: priornet.calibrate(n, d, watch=["knn"], **NORMALISED), ValueError, "give `training`"),
        (lambda n, d: priornet.calibrate(torch.nn.Flatten(0), d, **NORMALISED), ValueError, r"logits \[N, K\]"),
        (lambda n, d: priornet.calibrate(n, (d.dataset[:9][0], [0] * 8)), ValueError, "one label per input"),
        (lambda n, d: priornet.calibrate(n, (d.dataset[:9][0], [7] * 9), **NORMALISED), ValueError, "found 7"),
        (lambda n, d: priornet.load("nowhere.priornet"), OSError, "nowhere.priornet"),
    ],
)
def test_errors_have_their_kind_and_say_what_is_wrong(call, error, message, network):
    with pytest.raises(error, match=message):
        call(network, networks.loader(40, 1))


def test_a_damaged_file_and_a_folder_that_is_not_there_are_os_errors(model, tmp_path):
    path = tmp_path / "m.priornet"
    model.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OSError, match="m.priornet"):
        priornet.load(path, allow_torchscript=True)
    with pytest.raises(OSError, match="nowhere"):
        model.save(tmp_path / "nowhere" / "m.priornet")


def test_inputs_of_another_kind_are_value_errors(model):
    with pytest.raises(ValueError, match="inputs should be"):
        model.predict(np.zeros((3, 5)))


def test_a_model_and_its_predictions_show_what_they_are(model):
    images, _ = networks.quarters(30, 2)
    said = model.predict(images)
    assert "name: quarters" in repr(model) and "4: top left, top right" in repr(model)
    assert "<table>" in model._repr_html_() and "at most 5.00% of inputs like those of" in model._repr_html_()
    assert "Predictions of 30 inputs" in repr(said) and "... and 10 more" in repr(said)
    assert said._repr_html_().count("<tr>") == 21


def test_threads_may_ask_one_model_while_it_is_saved(model, tmp_path):
    images, _ = networks.quarters(200, 2)
    alone = model.predict(images).p_value
    found = []

    def ask():
        for _ in range(10):
            found.append(torch.equal(model.predict(images).p_value, alone))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(10):
        model.save(tmp_path / f"{number}.priornet")
    for thread in threads:
        thread.join()
    assert found == [True] * 30
    whole = [(tmp_path / f"{number}.priornet").read_bytes() for number in range(10)]
    assert all(one == whole[0] for one in whole)




def rows_of_three_classes(count=400):
    random = np.random.default_rng(0)
    labels = random.integers(0, 3, count)
    return (random.normal(size=(count, 4)) + labels[:, None]).astype(np.float32), labels


def answers_the_same_out_of_its_file(model, rows, path):
    model.save(path)
    again = priornet.load(path, device="cpu", allow_torchscript=True)
    return np.array_equal(again.logits(rows), model.logits(rows)) and again.predict(rows).verdict == model.predict(rows).verdict


@pytest.mark.parametrize(
    "names, message",
    [
        (["crane", "crane", "owl"], "has two classes with the name crane"),
        (["", "crane", "owl"], "has a class without a name"),
        (["a\x1b[2Jb\n", "crane", "owl"], r"control characters in its name: a\\x1b\[2Jb\\n"),
    ],
)
def test_names_that_no_model_file_may_have_are_refused_before_any_work(names, message):
    rows, labels = rows_of_three_classes()
    seen = []

    class Counting(torch.nn.Linear):
        def forward(self, inputs):
            seen.append(len(inputs))
            return super().forward(inputs)

    with pytest.raises(ValueError, match=message):
        priornet.calibrate(Counting(4, 3), (rows, labels), class_names=names)
    assert len(seen) == 1  # once, for the number of classes


def test_a_model_learnt_from_data_with_a_name():
    for name in ("", None):
        with pytest.raises(ValueError, match="trained_on should name the data"):
            priornet.calibrate(torch.nn.Linear(4, 3), rows_of_three_classes(), trained_on=name)


class Tied(torch.nn.Module):
    """A layer that is used twice, and a parameter with two names."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.again = self.first
        self.turned = torch.nn.Linear(4, 4)
        self.turned.weight = self.first.weight
        self.last = torch.nn.Linear(4, 3)

    def forward(self, inputs):
        return self.last(self.turned(torch.tanh(self.again(torch.tanh(self.first(inputs))))))


def test_shared_parameters_are_kept(tmp_path):
    rows, labels = rows_of_three_classes()
    torch.manual_seed(0)
    one = torch.nn.Linear(4, 4)
    for network in (Tied(), torch.nn.Sequential(one, torch.nn.Tanh(), one, torch.nn.Linear(4, 3))):
        model = priornet.calibrate(network, (rows, labels))
        with torch.no_grad():
            expected = network(torch.from_numpy(rows)).double()
        torch.testing.assert_close(model.logits(torch.from_numpy(rows)), expected)
        assert answers_the_same_out_of_its_file(model, rows, tmp_path / "m.priornet")


class WithBuffer(torch.nn.Module):
    def __init__(self, buffer):
        super().__init__()
        self.register_buffer("kept", buffer)
        self.last = torch.nn.Linear(4, 3)

    def forward(self, inputs):
        return self.last(inputs * self.kept.float())


@pytest.mark.parametrize("dtype", [torch.bool, torch.int8, torch.int16, torch.uint8, torch.int32, torch.int64, torch.float16])
def test_buffers_of_any_type_of_number_are_kept(dtype, tmp_path):
    rows, labels = rows_of_three_classes()
    network = WithBuffer(torch.tensor([1, 0, 1, 3]).to(dtype))
    model = priornet.calibrate(network, (rows, labels))
    with torch.no_grad():
        torch.testing.assert_close(model.logits(torch.from_numpy(rows)), network(torch.from_numpy(rows)).double())
    assert answers_the_same_out_of_its_file(model, rows, tmp_path / "m.priornet")


def test_a_complex_buffer_is_refused():
    with pytest.raises(ValueError, match="buffer 'kept' is complex64, which cannot be stored in a model file: keep its real"):
        priornet.calibrate(WithBuffer(torch.ones(4, dtype=torch.complex64)), rows_of_three_classes())


def test_the_default_dtype_changes_no_model(network, model, trained, blobs, tmp_path, request):
    images, _ = networks.quarters(50, 5)
    path = tmp_path / "quarters.priornet"
    model.save(path)
    expected, rows = model.predict(images), trained.logits(blobs[0])
    calibrated = priornet.calibrate(network, networks.loader(400, 1, as_bytes=True), **NORMALISED)
    of_run = priornet.calibrate(trained, blobs)
    held = networks.loader(400, 1, as_bytes=True)
    request.getfixturevalue("double_by_default")
    for one in (model, copy.deepcopy(model), priornet.load(path, device="cpu", allow_torchscript=True)):
        assert torch.equal(one.predict(images).p_value, expected.p_value)
    assert priornet.calibrate(network, held, **NORMALISED).thresholds == calibrated.thresholds
    assert np.array_equal(priornet.Run(trained.folder, device="cpu").logits(blobs[0]), rows)
    assert priornet.calibrate(trained, blobs).thresholds == of_run.thresholds
    assert priornet.evaluate(of_run, blobs, {"far": 9 + blobs[0]}, replicates=2).accuracy.size == 120
    assert torch.get_default_dtype() == torch.float64


def test_autocast_changes_no_answer(network, model, trained, blobs):
    images, _ = networks.quarters(50, 5)
    expected, rows = model.predict(images), trained.logits(blobs[0])
    thresholds = priornet.calibrate(network, networks.loader(400, 1), **NORMALISED).thresholds
    with torch.autocast("cpu", dtype=torch.bfloat16):
        said, logits = model.predict(images), model.logits(images)
        assert np.array_equal(trained.logits(blobs[0]), rows)
        assert priornet.calibrate(network, networks.loader(400, 1), **NORMALISED).thresholds == thresholds
        assert torch.is_autocast_cpu_enabled()
    assert torch.equal(said.p_value, expected.p_value) and said.verdict == expected.verdict
    assert torch.equal(logits, model.logits(images))


def test_a_frozen_network_is_calibrated(tmp_path):
    rows, labels = rows_of_three_classes()
    frozen = torch.jit.freeze(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout()).eval()))
    model = priornet.calibrate(frozen, (rows, labels))
    with torch.no_grad():
        torch.testing.assert_close(model.logits(torch.from_numpy(rows)), frozen(torch.from_numpy(rows)).double())
    assert answers_the_same_out_of_its_file(model, rows, tmp_path / "m.priornet")
    inside = torch.nn.Sequential(frozen, torch.nn.Dropout())  # PyTorch does not convert it
    with pytest.raises(ValueError, match="neither scripted nor traced"):
        priornet.calibrate(inside, (rows, labels))
    assert not hasattr(frozen, "training") and inside.training


def test_a_column_that_is_there_twice_is_refused():
    pandas = pytest.importorskip("pandas")
    rows, labels = rows_of_three_classes()
    frame = pandas.DataFrame(rows, columns=["a", "a", "b", "c"])
    with pytest.raises(ValueError, match="one column 'a', found 2"):
        priornet.calibrate(torch.nn.Linear(4, 3), (frame, labels))
    plain = priornet.calibrate(torch.nn.Linear(4, 3), (frame.set_axis(list("abcd"), axis=1), labels))
    with pytest.raises(ValueError, match="one column 'a', found 2"):
        plain.predict(pandas.DataFrame(np.hstack([rows, rows[:, :1]]), columns=list("abcda")))


class Birds(torch.utils.data.Dataset):
    classes = ["crane", "eagle", "owl"]

    def __init__(self):
        self.rows, self.labels = rows_of_three_classes()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, place):
        return self.rows[place], self.classes[self.labels[place]]


def test_a_part_of_a_data_set_knows_its_classes_and_its_name():
    network, whole = torch.nn.Linear(4, 3), Birds()
    part = torch.utils.data.Subset(torch.utils.data.Subset(whole, range(300)), range(200))
    for data in (part, torch.utils.data.DataLoader(part, batch_size=50), torch.utils.data.DataLoader(whole, batch_size=50)):
        model = priornet.calibrate(network, data)
        assert model.class_names == Birds.classes and model.thresholds.calibration_set == "Birds"


@pytest.mark.parametrize(
    "more, message",
    [
        ({"mean": [0.5, 0.5]}, r"mean should be one number, or one per channel of the images \(3\), found shape \[2\]"),
        ({"deviation": [1.0] * 4}, "deviation should be one number, or one per channel"),
        ({"mean": float("nan")}, "mean should be .* finite, found nan"),
        ({"deviation": [1.0, 1.0, float("inf")]}, "deviation should be .* finite, found inf"),
        ({"deviation": [1.0, 0.0, 1.0]}, "deviation should be above 0, found 0.0"),
        ({"deviation": -0.5}, "deviation should be above 0, found -0.5"),
        ({"mean": "grey"}, "array of numbers"),
        ({"device": "tpu"}, "device should be auto, cpu or cuda, found 'tpu'"),
        ({"device": "cpux"}, "device should be auto, cpu or cuda, found 'cpux'"),
        ({"device": "cuda:x"}, "device should be auto, cpu or cuda, found 'cuda:x'"),
        ({"device": "meta"}, "device should be auto, cpu or cuda, found 'meta'"),
    ],
)
def test_a_wrong_argument_of_calibrate_is_a_value_error(more, message, network):
    with pytest.raises(ValueError, match=message):
        priornet.calibrate(network, networks.loader(60, 1, as_bytes=True), **{**NORMALISED, **more})


def test_mean_and_deviation_may_have_the_shape_of_channels(network, model):
    shaped = {key: torch.tensor(values, dtype=torch.float64).view(3, 1, 1) for key, values in NORMALISED.items()}
    calibrated = priornet.calibrate(network, networks.loader(100, 1), rate=0.1, **shaped)
    assert calibrated.thresholds == priornet.calibrate(network, networks.loader(100, 1), rate=0.1, **NORMALISED).thresholds


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_rows_of_unsigned_numbers_are_taken(dtype):
    rows, labels = rows_of_three_classes()
    counts = (100 + 20 * rows).astype(dtype)
    network = torch.nn.Linear(4, 3)
    model = priornet.calibrate(network, (counts, labels.astype(dtype)))
    assert np.array_equal(model.logits(counts), model.logits(counts.astype(np.float32)))
    assert np.isfinite(model.logits(np.full((1, 4), np.iinfo(dtype).max, dtype=dtype))).all()


def test_dropout_samples_leave_pytorchs_random_numbers_alone(blobs, trained, tool, tmp_path):
    table = tmp_path / "rows.csv"
    lines = ["x,y,kind"] + [f"{x!r},{y!r},{kind}" for (x, y), kind in zip((1.25 * blobs[0]).tolist(), blobs[1])]
    table.write_text("\n".join(lines) + "\n")
    tool(
        "calibrate", trained.folder, "--data", f"{table},label=kind", "--dropout-samples", "5", "--no-detectors",
        "--device", "cpu", "--out", tmp_path / "m.priornet",
    )  # fmt: skip
    model = priornet.load(tmp_path / "m.priornet", device="cpu")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    model.predict(blobs[0][:5])
    assert torch.equal(torch.rand(3), expected)


def rows_sorted_by_class():
    """12,000 rows: those of the last class come after the 10,000 that detectors learn from."""
    labels = np.repeat([0, 1, 2], [5000, 5000, 2000])
    centres = np.array([[0, 0], [30, 0], [0, 30]])
    return (centres[labels] + np.random.default_rng(0).normal(size=(12000, 2))).astype(np.float32), labels


class NearestCentre(torch.nn.Linear):
    """Knows the classes of rows_sorted_by_class()."""

    def __init__(self):
        super().__init__(2, 3)
        with torch.no_grad():
            self.weight.copy_(torch.tensor([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]))
            self.bias.zero_()


def watched_by_neighbours(training):
    rows, labels = rows_sorted_by_class()
    return priornet.calibrate(NearestCentre(), (rows[::40], labels[::40]), training=training, watch=["knn"])


def test_detectors_learn_from_random_rows_of_arrays_and_data_sets():
    pandas = pytest.importorskip("pandas")
    rows, labels = rows_sorted_by_class()
    tensors = torch.utils.data.TensorDataset(torch.from_numpy(rows), torch.from_numpy(labels))
    found = []
    for training in ((rows, labels), tensors, (rows, pandas.Series(labels)), (rows.tolist(), labels.tolist())):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.append(watched_by_neighbours(training).predict(rows).scores["knn"])
    first, last = (np.median(found[0][labels == number]) for number in (0, 2))
    assert last < 2 * first
    assert all(np.array_equal(others, found[0]) for others in found)


def test_the_first_rows_of_a_loader_should_have_every_class():
    rows, labels = rows_sorted_by_class()
    tensors = torch.utils.data.TensorDataset(torch.from_numpy(rows), torch.from_numpy(labels))
    fewer = torch.utils.data.Subset(tensors, range(9000))  # the loader gives them all
    with pytest.warns(UserWarning, match="first 10000 inputs of `training`, which have none of these classes: 2; shuffle"):
        watched_by_neighbours(torch.utils.data.DataLoader(tensors, batch_size=500))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watched_by_neighbours(torch.utils.data.DataLoader(tensors, batch_size=500, shuffle=True))
        watched_by_neighbours(torch.utils.data.DataLoader(fewer, batch_size=500))


class Choosing(torch.nn.Linear):
    """Python that torch.jit.script does not understand, with a choice that depends on the inputs."""

    def forward(self, inputs):
        """Logits, which are turned where the batch has a large sum."""
        parts = {**{"inputs": inputs}}
        logits = super().forward(parts["inputs"])
        return -logits if inputs.sum() > 10000 else logits


def test_a_choice_that_tracing_loses_is_warned_of_and_found_in_later_batches():
    rows, labels = rows_of_three_classes()
    with pytest.warns(UserWarning, match=r"was traced, and its Python took values of tensors .*\(test_model.py:\d+\)"):
        model = priornet.calibrate(Choosing(4, 3), (rows, labels))  # it never chooses
    assert model.thresholds is not None
    rows = np.concatenate([rows, rows + 50])
    with pytest.warns(UserWarning, match="was traced"), pytest.raises(ValueError, match="for calibration batch 2.* torch.where"):
        priornet.calibrate(Choosing(4, 3), (rows, np.tile(labels, 2)))


def test_a_choice_is_kept_by_scripting_and_lost_with_a_layer():
    class Scripted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.last = torch.nn.Linear(4, 3)

        def forward(self, inputs):
            logits = self.last(inputs)
            if bool(inputs.sum() > 10000):
                logits = -logits
            return logits

    rows, labels = rows_of_three_classes()
    rows, labels = np.concatenate([rows, rows + 50]), np.tile(labels, 2)
    network = Scripted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        priornet.calibrate(network, (rows, labels))
    with pytest.warns(UserWarning, match="was traced"), pytest.raises(ValueError, match="leave out `layer`"):
        priornet.calibrate(network, (rows, labels), layer="last")


def test_a_network_that_is_traced_without_a_choice_is_not_warned_of(network):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        priornet.calibrate(networks.Unscriptable(), networks.loader(200, 1), rate=0.1, **NORMALISED)
        priornet.calibrate(network, networks.loader(200, 1), rate=0.1, layer="drop", **NORMALISED)


def test_complex_numbers_are_refused():
    rows, labels = rows_of_three_classes()
    with pytest.raises(ValueError, match="should be real numbers, found complex128: give real and imaginary parts"):
        priornet.calibrate(torch.nn.Linear(4, 3), (rows.astype(complex), labels))
    model = priornet.calibrate(torch.nn.Linear(4, 3), (rows, labels))
    with pytest.raises(ValueError, match="should be real numbers, found complex64"):
        model.predict(torch.from_numpy(rows).to(torch.complex64))


@pytest.mark.parametrize(
    "part, message",
    [
        (lambda images: images[0], r"should be images \[N, 3, 8, 8\], found shape \[3, 8, 8\]: one image: images\[None\]"),
        (lambda images: images[:, 0], r"found shape \[5, 8, 8\]: .* without channels: images\[:, None\]"),
        (lambda images: images[0, 0], r"found shape \[8, 8\]: one image without channels: images\[None, None\]"),
    ],
)
def test_images_that_lack_a_dimension_are_named_by_their_shape(part, message, model):
    images, _ = networks.quarters(5, 4)
    with pytest.raises(ValueError, match=message):
        model.predict(part(images))


def test_images_without_channels_do_not_calibrate(network):
    images, labels = networks.quarters(60, 4)
    with pytest.raises(ValueError, match=r"found inputs of shape \[60, 8, 8\]: .* without channels: images\[:, None\]"):
        priornet.calibrate(network, (images[:, 0], labels), **NORMALISED)
    with pytest.raises(ValueError, match=r"of shape \[60, 8, 8\], and fails: .* images\[:, None\]"):
        priornet.calibrate(network, (images[:, 0], labels))


def test_a_list_of_two_arrays_is_taken_as_a_tuple_is():
    rows, labels = rows_of_three_classes()
    network = torch.nn.Linear(4, 3)
    expected = priornet.calibrate(network, (rows, labels), training=(rows, labels))
    for pair in ([rows, labels], [torch.from_numpy(rows), torch.from_numpy(labels)], [rows.tolist(), labels.tolist()]):
        model = priornet.calibrate(network, pair, training=pair)
        assert model.thresholds == expected.thresholds
        assert priornet.evaluate(model, pair, replicates=2).accuracy.size == 400
    two_batches = [(rows[:200], labels[:200]), (rows[200:], labels[200:])]
    assert priornet.calibrate(network, two_batches).thresholds.calibration_size == 400
    assert priornet.calibrate(network, [rows[:200], rows[200:]]).thresholds.calibration_size == 400


def test_rows_as_lists_are_told_how_to_be_given():
    rows, labels = rows_of_three_classes()
    for wrong in (rows.tolist(), list(rows), (rows[0], labels[:4]), [(row, label) for row, label in zip(rows, labels)]):
        with pytest.raises(ValueError, match=r"found inputs of shape .*: give arrays as a tuple \(X, y\)"):
            priornet.calibrate(torch.nn.Linear(4, 3), wrong)


def test_inputs_that_the_network_does_not_take_are_named_by_their_shape():
    rows, labels = rows_of_three_classes()
    with pytest.raises(ValueError, match=r"should take the inputs, of shape \[250, 4\], and fails: mat1 and mat2"):
        priornet.calibrate(torch.nn.Linear(5, 3), (rows, labels))


def test_columns_that_float32_cannot_tell_apart_do_not_calibrate():
    rows, labels = rows_of_three_classes()
    late = rows + np.array([0, 1.7e9, 0, 0])
    for more in ({"data": (late, labels)}, {"data": (rows, labels), "training": (late, labels)}):
        with pytest.raises(ValueError, match="column 1 should differ by more than float32 rounds"):
            priornet.calibrate(torch.nn.Linear(4, 3), **more)
    assert len(priornet.calibrate(torch.nn.Linear(4, 3), (rows, labels)).predict(late)) == 400
