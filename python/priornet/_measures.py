"""Measures of uncertainty, and functions of Dirichlets. Everywhere alpha = exp(logits), which the functions compute themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union, overload

import torch

from ._arrays import as_logits, like, seed_of
from ._library import ops
from ._measure_types import DirichletEnsembleMeasures, DirichletMeasures, EnsembleMeasures, SoftmaxMeasures

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import NDArray

    from ._arrays import ArrayLike

    Array = NDArray[Any]
    Dirichlet = Union[DirichletMeasures[torch.Tensor], DirichletEnsembleMeasures[torch.Tensor]]
    DirichletArrays = Union[DirichletMeasures[Array], DirichletEnsembleMeasures[Array]]
    Softmax = Union[SoftmaxMeasures[torch.Tensor], EnsembleMeasures[torch.Tensor]]
    SoftmaxArrays = Union[SoftmaxMeasures[Array], EnsembleMeasures[Array]]


@overload
def measures(
    logits: torch.Tensor, kind: Literal["dirichlet"] = ..., *, samples: int = ..., seed: int = ...
) -> Dirichlet: ...
@overload
def measures(logits: torch.Tensor, kind: Literal["softmax"], *, samples: int = ..., seed: int = ...) -> Softmax: ...
@overload
def measures(
    logits: Array | list[Any], kind: Literal["dirichlet"] = ..., *, samples: int = ..., seed: int = ...
) -> DirichletArrays: ...
@overload
def measures(
    logits: Array | list[Any], kind: Literal["softmax"], *, samples: int = ..., seed: int = ...
) -> SoftmaxArrays: ...


def measures(logits: ArrayLike, kind: str = "dirichlet", *, samples: int = 64, seed: int = 0) -> Any:
    """Every measure of uncertainty of each input, from one pass.

    logits: [N, K] of one model, or [M, N, K] of an ensemble of M members; K >= 2, float32 or float64 (half precision
        becomes float32), a tensor on any device or a NumPy array.
    kind: "dirichlet" for a Prior Network, alpha = exp(logits); or "softmax" for any other classifier.
    samples, seed: draws per member for the estimate of I[mu, theta], which only an ensemble of Dirichlets has; with 0
        it is left out, as NaN, which is much faster.

    Returns a named tuple of [N] tensors on the same device (NumPy arrays for a NumPy array), in nats: DirichletMeasures,
    DirichletEnsembleMeasures, SoftmaxMeasures or EnsembleMeasures. They are differentiable in the logits, once; only
    the prediction and the estimate of I[mu, theta] are not. Nothing overflows: a value beyond the range of the dtype is
    its largest finite number. ValueError for another shape or dtype.

    >>> priornet.measures(torch.zeros(1, 3)).differential_entropy  # flat: -ln Gamma(3)
    tensor([-0.6931])
    """
    if kind not in ("dirichlet", "softmax"):
        raise ValueError(f"measures: kind should be 'dirichlet' or 'softmax', found {kind!r}")
    seed = seed_of(seed, "measures")
    tensor = as_logits(logits)
    *scores, prediction = ops.measures(tensor, kind == "dirichlet", samples, seed)
    values = (prediction, *scores)
    ensemble = tensor.dim() == 3
    made: Any
    if kind == "dirichlet":
        made = DirichletEnsembleMeasures if ensemble else DirichletMeasures
    else:
        made = EnsembleMeasures if ensemble else SoftmaxMeasures
    if isinstance(logits, torch.Tensor):
        return made(*values)
    return made(*(like(logits, value) for value in values))


@overload
def kl_divergence(p_logits: torch.Tensor, q_logits: torch.Tensor) -> torch.Tensor: ...
@overload
def kl_divergence(p_logits: Array, q_logits: Array) -> Array: ...


def kl_divergence(p_logits: ArrayLike, q_logits: ArrayLike) -> Any:
    """KL[Dir(exp p) || Dir(exp q)] of each row, [N] in nats; p and q [N, K] of one dtype. Differentiable in both, once."""
    return like(p_logits, ops.kl_divergence(as_logits(p_logits), as_logits(q_logits)))


@overload
def log_density(logits: torch.Tensor, log_mu: torch.Tensor) -> torch.Tensor: ...
@overload
def log_density(logits: Array, log_mu: Array) -> Array: ...


def log_density(logits: ArrayLike, log_mu: ArrayLike) -> Any:
    """ln Dir(mu; exp logits) of each row, from ln mu: [N] for log_mu [N, K], [S, N] for [S, N, K]. Differentiable once."""
    return like(logits, ops.log_density(as_logits(logits), as_logits(log_mu)))


@overload
def sample(logits: torch.Tensor, samples: int = ..., *, seed: int = ...) -> torch.Tensor: ...
@overload
def sample(logits: Array, samples: int = ..., *, seed: int = ...) -> Array: ...


def sample(logits: ArrayLike, samples: int = 1, *, seed: int = 0) -> Any:
    """Categoricals mu ~ Dir(exp logits): [samples, N, K] for logits [N, K]. The same seed gives the same draws."""
    return like(logits, ops.sample(as_logits(logits), samples, seed_of(seed, "sample")))
