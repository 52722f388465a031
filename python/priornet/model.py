"""Models in use: a network with thresholds, which says for every input whether to trust the answer, and if not, why."""

from __future__ import annotations

import dataclasses
import html
import json
import math
import os
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional, Union, overload

import torch

from ._arrays import like
from ._display import facts_html, facts_text
from ._inputs import Batch, Inputs, Pixels, batches_of, bytes_of, check_shape, inputs_of, labels_as_numbers
from ._library import device_named, ops, with_files
from .training import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._arrays import ArrayLike
    from ._inputs import Data

    Array = NDArray[Any]
    PathLike = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True, repr=False)
class Predictions:
    """What a model says about N inputs; tensors on the CPU, or NumPy arrays if the input was one.

    verdict: "accept", or why not: "ambiguous" (the input is like several classes), "unfamiliar" (it is not like what
    the network learnt from) or "undecided" (members of an ensemble disagree).
    """

    classes: list[str]  #: names of the predicted classes
    prediction: Any  #: int64 [N]: their numbers
    probability: Any  #: float64 [N]: calibrated, of the predicted class
    probabilities: Any  #: float64 [N, K]: calibrated
    scores: dict[str, Any]  #: float64 [N] each: measures and detectors
    p_value: Any  #: float64 [N]: of the input among the calibration inputs; empty if the model is not calibrated
    verdict: list[str]  #: one per input; empty if the model is not calibrated
    verdict_by: list[str]  #: the score that rejected the input; "" if none did

    def __len__(self) -> int:
        return len(self.prediction)

    @property
    def accepted(self) -> Any:
        """bool [N]: whether the verdict is "accept". ValueError if the model is not calibrated."""
        if len(self.verdict) != len(self):
            raise ValueError("the model has no thresholds, which calibrate() sets: it neither accepts nor rejects")
        return _as(self.prediction, torch.tensor([verdict == "accept" for verdict in self.verdict], dtype=torch.bool))

    def _rows(self) -> tuple[list[str], Iterator[list[str]]]:
        head = ["class", "probability"] + (["p-value", "verdict", "by"] if self.verdict else [])

        def rows() -> Iterator[list[str]]:
            for i in range(min(len(self), 20)):
                row = [self.classes[i], f"{float(self.probability[i]):.4f}"]
                if self.verdict:
                    row += [f"{float(self.p_value[i]):.4f}", self.verdict[i], self.verdict_by[i]]
                yield row

        return head, rows()

    def __repr__(self) -> str:
        head, rows = self._rows()
        cells = [head, *rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        more = [f"... and {len(self) - 20} more"] if len(self) > 20 else []
        return "\n".join([f"Predictions of {len(self)} inputs", *lines, *more])

    def _repr_html_(self) -> str:
        head, rows = self._rows()
        titles = "".join(f"<th>{title}</th>" for title in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        caption = f"Predictions of {len(self)} inputs" + (", the first 20" if len(self) > 20 else "")
        return f"<table><caption>{caption}</caption><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _as(given: Any, result: torch.Tensor) -> Any:
    return result if isinstance(given, torch.Tensor) else result.numpy()


class Watch(NamedTuple):
    """A score that can reject predictions."""

    cause: str  #: the verdict that it leads to
    score: str
    threshold: float  #: above it, it alone rejects; infinite if there were too few inputs for the rate

    def __str__(self) -> str:
        if math.isinf(self.threshold):
            return f"never by {self.score}: too few inputs in the calibration"
        return f"{self.score} above {self.threshold:.4g}"


def _threshold(number: Optional[float]) -> float:
    """JSON has no infinity: it is null."""
    return math.inf if number is None else number


class Thresholds(NamedTuple):
    """The result of calibration."""

    rate: float  #: of inputs like those it was calibrated on, at most this share is rejected, on average
    rate_range: tuple[float, float]  #: the range of the share with this one calibration set, 95 times out of 100
    temperature: float  #: logits are divided by it for probabilities
    calibration_set: str
    calibration_size: int
    per_class: bool
    watches: list[Watch]


class Model:
    """A network with everything needed to use it: how inputs are prepared, class names, detectors, thresholds.

    calibrate() makes one from your own network or from a run; load() opens a file. It never changes. Calls from several
    threads are safe, and run one after the other.
    """

    def __init__(self, model: Any, device: str) -> None:
        self._model = model
        #: The device it computes on.
        self.device = device
        facts = json.loads(model.describe())
        self.name: str = facts["name"]
        self.class_names: list[str] = facts["classes"]
        #: "dirichlet" or "softmax"
        self.kind: str = facts["kind"]
        #: of one input: [C, H, W] for images, [D] for rows of numbers
        self.input_shape: list[int] = facts["shape"]
        self.feature_names: list[str] = facts["feature_names"]
        #: The names of Predictions.scores.
        self.scores: list[str] = facts["scores"]
        #: Where it comes from.
        self.provenance: dict[str, str] = facts["provenance"]
        self.thresholds: Optional[Thresholds] = None
        if facts["points"] is not None:
            points = dict(facts["points"])
            points["rate_range"] = tuple(points["rate_range"])
            points["watches"] = [
                Watch(watch["cause"], watch["score"], _threshold(watch["threshold"])) for watch in points["watches"]
            ]
            self.thresholds = Thresholds(**points)
        self._verdicts: list[str] = facts["verdicts"]
        self._members: int = facts["members"]
        #: Labels of a run are known by their names, as train() took them; those of the user's own network are numbers.
        self._labels_by_name: bool = facts["is_of_run"]
        self._pixels = Pixels(facts["mean"], facts["deviation"]) if facts["mean"] else None

    def predict(self, inputs: ArrayLike) -> Predictions:
        """Class, probabilities, scores, p-value and verdict of each input.

        inputs: images uint8 [N, C, H, W] of any size, or normalised as given to calibrate(); or rows of numbers [N, D],
        also a pandas frame. ValueError for other shapes.
        """
        said = self._model.predict(self._prepared(inputs_of(inputs, self.feature_names)))
        prediction, probability, probabilities, scores, p_value, verdict, spoke = said
        given = inputs if isinstance(inputs, torch.Tensor) else None
        return Predictions(
            [self.class_names[number] for number in prediction.tolist()],
            _as(given, prediction),
            _as(given, probability),
            _as(given, probabilities),
            {name: _as(given, values) for name, values in zip(self.scores, scores)},
            _as(given, p_value),
            [self._verdicts[number] for number in verdict.tolist()],
            [self.scores[place] if place >= 0 else "" for place in spoke.tolist()],
        )

    @overload
    def logits(self, inputs: torch.Tensor) -> torch.Tensor: ...
    @overload
    def logits(self, inputs: Array | list[Any]) -> Array: ...

    def logits(self, inputs: ArrayLike) -> Any:
        """The logits of the network, float64 [N, K], or [M, N, K] of an ensemble: a tensor on the CPU for a tensor, a NumPy
        array for anything else.
        """
        return like(inputs, self._model.logits(self._prepared(inputs_of(inputs, self.feature_names))))

    def save(self, path: PathLike) -> None:
        """Writes a model file (.priornet), which load(), the tool and its server open. It appears whole or not at all.

        A file that holds a PyTorch network is a program: it is opened only if the user allows it (`--allow-torchscript`).
        """
        with_files(self._model.save, os.fspath(path))

    def __reduce__(self) -> tuple[Any, tuple[bytes, str]]:
        """Pickles and copies go by the model file."""
        with tempfile.TemporaryDirectory(prefix="priornet-") as folder:
            path = os.path.join(folder, "model.priornet")
            self.save(path)
            with open(path, "rb") as file:
                return _of_bytes, (file.read(), self.device)

    def _prepared(self, inputs: Inputs) -> torch.Tensor:
        values = inputs.in_order_of(self.feature_names)
        check_shape(values, self.input_shape)
        return bytes_of(values, self._pixels)

    def _labelled(self, batch: Batch) -> tuple[torch.Tensor, Optional[torch.Tensor]]:
        """The inputs as the library takes them, and int64 labels if there are any."""
        if batch.labels is None:
            return self._prepared(batch.inputs), None
        labels = labels_as_numbers(batch.labels, self.class_names, by_name=self._labels_by_name)
        return self._prepared(batch.inputs), labels

    def _gathered(
        self, data: Data, most: Optional[int] = None, *, labelled: bool = True
    ) -> tuple[torch.Tensor, Optional[torch.Tensor]]:
        """All batches in one, or as many as hold `most` inputs; labels of other classes are ignored."""
        inputs: list[torch.Tensor] = []
        labels: list[torch.Tensor] = []
        count = 0
        for batch in batches_of(data, self.feature_names):
            values, numbers = self._labelled(batch if labelled else batch._replace(labels=None))
            inputs.append(values)
            if numbers is not None:
                labels.append(numbers)
            count += len(values)
            if most is not None and count >= most:
                break
        if not inputs:
            raise ValueError("data should have inputs, found none")
        return torch.cat(inputs), torch.cat(labels) if labels else None

    def _facts(self) -> list[tuple[str, str]]:
        shown = ", ".join(self.class_names[:8]) + (", ..." if len(self.class_names) > 8 else "")
        facts = [
            ("name", self.name),
            ("networks", str(self._members)),
            ("inputs", " x ".join(str(size) for size in self.input_shape)),
            ("classes", f"{len(self.class_names)}: {shown}"),
            ("logits", self.kind),
        ]
        if self.thresholds is None:
            return [*facts, ("thresholds", "none")]
        low, high = self.thresholds.rate_range
        promised = f"at most {self.thresholds.rate:.2%} of inputs like those of the calibration ({self.thresholds.calibration_set})"
        facts.append(("rejected", f"{promised}, on average; {low:.2%} to {high:.2%} with this calibration"))
        return facts + [(watch.cause, str(watch)) for watch in self.thresholds.watches]

    def __repr__(self) -> str:
        return facts_text("Model", self._facts())

    def _repr_html_(self) -> str:
        return facts_html("Model", self._facts())


def load(path: PathLike, *, device: Union[str, torch.device] = "auto", allow_torchscript: bool = False) -> Model:
    """Opens a model file, or the folder of a run.

    allow_torchscript: also open a file that holds a PyTorch network. It is a program: using it runs what its author
    wrote. OSError for a file that is not a model, is damaged, or is not allowed.
    """
    place = device_named(device)
    return Model(with_files(ops.open_model, os.fspath(path), place, allow_torchscript), place)


def _of_bytes(content: bytes, device: str) -> Model:
    """Out of a pickle, which may hold programs anyway."""
    there = torch.cuda.is_available() and ops.has_cuda()
    with tempfile.TemporaryDirectory(prefix="priornet-") as folder:
        path = os.path.join(folder, "model.priornet")
        with open(path, "wb") as file:
            file.write(content)
        return load(path, device=device if there else "cpu", allow_torchscript=True)


def opened(model: Union[Model, Run], function: str) -> Model:
    """The model itself, or the model of a run's folder."""
    if isinstance(model, Model):
        return model
    if not isinstance(model, Run):
        raise ValueError(
            f"{function}: the model should come from calibrate(), load() or train(), found {type(model).__name__}"
        )
    if model.folder is None:
        raise ValueError(f"{function}: the run should have a folder, found none: train(..., out=FOLDER)")
    return load(model.folder, device=model.device, allow_torchscript=True)  # it is open already


def export(model: Union[Model, Run], path: PathLike, *, input: str = "bytes") -> dict[str, Any]:
    """Writes an ONNX file (.onnx) or a TorchScript one (.pt) for other runtimes, with preprocessing, measures and verdict
    inside; returns its input and outputs: names, types, shapes with -1 for the number of inputs.

    input: the form of images: "bytes" (uint8) or "unit" (float32 in [0, 1]).
    For networks that priornet trained; export your own with its framework. ValueError for those, OSError for a file
    that cannot be written.
    """
    formats = {".onnx": "onnx", ".pt": "torchscript", ".pth": "torchscript", ".ts": "torchscript"}
    ending = os.path.splitext(os.fspath(path))[1]
    if ending not in formats:
        raise ValueError(f"export: the file should end in {', '.join(formats)}, found {os.fspath(path)}")
    if input not in ("bytes", "unit"):
        raise ValueError(f"export: input should be bytes or unit, found {input!r}")
    asked = opened(model, "export")
    written = with_files(asked._model.export_as, formats[ending], os.fspath(path), input == "bytes")
    signature: dict[str, Any] = json.loads(written)
    return signature
