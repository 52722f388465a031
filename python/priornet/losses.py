"""Losses of Prior Networks and their relatives, as functions and as modules.

The methods are those of configurations (`priornet train`): `methods` lists them with their settings, which are keyword
arguments here. A loss and its gradient come from one fused pass in C++; the gradient can be taken once.
"""

from __future__ import annotations

import inspect
import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import torch

from ._arrays import as_logits, as_tensor, check_probabilities
from ._library import is_compiling, ops

if TYPE_CHECKING:
    from ._arrays import ArrayLike


class Setting(NamedTuple):
    """A setting of a method."""

    value: float  #: the default
    what: str  #: its meaning


class Method(NamedTuple):
    """A training method."""

    name: str
    summary: str
    needs_outside: bool  #: is trained on out-of-distribution inputs as well
    needs_teacher: bool  #: learns from the probabilities of another model
    gives_dirichlet: bool  #: its logits are those of Dirichlets, alpha = exp(logits), not only of a softmax
    settings: dict[str, Setting]


def _method(row: Any) -> Method:
    name, summary, needs_outside, needs_teacher, gives_dirichlet, settings = row
    by_key = {key: Setting(value, what) for key, value, what in json.loads(settings)}
    return Method(name, summary, needs_outside, needs_teacher, gives_dirichlet, by_key)


#: All methods, by name.
methods: dict[str, Method] = {row[0]: _method(row) for row in ops.methods()}

_ALPHA0 = methods["dpn"].settings["alpha0"].value
_EPSILON = methods["dpn"].settings["epsilon"].value


def _prior_network(reverse: bool) -> str:
    if not isinstance(reverse, bool):
        raise ValueError(f"reverse should be True or False, found {reverse!r}; settings are given by name: alpha0=100.0")
    return "dpn-reverse" if reverse else "dpn"


class Target(NamedTuple):
    """The Dirichlets that the rows of a batch should have."""

    kind: str
    values: Optional[torch.Tensor]
    alpha0: float
    epsilon: float

    def concentrations(self, logits: torch.Tensor) -> torch.Tensor:
        """alpha [N, K] for logits [N, K]: for inspection, the losses do not build it."""
        alpha: torch.Tensor = ops.concentrations(as_logits(logits), self.values, self.kind, self.alpha0, self.epsilon)
        return alpha


def _labels_of(labels: ArrayLike, logits: Optional[torch.Tensor] = None) -> torch.Tensor:
    """A tensor unchanged; NumPy arrays and lists as one, where the logits are."""
    if isinstance(labels, torch.Tensor):
        return labels
    return as_tensor(labels) if logits is None else as_tensor(labels).to(logits.device)


def _probabilities_of(probabilities: ArrayLike, function: str) -> torch.Tensor:
    """As logits are taken. Their values are checked on the CPU: on a GPU every step would wait for it."""
    tensor = as_logits(probabilities)
    if not is_compiling() and tensor.device.type == "cpu":
        check_probabilities(tensor, function)
    return tensor


def smoothed_labels(labels: ArrayLike, alpha0: float = _ALPHA0, epsilon: float = _EPSILON) -> Target:
    """alpha_c = alpha0 (1 - (K - 1) epsilon) for the label, alpha0 epsilon elsewhere. labels: int64 [N]."""
    return Target("labels", _labels_of(labels), alpha0, epsilon)


def flat() -> Target:
    """alpha_c = 1: every categorical equally likely. The target of inputs outside the training distribution."""
    return Target("flat", None, _ALPHA0, _EPSILON)


def teacher(probabilities: ArrayLike, alpha0: float = _ALPHA0) -> Target:
    """alpha_c = alpha0 pi_c. probabilities pi: [N, K], at least 0, rows sum to 1, the dtype of the logits.

    A pi_c below 1.2e-7 counts as 1.2e-7: a certain teacher rounds to 0, which no Dirichlet can have as a target.
    """
    return Target("teacher", _probabilities_of(probabilities, "teacher"), alpha0, _EPSILON)


