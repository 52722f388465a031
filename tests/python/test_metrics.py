import math
import re

import numpy as np
import pytest
import torch

import priornet
from priornet import metrics

sklearn_metrics = pytest.importorskip("sklearn.metrics")


@pytest.fixture
def scores():
    random = np.random.default_rng(2)
    return random.normal(1, 1, 300), np.round(random.normal(0, 1, 500), 1)


@pytest.fixture
def predictions():
    """Probabilities of 3 classes that are surer of themselves than they should be, and labels."""
    random = np.random.default_rng(4)
    logits = random.normal(0, 2, (400, 3))
    labels = (logits + random.gumbel(size=(400, 3))).argmax(1)
    return torch.softmax(2 * torch.from_numpy(logits), 1), torch.from_numpy(labels)


def test_detection_agrees_with_scikit_learn(scores):
    positive, negative = scores
    labels, values = np.repeat([1, 0], [300, 500]), np.concatenate(scores)
    found = priornet.detect(positive, negative)
    assert found.auroc.value == pytest.approx(sklearn_metrics.roc_auc_score(labels, values), abs=1e-12)
    assert found.average_precision.value == pytest.approx(
        sklearn_metrics.average_precision_score(labels, values), abs=1e-12
    )
    assert (found.positives, found.negatives, found.prevalence) == (300, 500, 300 / 800)
    for estimate in found[:4]:
        assert estimate.low < estimate.value < estimate.high


def test_the_tool_gives_the_same_intervals(scores, tool, tmp_path):
    for name, values in zip(("positive", "negative"), scores):
        np.save(tmp_path / f"{name}.npy", values)
    said = tool("detect", "--positive", tmp_path / "positive.npy", "--negative", tmp_path / "negative.npy", "--json")
    numbers = set(re.findall(r"-?[\d.]+(?:e-?\d+)?", said))
    for estimate in priornet.detect(*scores)[:4]:
        assert {repr(number) for number in estimate} <= numbers


def test_a_confidence_is_turned_round(scores):
    positive, negative = scores
    assert priornet.detect(-positive, -negative, confidence=True) == priornet.detect(positive, negative)


def test_measures_are_judged_in_their_own_direction():
    inside = priornet.measures(np.random.default_rng(1).normal(0, 4, (50, 3)))
    outside = priornet.measures(np.random.default_rng(2).normal(-3, 0.1, (50, 3)))
    found = priornet.detect(outside, inside)
    assert "prediction" not in found
    assert found["max_prob"] == priornet.detect(outside.max_prob, inside.max_prob, confidence=True)
    assert found["differential_entropy"].auroc.value == priornet.detect(
        outside.differential_entropy, inside.differential_entropy
    ).auroc.value
    assert found["entropy"].auroc.value > 0.9 and found["max_prob"].auroc.value > 0.9


def test_tensors_of_any_shape_and_dtype_are_scores(scores, device):
    positive, negative = (torch.from_numpy(part).reshape(-1, 10).to(device) for part in scores)
    assert priornet.detect(positive, negative) == priornet.detect(*scores)
    assert priornet.detect(positive.float(), negative.float()).auroc.value == pytest.approx(
        priornet.detect(*scores).auroc.value, abs=1e-3
    )


def test_a_paired_test_tells_a_better_score_from_a_worse_one(scores):
    positive, negative = scores
    noise = np.random.default_rng(9)
    worse = (positive + noise.normal(0, 3, 300), negative + noise.normal(0, 3, 500))
    found = metrics.compare(scores, worse)
    assert found.first > found.second and found.p_value < 1e-3
    assert metrics.compare(scores, scores).p_value == pytest.approx(1)


def test_a_paired_test_says_what_it_cannot_test():
    found = metrics.compare(([3.0, 4.0], [1.0, 2.0]), ([1.0, 1.0], [1.0, 1.0]))
    assert (found.first, found.second, found.difference_variance) == (1, 0.5, 0)
    assert math.isnan(found.z) and math.isnan(found.p_value)


def test_curves_end_at_their_corners(scores):
    roc = metrics.roc_curve(*scores)
    assert (roc.x[0], roc.y[0], roc.x[-1], roc.y[-1]) == (0, 0, 1, 1)
    area = torch.trapezoid(*map(torch.from_numpy, (roc.y, roc.x))).item()
    assert area == pytest.approx(priornet.detect(*scores).auroc.value, abs=1e-12)
    assert metrics.precision_recall_curve(*scores).x[-1] == 1


