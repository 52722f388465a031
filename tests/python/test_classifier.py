import functools
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import torch

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import priornet
from priornet import PriorNetworkClassifier

pytestmark = pytest.mark.filterwarnings("ignore:PriorNetworkClassifier. there will be no verdicts")


@parametrize_with_checks([PriorNetworkClassifier(epochs=20, device="cpu")])
def test_scikit_learn_s_conventions_are_kept(estimator, check, monkeypatch):
    # Two checks ask the same rows in another order or other parts, and want seven equal digits. The network computes in
    # float32: the seventh depends on where a row lies.
    if check.func.__name__ in ("check_methods_sample_order_invariance", "check_methods_subset_invariance"):
        for name in ("assert_allclose", "assert_allclose_dense_sparse"):
            in_float32 = functools.partial(getattr(estimator_checks, name), rtol=1e-5)
            monkeypatch.setattr(estimator_checks, name, in_float32)
    check(estimator)


@pytest.fixture
def classifier(blobs):
    return PriorNetworkClassifier(epochs=15, device="cpu").fit(*blobs)


def test_ten_lines_are_enough(classifier, blobs):
    rows, labels = blobs
    assert classifier.score(rows, labels) > 0.95
    assert list(classifier.classes_) == ["elm", "fir", "oak"]
    assert set(classifier.predict(rows)) <= set(labels)
    assert np.allclose(classifier.predict_proba(rows).sum(1), 1)


def test_it_says_how_sure_it_is(classifier, blobs):
    found = classifier.uncertainty(blobs[0])
    assert isinstance(found, priornet.DirichletMeasures)
    assert all(isinstance(values, np.ndarray) and values.shape == (120,) for values in found)
    assert np.array_equal(classifier.uncertainty(blobs[0], "entropy"), found.entropy)
    assert np.array_equal(classifier.classes_[found.prediction], classifier.predict(blobs[0]))
    with pytest.raises(ValueError, match="one of prediction, max_prob"):
        classifier.uncertainty(blobs[0], "doubt")


def test_an_ensemble_of_softmax_networks_is_asked_the_same_way(blobs):
    classifier = PriorNetworkClassifier([16], method="dnn", members=2, epochs=40, device="cpu").fit(*blobs)
    assert isinstance(classifier.uncertainty(blobs[0]), priornet.EnsembleMeasures)
    assert classifier.score(*blobs) > 0.9


def test_it_stands_in_pipelines_and_searches(blobs):
    rows, labels = blobs
    pipeline = make_pipeline(StandardScaler(), PriorNetworkClassifier(epochs=10, device="cpu"))
    assert cross_val_score(pipeline, rows, labels, cv=3).mean() > 0.9
    search = GridSearchCV(PriorNetworkClassifier(epochs=5, device="cpu"), {"hidden": [(8,), (16, 16)]}, cv=2)
    assert search.fit(rows, labels).best_params_["hidden"] in [(8,), (16, 16)]


def test_a_copy_has_its_parameters_and_nothing_learnt(classifier):
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params()
    assert not hasattr(copy, "classes_")


def test_a_pickle_answers_the_same(classifier, blobs):
    again = pickle.loads(pickle.dumps(classifier))
    assert np.array_equal(again.predict_proba(blobs[0]), classifier.predict_proba(blobs[0]))
    assert again.run_.metrics == classifier.run_.metrics


def test_frames_of_pandas_go_in(blobs):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["x", "y"])
    classifier = PriorNetworkClassifier(epochs=5, device="cpu").fit(frame, pandas.Series(blobs[1]))
    assert list(classifier.feature_names_in_) == ["x", "y"]
    assert len(classifier.predict(frame)) == 120


def test_the_run_is_kept_where_asked(blobs, tmp_path):
    folder = tmp_path / "kept"
    classifier = PriorNetworkClassifier(epochs=2, folder=folder, device="cpu").fit(*blobs)
    assert classifier.run_.folder == folder
    assert priornet.Run(folder).input_shape == [2]


def test_settings_are_those_of_the_configuration(blobs, tmp_path):
    classifier = PriorNetworkClassifier(
        epochs=2, settings={"training.batch": 7, "method": {"alpha0": 33.0}}, device="cpu"
    ).fit(*blobs)
    assert "batch = 7" in classifier.run_.config and "alpha0 = 33" in classifier.run_.config
    with pytest.raises(ValueError, match="there is no|training.rates"):
        PriorNetworkClassifier(settings={"training.rates": 7}).fit(*blobs)


def test_the_same_random_state_gives_the_same_classifier(blobs, one_thread):
    def fitted(state):
        return PriorNetworkClassifier(epochs=2, random_state=state, device="cpu").fit(*blobs).predict_proba(blobs[0])

    assert np.array_equal(fitted(1), fitted(1))
    assert not np.array_equal(fitted(1), fitted(2))
    assert np.array_equal(fitted(np.random.RandomState(3)), fitted(np.random.RandomState(3)))


