"""priornet tells how sure a classifier is and why: measures, losses and training of Dirichlet Prior Networks.

    import priornet

    measures = priornet.measures(logits)                       # [N, K] of a Prior Network, or [M, N, K] of an ensemble
    loss = priornet.PriorNetworkLoss(reverse=True)             # inside your own training loop
    priornet.detect(out_of_distribution, in_distribution)      # AUROC and its relatives, with intervals
    priornet.PriorNetworkClassifier().fit(X, y).uncertainty(X) # as in scikit-learn
    priornet.train("config.toml", out="runs/mine")             # the loop of `priornet train`
    model = priornet.calibrate(network, loader, rate=0.05)     # any PyTorch network: when to trust its answers
    model.predict(images).verdict                              # accept, ambiguous, unfamiliar, undecided
    priornet.evaluate(model, loader, ood={"noise": noise})     # with intervals; .report("page.html")

Nats throughout. docs/python.md is the manual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import losses, metrics
from ._library import ops as _ops
from ._measure_table import Measure, measure_table
from ._measure_types import DirichletEnsembleMeasures, DirichletMeasures, EnsembleMeasures, SoftmaxMeasures
from ._measures import kl_divergence, log_density, measures, sample
from .calibration import calibrate
from .evaluation import Evaluation, evaluate
from .losses import (
    DistillationLoss,
    MethodLoss,
    OutlierExposureLoss,
    PriorNetworkLoss,
    distillation_loss,
    flat,
    forward_kl,
    method_loss,
    outlier_exposure_loss,
    prior_network_loss,
    reverse_kl,
    smoothed_labels,
    teacher,
)
from .metrics import Detection, Estimate, detect
from .model import Model, Predictions, export, load
from .simplex import Simplex, simplex
from .training import Run, train

if TYPE_CHECKING:
    from .classifier import PriorNetworkClassifier

__version__: str = _ops.version()

__all__ = [
    "Detection",
    "DirichletEnsembleMeasures",
    "DirichletMeasures",
    "DistillationLoss",
    "EnsembleMeasures",
    "Estimate",
    "Evaluation",
    "Measure",
    "MethodLoss",
    "Model",
    "OutlierExposureLoss",
    "Predictions",
    "PriorNetworkClassifier",
    "PriorNetworkLoss",
    "Run",
    "Simplex",
    "SoftmaxMeasures",
    "calibrate",
    "detect",
    "distillation_loss",
    "evaluate",
    "export",
    "flat",
    "forward_kl",
    "kl_divergence",
    "load",
    "log_density",
    "losses",
    "measure_table",
    "measures",
    "method_loss",
    "metrics",
    "outlier_exposure_loss",
    "prior_network_loss",
    "reverse_kl",
    "sample",
    "simplex",
    "smoothed_labels",
    "teacher",
    "train",
]


def __getattr__(name: str) -> object:
    # scikit-learn takes a second to import, so it is imported only for the classifier.
    if name == "PriorNetworkClassifier":
        from .classifier import PriorNetworkClassifier

        return PriorNetworkClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