def test_arrays_give_arrays_and_tensors_give_tensors(scores, predictions):
    pairs = [(metrics.roc_curve, scores), (metrics.precision_recall_curve, scores)]
    pairs += [(metrics.reliability, predictions), (metrics.risk_coverage, (scores[0], scores[0] > 1))]
    for function, given in pairs:
        tensors = [torch.as_tensor(values) for values in given]
        for kind, found in ((torch.Tensor, function(*tensors)), (np.ndarray, function(*(part.numpy() for part in tensors)))):
            assert isinstance(found[0], kind) and isinstance(found[1], kind), function


def test_calibration_metrics_agree_with_their_formulas(predictions):
    probabilities, labels = predictions
    error = (probabilities.argmax(1) != labels).double().mean().item()
    assert metrics.error_rate(probabilities, labels) == pytest.approx(error)
    assert metrics.negative_log_likelihood(probabilities, labels) == pytest.approx(
        sklearn_metrics.log_loss(labels.numpy(), probabilities.numpy())
    )
    hit = torch.nn.functional.one_hot(labels, 3)
    assert metrics.brier_score(probabilities, labels) == pytest.approx(((probabilities - hit) ** 2).sum(1).mean().item())
    for equal_count in (False, True):
        bins = metrics.reliability(probabilities, labels, bins=10, equal_count=equal_count)
        assert bins.rows.sum() == 400
        expected = (bins.rows * (bins.confidence - bins.accuracy).abs()).sum().item() / 400
        found = metrics.calibration_error(probabilities, labels, bins=10, equal_count=equal_count)
        assert found == pytest.approx(expected)


def test_rejecting_errors_first_is_perfect(predictions):
    probabilities, labels = predictions
    wrong = (probabilities.argmax(1) != labels).double()
    assert metrics.prediction_rejection_ratio(wrong, wrong) == pytest.approx(1)
    assert metrics.risk_coverage(wrong, wrong).excess == pytest.approx(0)
    curve = metrics.risk_coverage(-probabilities.max(1).values, wrong)
    assert curve.risk[-1].item() == pytest.approx(wrong.mean().item())
    assert 0 < curve.excess < curve.area


def test_a_rising_function_has_the_same_ranks(scores):
    assert metrics.spearman(scores[0], scores[0] ** 3).value == pytest.approx(1)


def test_a_constant_has_no_rank_correlation():
    assert all(np.isnan(number) for number in metrics.spearman([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))


def test_a_measure_that_one_set_lacks_is_left_out():
    logits = np.random.default_rng(1).normal(0, 2, (2, 30, 3))
    whole, fast = priornet.measures(logits, samples=4), priornet.measures(logits[:, ::-1], samples=0)
    for pair in ((whole, fast), (fast, whole), (fast, fast)):
        assert "mutual_information_mu_theta" not in priornet.detect(*pair, replicates=2)
    assert "mutual_information_mu_theta" in priornet.detect(whole, whole, replicates=2)


@pytest.mark.parametrize(
    "metric", [metrics.calibration_error, metrics.negative_log_likelihood, metrics.brier_score, metrics.reliability]
)
def test_logits_in_the_place_of_probabilities_are_refused(metric, predictions):
    probabilities, labels = predictions
    with pytest.raises(ValueError, match=r"should be given probabilities.* row 0 .*these look like logits: apply softmax"):
        metric(probabilities.log(), labels)
    with pytest.raises(ValueError, match=r"with a sum of 1 per row, found sum 0.9 "):
        metric(probabilities.numpy() * 0.9, labels.numpy())
    metric(probabilities.float(), labels)
    metric(probabilities.half().float(), labels)


def test_results_print_with_their_intervals(scores):
    text = str(priornet.detect(*scores))
    assert text.startswith("AUROC 0.") and "300 positives, 500 negatives" in text


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: priornet.detect([], [1.0]), "positive"),
        (lambda: priornet.detect([1.0], [float("nan")]), "NaN|nan"),
        (lambda: priornet.detect([1.0], [2.0], replicates=1), "at least 2"),
        (lambda: priornet.detect([1.0], [2.0], seed=2**64), "detect: seed should be"),
        (lambda: priornet.metrics.spearman([1.0, 2.0], [2.0, 1.0], seed=2**63), "spearman: seed should be"),
        (lambda: metrics.error_rate(torch.ones(2, 2) / 2, torch.tensor([0])), "labels should be"),
        (lambda: metrics.risk_coverage([1.0], [1.0, 0.0]), ""),
        (lambda: metrics.spearman([1.0], [1.0]), "2"),
    ],
)
def test_a_wrong_argument_is_a_value_error_with_the_library_s_message(call, message):
    with pytest.raises(ValueError, match=message):
        call()