def _divergence(logits: ArrayLike, target: Union[Target, ArrayLike], reverse: bool) -> torch.Tensor:
    logits = as_logits(logits)
    if not isinstance(target, tuple):
        target = smoothed_labels(_labels_of(target, logits))
    kind, values, alpha0, epsilon = target
    loss: torch.Tensor = ops.divergence(logits, values, kind, reverse, alpha0, epsilon)[0]
    return loss


def forward_kl(logits: ArrayLike, target: Union[Target, ArrayLike]) -> torch.Tensor:
    """KL[target || Dir(exp logits)] of each row, [N] in nats: the paper's loss.

    logits: [N, K], float32 or float64. target: smoothed_labels(...), flat(), teacher(...), or labels, int64 [N], which
    stand for smoothed_labels(labels). Differentiable in the logits, once.
    """
    return _divergence(logits, target, False)


def reverse_kl(logits: ArrayLike, target: Union[Target, ArrayLike]) -> torch.Tensor:
    """KL[Dir(exp logits) || target] of each row, [N] in nats; arguments as in forward_kl."""
    return _divergence(logits, target, True)


class Loss(NamedTuple):
    """The loss of a batch: total is differentiable, the others are its parts, unweighted and without a graph."""

    total: torch.Tensor
    inside: torch.Tensor  #: mean divergence of the rows in distribution
    outside: torch.Tensor  #: mean divergence, or loss, of the rows outside
    cross_entropy: torch.Tensor  #: mean cross-entropy of the rows in distribution


def _settings_text(method: str, settings: dict[str, float], prior: float = 1.0) -> str:
    # Plain text work, which torch.compile can trace; keys are known to be words once the method took them.
    text = "{" + ", ".join(f'"{key}": {float(value)!r}' for key, value in settings.items()) + "}"
    if not is_compiling():
        for key, value in settings.items():
            if not key.isidentifier() or not math.isfinite(value):
                raise ValueError(f"{method}: {key} should be a setting with a finite value, found {value!r}")
        ops.check_method(method, text, prior)
    return text


def _batch(logits: torch.Tensor, outside_logits: Optional[torch.Tensor]) -> torch.Tensor:
    logits = as_logits(logits)
    if outside_logits is None:
        return logits
    outside = as_logits(outside_logits)
    if logits.dim() != 2 or outside.dim() != 2 or outside.shape[1] != logits.shape[1]:
        found = f"{list(outside.shape)} beside logits {list(logits.shape)}"
        raise ValueError(f"outside_logits should be [M, K] with the K classes of the logits [N, K], found {found}")
    return torch.cat([logits, outside])


def method_loss(
    method: str,
    logits: torch.Tensor,
    labels: Optional[ArrayLike] = None,
    outside_logits: Optional[torch.Tensor] = None,
    *,
    probabilities: Optional[ArrayLike] = None,
    prior: float = 1.0,
    **settings: float,
) -> Loss:
    """The loss of one batch by any method of `methods`.

    logits: [N + M, K]: the first N rows are in distribution and have labels, int64 [N], or a teacher's probabilities
    [N, K]; the M others are outside. Or only the first N, and the others apart as outside_logits [M, K]. Either part
    may be empty; its mean is then 0. prior, of "evidential" alone: what the network adds to every concentration,
    logits = ln(prior + evidence).
    """
    return _loss(method, _batch(logits, outside_logits), labels, probabilities, settings, prior)


def _loss(
    method: str,
    batch: torch.Tensor,
    labels: Optional[ArrayLike],
    probabilities: Optional[ArrayLike],
    settings: dict[str, float],
    prior: float = 1.0,
) -> Loss:
    return _of_text(method, batch, labels, probabilities, _settings_text(method, settings, prior), prior)


def _of_text(
    method: str,
    batch: torch.Tensor,
    labels: Optional[ArrayLike],
    probabilities: Optional[ArrayLike],
    settings: str,
    prior: float,
) -> Loss:
    given = None if labels is None else _labels_of(labels, batch)
    taught = None if probabilities is None else _probabilities_of(probabilities, method)
    return Loss(*ops.method_loss(batch, given, taught, method, settings, prior))