@pytest.fixture
def many_blobs():
    random = np.random.default_rng(5)
    centres = np.array([[0, 0], [6, 0], [0, 6]])
    return random.normal(np.repeat(centres, 100, axis=0)).astype(np.float32), np.repeat(["elm", "fir", "oak"], 100)


def test_it_says_whether_to_trust_it(many_blobs, tmp_path):
    rows, labels = many_blobs
    classifier = PriorNetworkClassifier(epochs=15, device="cpu", calibration_share=0.3).fit(rows, labels)
    verdicts = classifier.verdict(rows)
    assert verdicts.shape == (300,) and (verdicts == "accept").mean() > 0.8
    far = classifier.verdict(np.random.default_rng(1).normal(0, 60, (100, 2)))
    assert (far == "unfamiliar").mean() > 0.8
    again = pickle.loads(pickle.dumps(classifier))
    assert np.array_equal(again.verdict(rows), verdicts)
    assert classifier.model_.class_names == ["elm", "fir", "oak"]
    classifier.model_.save(tmp_path / "trees.priornet")
    opened = priornet.load(tmp_path / "trees.priornet", device="cpu")  # it holds no program, so it needs no permission
    assert opened.predict(rows).verdict == verdicts.tolist()


def test_190_rows_of_any_classes_are_enough_for_verdicts():
    rows = np.random.default_rng(0).normal(size=(190, 3))
    for classes in (2, 3, 7, 19):
        labels = np.arange(190) % classes
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "PriorNetworkClassifier")
            classifier = PriorNetworkClassifier(epochs=1, device="cpu").fit(rows, labels)
        assert classifier.model_.thresholds.calibration_size == 19
        assert len(classifier.verdict(rows)) == 190
    with pytest.warns(UserWarning, match="no verdicts: a rate of 0.05 takes 19 rows that are kept back, found 18"):
        PriorNetworkClassifier(epochs=1, device="cpu").fit(rows[:189], labels[:189])


def test_a_class_keeps_a_row_to_learn_from():
    rows, labels = np.random.default_rng(0).normal(size=(42, 3)), np.repeat([0, 1, 2], [40, 1, 1])
    classifier = PriorNetworkClassifier(epochs=1, device="cpu", calibration_share=0.9, rate=0.2).fit(rows, labels)
    assert classifier.model_.class_names == ["0", "1", "2"]


def test_rows_that_are_too_few_for_verdicts_are_all_learnt_from(blobs):
    rows, labels = blobs
    with pytest.warns(UserWarning, match="there will be no verdicts"):
        few = PriorNetworkClassifier(epochs=3, device="cpu").fit(rows, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        all_rows = PriorNetworkClassifier(epochs=3, device="cpu", calibration_share=0.0).fit(rows, labels)
    assert np.array_equal(few.predict_proba(rows), all_rows.predict_proba(rows))
    with pytest.raises(ValueError, match="takes 19 of them, found a calibration_share of 0.1"):
        few.verdict(rows)
    with pytest.raises(ValueError, match="rate should be between 0 and 1, found 0"):
        PriorNetworkClassifier(rate=0).fit(rows, labels)
    with pytest.raises(ValueError, match="from 0 to below 1"):
        PriorNetworkClassifier(calibration_share=1.0).fit(rows, labels)


def test_a_fit_that_fails_leaves_the_classifier_unfitted(blobs):
    rows, labels = blobs
    classifier = PriorNetworkClassifier(epochs=3, device="cpu").fit(rows, labels)
    classifier.settings = {"training.rates": 7}
    with pytest.raises(ValueError, match="training.rates"):
        classifier.fit(rows, np.roll(["yew", "ash", "box"], 1).repeat(40))
    for ask in (classifier.predict, classifier.verdict, classifier.uncertainty):
        with pytest.raises(NotFittedError):
            ask(rows)
    assert not hasattr(classifier, "classes_") and not hasattr(classifier, "n_features_in_")
    classifier.settings = None
    assert set(classifier.fit(rows, labels).predict(rows)) <= set(labels)


def test_ctrl_c_leaves_the_classifier_unfitted_and_promises_nothing(blobs, one_thread):
    classifier = PriorNetworkClassifier(epochs=1_000_000, device="cpu")

    def interrupt():
        while not any(thread.name == "priornet" for thread in threading.enumerate()):
            time.sleep(0.001)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt) as stopped:
        classifier.fit(*blobs)
    interrupting.join()
    assert str(stopped.value) == "fit was stopped: the classifier is not fitted"
    with pytest.raises(NotFittedError):
        classifier.predict(blobs[0])


