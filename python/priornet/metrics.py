"""How well scores detect, and how far probabilities can be trusted. Tensors or NumPy arrays in, numbers out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import torch

from ._arrays import as_tensor, check_probabilities, like, seed_of
from ._library import ops
from ._measure_table import measure_table

if TYPE_CHECKING:
    from typing import Union

    from ._arrays import ArrayLike
    from ._measure_types import DirichletEnsembleMeasures, DirichletMeasures, EnsembleMeasures, SoftmaxMeasures

    Measures = Union[
        DirichletEnsembleMeasures[Any], DirichletMeasures[Any], EnsembleMeasures[Any], SoftmaxMeasures[Any]
    ]


class Estimate(NamedTuple):
    """A metric with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


class Detection(NamedTuple):
    """How well a score tells a positive from a negative set of inputs."""

    auroc: Estimate  #: interval after DeLong; the others' are bootstrapped
    aupr: Estimate  #: area under the precision-recall curve, by trapezoids
    average_precision: Estimate  #: the same by steps
    fpr95: Estimate  #: the smallest FPR with TPR >= 0.95
    positives: int
    negatives: int
    prevalence: float
    replicates: int  #: of the bootstrap

    def __str__(self) -> str:
        return (
            f"AUROC {self.auroc}, AUPR {self.aupr}, FPR at 95 % TPR {self.fpr95}; "
            f"{self.positives} positives, {self.negatives} negatives"
        )


@overload
def detect(
    positive: ArrayLike, negative: ArrayLike, *, confidence: bool = ..., replicates: int = ..., seed: int = ...
) -> Detection: ...
@overload
def detect(
    positive: Measures, negative: Measures, *, confidence: bool = ..., replicates: int = ..., seed: int = ...
) -> dict[str, Detection]: ...


def detect(
    positive: Any, negative: Any, *, confidence: bool = False, replicates: int = 0, seed: int = 0
) -> Detection | dict[str, Detection]:
    """How well a score detects the positive inputs, for example those out of distribution, with 95 % intervals.

    positive, negative: the scores of the two sets, any shape; the higher, the more they speak for the positive set
        (with confidence=True, the lower). Or what measures(...) gave for each set: then every measure is judged, in its
        own direction, and a dict by name comes back, without measures that are NaN throughout in a set.
    replicates: of the bootstrap; 0 stands for 1000, or 200 for more than a million scores. The same seed gives the same
        intervals. ValueError for an empty set or a NaN.
    """
    if hasattr(positive, "_fields"):
        if getattr(negative, "_fields", None) != positive._fields:
            raise ValueError("detect: both sets should have the same measures")
        found: dict[str, Detection] = {}
        for name, inside, outside in zip(positive._fields, positive, negative):
            measure = measure_table[name]
            left_out = any(bool(torch.as_tensor(values).isnan().all()) for values in (inside, outside))
            if measure.is_score and not left_out:
                found[name] = detect(
                    inside, outside, confidence=measure.is_confidence, replicates=replicates, seed=seed
                )
        return found
    seed = seed_of(seed, "detect")
    sign = -1.0 if confidence else 1.0
    numbers = ops.detect(sign * as_tensor(positive).double(), sign * as_tensor(negative).double(), replicates, seed)
    auroc, aupr, average_precision, fpr95 = (Estimate(*numbers[i : i + 3]) for i in range(0, 12, 3))
    positives, negatives, prevalence, used = numbers[12:]
    return Detection(
        auroc, aupr, average_precision, fpr95, int(positives), int(negatives), prevalence, int(used)
    )


class Comparison(NamedTuple):
    """Two scores of the same inputs."""

    first: float  #: AUROC
    second: float
    first_variance: float
    second_variance: float
    covariance: float
    difference_variance: float  #: of first - second
    z: float  #: (first - second) over its standard error
    p_value: float  #: two-sided, of the hypothesis that both AUROCs are equal; NaN if they differ without any variance


def compare(first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]) -> Comparison:
    """DeLong's paired test of two scores, each as (positive, negative) of the same inputs in the same order."""
    return Comparison(*ops.compare_scores(*(as_tensor(scores) for scores in (*first, *second))))


