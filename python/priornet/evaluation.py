"""How good a model is: its errors, what its scores detect, what it hands back; with intervals and paired tests."""

from __future__ import annotations

import json
import math
import os
import pathlib
import re
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional, Union

from ._arrays import seed_of
from ._background import run_job
from ._display import facts_html
from ._library import classes, with_files
from .metrics import Detection, Estimate
from .model import Model, opened
from .training import Run

if TYPE_CHECKING:
    from ._inputs import Data

    PathLike = Union[str, "os.PathLike[str]"]


class Accuracy(NamedTuple):
    """A model on inputs of its classes."""

    size: int
    errors: int
    error: float  #: share of rows
    nll: float  #: negative log likelihood, nats per row
    brier: float
    ece: float  #: expected calibration error, 15 bins of equal width
    adaptive_ece: float  #: the same over bins of equally many rows


class PairedTest(NamedTuple):
    """One score of two models on the same inputs, by DeLong's test."""

    task: str  #: "misclassification", or the name of the out-of-distribution set
    score: str
    auroc: float
    auroc_against: float
    z: float  #: the difference over its standard error
    p_value: float  #: two-sided; NaN if the AUROCs differ without any variance, which cannot be tested


class Evaluation:
    """What evaluate() found. It prints as sentences; report() writes a page."""

    def __init__(self, job: Any, name: str) -> None:
        self._job = job
        self._name = name
        found: dict[str, Any] = json.loads(job.json())
        inside = found["in_distribution"]
        #: On the in-distribution inputs, before the temperature is applied.
        self.accuracy = Accuracy(**{key: _number(inside[key]) for key in Accuracy._fields})
        #: How well each score tells wrong predictions; empty if all, or none, are wrong.
        self.misclassification = _detections(inside["misclassification"])
        #: By set: how well each score tells its inputs from the in-distribution ones.
        self.ood = {found_set["set"]: _detections(found_set["detection"]) for found_set in found["out_of_distribution"]}
        #: Against another model; empty if none was given.
        self.comparison = [
            PairedTest(row["set"] or "misclassification", row["measure"], *(_number(row[key]) for key in _PAIRED))
            for row in found.get("comparison", {}).get("rows", [])
        ]
        #: For a person who decides about the model: description, key figures, verdicts by cause, warnings; as in JSON.
        self.summary: dict[str, Any] = found.pop("summary")
        #: Everything as `priornet evaluate --json` prints it.
        self.json = found

    def report(self, path: PathLike) -> None:
        """Writes the report, one page of HTML that opens from disk and fetches nothing."""
        with tempfile.TemporaryDirectory(prefix="priornet-") as folder:
            results = pathlib.Path(folder) / f"{_as_file_name(self._name)}.evaluation"
            try:
                with_files(self._job.write_page, str(results), os.fspath(path))
            except RuntimeError as error:
                if "File name too long" not in str(error):
                    raise
                raise ValueError(
                    f"report: the model's name should be at most 255 bytes, found {len(self._name.encode())}: calibrate(..., "
                    "name=...) gives a shorter one"
                ) from None

    def __str__(self) -> str:
        text: str = self._job.text()
        return text.rstrip("\n")

    __repr__ = __str__

    def __reduce__(self) -> Any:
        raise TypeError("an Evaluation cannot be pickled or copied: keep its json, or the page that report() writes")

    def _repr_html_(self) -> str:
        figures = [(figure["value"], f"{figure['label']}. {figure['detail']}") for figure in self.summary["key_figures"]]
        return facts_html(str(self.summary["bottom_line"]), figures)


def _as_file_name(name: str) -> str:
    """A name may be any text, also ".." or a path; the page has its heading from elsewhere."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100]
    return safe if safe.strip(".") else "model"


_PAIRED = ("auroc", "auroc_against", "z", "p_value")


def _number(value: Any) -> Any:
    """JSON has no NaN: it is null."""
    return math.nan if value is None else value


def _detections(rows: Any) -> dict[str, Detection]:
    return {row["measure"]: _detection(row) for row in rows}


def _detection(row: Any) -> Detection:
    def estimate(key: str) -> Estimate:
        return Estimate(*(_number(row[key][part]) for part in Estimate._fields))

    positives, negatives = row["positives"], row["negatives"]
    return Detection(
        estimate("auroc"),
        estimate("aupr"),
        estimate("average_precision"),
        estimate("fpr95"),
        positives,
        negatives,
        positives / (positives + negatives),
        row["replicates"],
    )


def evaluate(
    model: Union[Model, Run],
    data: Data,
    ood: Optional[Mapping[str, Data]] = None,
    *,
    against: Union[Model, Run, None] = None,
    name: str = "test inputs",
    replicates: int = 0,
    seed: int = 0,
    progress: Optional[bool] = None,
) -> Evaluation:
    """Evaluates a model on inputs of its classes and on others, as `priornet evaluate` does.

    model: from calibrate() or load(), or a run.
    data: labelled inputs that it did not learn from, as calibrate() takes them; they are gathered in memory. `name` is
        their name in the report.
    ood: sets by name that it should find unfamiliar.
    against: another model of the same inputs, compared by DeLong's paired test.
    replicates, seed: of the bootstrap; 0 stands for 1000, or 200 above a million scores.
    progress: a bar; None: on a terminal and in a notebook.

    95 % intervals, after DeLong for AUROC and bootstrapped for the others. The interpreter's lock is free meanwhile;
    Ctrl-C raises KeyboardInterrupt. ValueError for inputs or labels that do not fit.
    """
    if ood is not None and not isinstance(ood, Mapping):
        raise ValueError(f"evaluate: ood should be sets by name, {{'noise': inputs}}, found {type(ood).__name__}")
    seed = seed_of(seed, "evaluate")
    asked = opened(model, "evaluate")
    job = classes.Evaluation(asked._model)
    inputs, labels = asked._gathered(data)
    if labels is None:
        raise ValueError("evaluate: data should have labels, found none")
    job.set_inside(name, inputs, labels)
    for title, others in ({} if ood is None else ood).items():
        try:
            outside, _ = asked._gathered(others, labelled=False)
        except ValueError as error:
            raise ValueError(f"{title}: {error}") from None
        job.add_outside(str(title), outside)
    if against is not None:
        job.compare_with(opened(against, "evaluate")._model)
    outcome = run_job(job, replicates, seed, "priornet.evaluate (Python)", progress=progress)
    if outcome.interrupted or not outcome.finished:
        raise KeyboardInterrupt("evaluation was stopped")
    return Evaluation(job, asked.name)