def test_the_run_and_the_model_of_a_frame_know_its_columns(many_blobs, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(many_blobs[0], columns=["width", "height"])
    classifier = PriorNetworkClassifier(epochs=5, device="cpu").fit(frame, many_blobs[1])
    turned = frame[["height", "width"]]
    classifier.model_.save(tmp_path / "trees.priornet")
    again = pickle.loads(pickle.dumps(classifier))
    for one in (classifier.model_, again.model_, priornet.load(tmp_path / "trees.priornet", device="cpu")):
        assert one.feature_names == ["width", "height"]
        assert np.array_equal(one.predict(turned).p_value, one.predict(frame).p_value)
    for run in (classifier.run_, again.run_):
        assert np.array_equal(run.predict_proba(turned), run.predict_proba(frame))
    assert np.array_equal(classifier.verdict(frame), classifier.model_.predict(turned).verdict)


def test_a_fit_leaves_pytorchs_random_numbers_alone(blobs):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    PriorNetworkClassifier(epochs=2, device="cpu").fit(*blobs)
    assert torch.equal(torch.rand(3), expected)


def test_a_missing_label_is_refused_with_its_row(blobs):
    labels = blobs[1].astype(object)
    labels[7] = None
    with pytest.raises(ValueError, match=r"every row should have a label, found None in row 7"):
        PriorNetworkClassifier().fit(blobs[0], labels)


def test_a_folder_with_other_files_is_not_touched(blobs, tmp_path):
    theirs = {"config.toml": b"[project]\nname = 'mine'\n", "checkpoints/epoch-1.pt": b"weights", "data.csv": b"1,2"}
    for name, content in theirs.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    classifier = PriorNetworkClassifier(epochs=1, folder=tmp_path, device="cpu")
    with pytest.raises(OSError, match="should be new, empty, or hold a run.* holds other files: choose another"):
        classifier.fit(*blobs)
    assert {name: (tmp_path / name).read_bytes() for name in theirs} == theirs
    assert len(list(tmp_path.iterdir())) == 3


def test_a_run_in_the_folder_is_replaced(blobs, tmp_path):
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)  # as a fit that failed leaves it
    for members in (3, 1, 2):
        classifier = PriorNetworkClassifier(epochs=1, members=members, folder=tmp_path / "run", device="cpu")
        assert classifier.fit(*blobs).run_.members == members
    assert sorted(path.name for path in (tmp_path / "run").glob("member-*")) == ["member-1", "member-2"]


def test_a_pickle_holds_the_files_of_the_run_and_no_others(blobs, tmp_path):
    PriorNetworkClassifier(epochs=1, folder=tmp_path, device="cpu").fit(*blobs)
    PriorNetworkClassifier(epochs=1, folder=tmp_path / "other", device="cpu").fit(*blobs)
    again = PriorNetworkClassifier(epochs=1, folder=tmp_path, device="cpu").fit(*blobs)
    assert sorted(name.partition("/")[0] for name in again.__getstate__()["_files"]) == [
        "checkpoints", "config.toml", "metrics.jsonl", "preparation.safetensors"
    ]  # fmt: skip
    assert np.array_equal(pickle.loads(pickle.dumps(again)).predict_proba(blobs[0]), again.predict_proba(blobs[0]))
    ensemble = PriorNetworkClassifier(epochs=1, members=2, device="cpu").fit(*blobs)
    assert np.array_equal(pickle.loads(pickle.dumps(ensemble)).predict_proba(blobs[0]), ensemble.predict_proba(blobs[0]))


def test_whole_numbers_of_any_type_are_the_same_random_state(blobs, one_thread):
    def fitted(state):
        return PriorNetworkClassifier(epochs=2, random_state=state, device="cpu").fit(*blobs).predict_proba(blobs[0])

    expected = fitted(3)
    for state in (np.int64(3), np.uint8(3)):
        assert np.array_equal(fitted(state), expected)


def test_columns_that_float32_cannot_tell_apart_are_refused(blobs):
    pandas = pytest.importorskip("pandas")
    rows = blobs[0] + np.array([1.7e9, 0])
    for given, name in ((rows, "0"), (pandas.DataFrame(rows, columns=["time", "width"]), "'time'")):
        with pytest.raises(ValueError, match=f"column {name} should differ by more than float32 rounds"):
            PriorNetworkClassifier(epochs=1, device="cpu").fit(given, blobs[1])
    with pytest.raises(ValueError, match="too large"):
        PriorNetworkClassifier(epochs=1, device="cpu").fit(blobs[0] * np.array([1e300, 1]), blobs[1])


def test_rows_that_are_read_only_are_learnt(blobs, one_thread):
    rows = blobs[0].astype(float)[::-1]
    rows.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = PriorNetworkClassifier(epochs=1, device="cpu", calibration_share=0.0).fit(rows, blobs[1][::-1])
    assert classifier.n_features_in_ == 2


def test_frames_with_dates_or_with_a_column_twice_are_refused(blobs):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["width", "height"])
    with pytest.raises(ValueError, match="column 'when' should hold numbers, it holds dates"):
        PriorNetworkClassifier(epochs=1).fit(frame.assign(when=pandas.date_range("2020", periods=120)), blobs[1])
    with pytest.raises(ValueError, match="one column 'a', found 2"):
        PriorNetworkClassifier(epochs=1).fit(frame.set_axis(["a", "a"], axis=1), blobs[1])


def test_rows_that_are_all_the_same_are_refused(blobs):
    with pytest.raises(ValueError, match="PriorNetworkClassifier: the inputs should differ, found 120 equal rows"):
        PriorNetworkClassifier(epochs=1, device="cpu").fit(np.ones((120, 3)), blobs[1])