class Curve(NamedTuple):
    """Points to draw, float64: tensors on the CPU, or NumPy arrays if the scores were no tensors."""

    x: Any
    y: Any


def roc_curve(positive: ArrayLike, negative: ArrayLike) -> Curve:
    """FPR and TPR of every threshold, from (0, 0) to (1, 1)."""
    return Curve(*(like(positive, values) for values in ops.roc_curve(as_tensor(positive), as_tensor(negative))))


def precision_recall_curve(positive: ArrayLike, negative: ArrayLike) -> Curve:
    """Recall and precision of every threshold."""
    found = ops.precision_recall_curve(as_tensor(positive), as_tensor(negative))
    return Curve(*(like(positive, values) for values in found))


def _checked(probabilities: ArrayLike, function: str) -> torch.Tensor:
    tensor = as_tensor(probabilities)
    check_probabilities(tensor, function)
    return tensor


def error_rate(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """The share of rows whose most probable class is not the label. probabilities: [N, K]; labels: int64 [N]."""
    return float(ops.error_rate(as_tensor(probabilities), as_tensor(labels)))


def negative_log_likelihood(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Mean of -ln p(label), nats. ValueError for rows that do not sum to 1, such as logits; so do the functions below."""
    return float(ops.negative_log_likelihood(_checked(probabilities, "negative_log_likelihood"), as_tensor(labels)))


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Mean of the sum over classes of (p_c - [c is the label])^2, in [0, 2]."""
    return float(ops.brier_score(_checked(probabilities, "brier_score"), as_tensor(labels)))


def calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 15, equal_count: bool = False
) -> float:
    """Expected calibration error over bins of equal width (the usual ECE), or of equally many rows."""
    given = _checked(probabilities, "calibration_error")
    return float(ops.calibration_error(given, as_tensor(labels), equal_count, bins))


class Reliability(NamedTuple):
    """The bars of a reliability diagram, from low to high confidence; empty bins are left out. Tensors on the CPU, or NumPy
    arrays if the probabilities were no tensor.
    """

    rows: Any
    confidence: Any  #: mean of the largest probability
    accuracy: Any  #: share that is right


def reliability(
    probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 15, equal_count: bool = False
) -> Reliability:
    """The bins that calibration_error sums over."""
    found = ops.reliability(_checked(probabilities, "reliability"), as_tensor(labels), equal_count, bins)
    return Reliability(*(like(probabilities, values) for values in found))


class RiskCoverage(NamedTuple):
    """What rejecting the most uncertain predictions gains. Tensors on the CPU, or NumPy arrays if the scores were no tensor."""

    coverage: Any  #: share that is kept, from 1 / N to 1
    risk: Any  #: mean error of what is kept
    area: float  #: mean risk over the coverages (AURC); 0 is perfect
    excess: float  #: area less that of an order which rejects every error first (E-AURC)


def risk_coverage(uncertainty: ArrayLike, error: ArrayLike) -> RiskCoverage:
    """error: 1 for a wrong prediction and 0 for a right one, or any loss >= 0."""
    coverage, risk, area, excess = ops.risk_coverage(as_tensor(uncertainty), as_tensor(error))
    return RiskCoverage(like(uncertainty, coverage), like(uncertainty, risk), area, excess)


def prediction_rejection_ratio(uncertainty: ArrayLike, error: ArrayLike) -> float:
    """1: every error is rejected first; 0: as good as chance; NaN if there are no errors, or only errors."""
    return float(ops.prediction_rejection_ratio(as_tensor(uncertainty), as_tensor(error)))


def spearman(first: ArrayLike, second: ArrayLike, *, replicates: int = 0, seed: int = 0) -> Estimate:
    """Spearman's rank correlation of two scores of the same rows, with a bootstrapped interval; NaN if one is constant."""
    found = Estimate(*ops.spearman(as_tensor(first), as_tensor(second), replicates, seed_of(seed, "spearman")))
    return Estimate(math.nan, math.nan, math.nan) if math.isnan(found.value) else found