def prior_network_loss(
    logits: torch.Tensor,
    labels: ArrayLike,
    outside_logits: Optional[torch.Tensor] = None,
    *,
    reverse: bool = False,
    **settings: float,
) -> Loss:
    """The multi-task loss of Prior Networks: KL to a sharp Dirichlet in distribution, and to a flat one outside.

    Rows as of method_loss. reverse: the reverse KL (Malinin & Gales, 2019) instead of the paper's forward KL.
    """
    return _loss(_prior_network(reverse), _batch(logits, outside_logits), labels, None, settings)


def outlier_exposure_loss(
    logits: torch.Tensor, labels: ArrayLike, outside_logits: Optional[torch.Tensor] = None, **settings: float
) -> Loss:
    """Cross-entropy, and cross-entropy to the uniform categorical outside (Hendrycks et al., 2019). Rows as in method_loss."""
    return _loss("outlier-exposure", _batch(logits, outside_logits), labels, None, settings)


def distillation_loss(
    logits: torch.Tensor, probabilities: ArrayLike, outside_logits: Optional[torch.Tensor] = None, **settings: float
) -> Loss:
    """Forward KL from alpha0 times a teacher's probabilities [N, K], and from the flat Dirichlet outside.

    Probabilities below 1.2e-7 count as 1.2e-7, as in teacher().
    """
    return _loss("distil", _batch(logits, outside_logits), None, probabilities, settings)


class MethodLoss(torch.nn.Module):
    """The loss of any method of `methods` as a module: its settings are chosen, and checked, once.

    module(logits, labels, outside_logits=None) gives the total, a scalar; `module.parts(...)` all of it. A method that
    learns from a teacher takes probabilities [N, K] instead of labels. prior as in method_loss.
    """

    def __init__(self, method: str, *, prior: float = 1.0, **settings: float) -> None:
        super().__init__()
        self.method = method
        self.settings = dict(settings)
        self.prior = float(prior)
        self._text = _settings_text(method, settings, self.prior)
        self._teacher = methods[method].needs_teacher

    def parts(
        self, logits: torch.Tensor, targets: ArrayLike, outside_logits: Optional[torch.Tensor] = None
    ) -> Loss:
        """The loss with its parts."""
        labels, probabilities = (None, targets) if self._teacher else (targets, None)
        return _of_text(self.method, _batch(logits, outside_logits), labels, probabilities, self._text, self.prior)

    def forward(
        self, logits: torch.Tensor, targets: ArrayLike, outside_logits: Optional[torch.Tensor] = None
    ) -> torch.Tensor:
        return self.parts(logits, targets, outside_logits).total

    def extra_repr(self) -> str:
        chosen = self.settings if self.prior == 1.0 else {"prior": self.prior, **self.settings}
        return ", ".join([repr(self.method)] + [f"{key}={value:g}" for key, value in chosen.items()])


class PriorNetworkLoss(MethodLoss):
    """prior_network_loss as a module."""

    def __init__(self, reverse: bool = False, **settings: float) -> None:
        super().__init__(_prior_network(reverse), **settings)


class OutlierExposureLoss(MethodLoss):
    """outlier_exposure_loss as a module."""

    def __init__(self, **settings: float) -> None:
        super().__init__("outlier-exposure", **settings)


class DistillationLoss(MethodLoss):
    """distillation_loss as a module: module(logits, probabilities, outside_logits=None)."""

    def __init__(self, **settings: float) -> None:
        super().__init__("distil", **settings)


def _document(documented: Any, method: str) -> None:
    """Adds the settings of a method, from the table, to the text of help()."""
    lines = [f"    {key}: {setting.what}; {setting.value:g}" for key, setting in methods[method].settings.items()]
    documented.__doc__ = f"{inspect.cleandoc(documented.__doc__ or '')}\n\nSettings:\n" + "\n".join(lines)


for _documented, _name in (
    (prior_network_loss, "dpn"),
    (PriorNetworkLoss, "dpn"),
    (outlier_exposure_loss, "outlier-exposure"),
    (OutlierExposureLoss, "outlier-exposure"),
    (distillation_loss, "distil"),
    (DistillationLoss, "distil"),
):
    _document(_documented, _name)
