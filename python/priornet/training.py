"""Training with the loop of `priornet train`, and trained runs."""

from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union, overload

import numpy as np
import torch

from ._arrays import like
from ._background import run_job
from ._display import facts_html, facts_text
from ._inputs import IMAGE_HINT, Inputs, check_shape, inputs_of, known_labels
from ._library import classes, device_named, with_files
from ._measures import measures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._arrays import ArrayLike

    Array = NDArray[Any]
    Settings = Mapping[str, Any]
    PathLike = Union[str, "os.PathLike[str]"]


def _setting_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_setting_text(element) for element in value) + "]"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    raise ValueError(f"a setting should be a number, a text, true or false, or a list, found {value!r}")


def _overrides(settings: Settings, table: str = "") -> list[str]:
    """{"training": {"epochs": 3}} and {"training.epochs": 3} as training.epochs=3."""
    lines: list[str] = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            lines += _overrides(value, f"{table}{key}.")
        elif value is not None:
            lines.append(f"{table}{key}={_setting_text(value)}")
    return lines


def _run_to_end(training: Any, folder: str, start: str, device: str, progress: Optional[bool]) -> None:
    outcome = run_job(training, folder, start, device, progress=progress)
    stopped = f"training was stopped; with resume=True it goes on from {folder}"
    if outcome.interrupted:
        raise KeyboardInterrupt(f"training had ended: {folder} is whole" if outcome.finished else stopped)
    if not outcome.finished:  # Python ends
        raise RuntimeError(stopped)


def train(
    config: Union[PathLike, Settings, None] = None,
    data: Union[str, tuple[Any, Any], None] = None,
    *,
    out: PathLike,
    validation: Optional[tuple[Any, Any]] = None,
    settings: Optional[Settings] = None,
    resume: bool = False,
    force: bool = False,
    device: Union[str, torch.device] = "auto",
    progress: Optional[bool] = None,
) -> Run:
    """Trains a network, or an ensemble, into the folder `out`, as `priornet train` does, and returns the trained run.

    config: the path of a TOML file, or a dict with the same keys ({"training": {"epochs": 3}} or {"training.epochs":
        3}). None: a configuration that suits the data, as in `priornet train --data`.
    data: arrays (X, y) in memory, instead of the set that the configuration names; or, without a configuration, the
        name of a set ("mnist:train", "./table.csv,label=kind"). X: rows of numbers [N, D], taken as float32 (a pandas
        frame gives its columns names), or images uint8 [N, C, H, W]; y: labels of any kind, [N].
    validation: arrays for validation, which it does not learn from.
    settings: keys of the configuration with other values than in `config`.
    resume: go on from the folder's last checkpoint. force: replace the run in the folder.
    device: auto (a GPU if there is one), cpu or cuda.
    progress: a bar by tqdm, or lines without tqdm; None: only on a terminal and in a notebook.

    The interpreter's lock is free while it trains. Ctrl-C leaves a checkpoint and raises KeyboardInterrupt; resume=True
    then goes on as if nothing had happened. ValueError for arrays or a configuration that do not fit, such as a missing
    label or a number that is not finite; OSError for files, such as a folder that already holds a run.
    """
    if resume and force:
        raise ValueError("train: resume=True and force=True exclude each other")
    training = classes.Training()
    if data is not None and not isinstance(data, str):
        _give_data(training, data, validation)
    elif validation is not None:
        raise ValueError("train: validation arrays go with training arrays; for sets there is data.validation")
    overrides = _overrides(settings or {})
    if config is None:
        if data is None:
            raise ValueError("train: a configuration, or data, should be given")
        with_files(training.configure_by_data, data if isinstance(data, str) else "", overrides)
    elif isinstance(config, Mapping):
        with_files(training.configure_by_settings, _named_set(data) + _overrides(config) + overrides)
    else:
        with_files(training.configure_by_file, os.fspath(config), _named_set(data) + overrides)
    start = "resume" if resume else "force" if force else "new"
    folder = pathlib.Path(out)
    where = device_named(device)
    _run_to_end(training, str(folder), start, where, progress)
    return Run(folder, device=where, allow_torchscript=True)


def _named_set(data: object) -> list[str]:
    return [f"data.train={json.dumps(data)}"] if isinstance(data, str) else []


def _give_data(training: Any, data: tuple[Any, Any], validation: Optional[tuple[Any, Any]]) -> None:
    inputs, labels = _arrays_of(data, "data")
    check_varied(inputs.values, "train")
    try:
        names, numbers = np.unique(labels, return_inverse=True)
    except TypeError:  # they cannot be sorted
        kinds = " and ".join(sorted({type(label).__name__ for label in labels}))
        raise ValueError(f"train: labels should be numbers or texts, all of one kind, found {kinds}") from None
    training.set_data(
        inputs.values, torch.from_numpy(numbers.astype(np.int64)), [str(name) for name in names], inputs.feature_names
    )
    if validation is not None:
        watched_inputs, watched = _arrays_of(validation, "validation", inputs.feature_names)
        places = {name: place for place, name in enumerate(names.tolist())}
        if watched_inputs.values.shape[1:] != inputs.values.shape[1:]:
            wanted, found = (list(given.values.shape[1:]) for given in (inputs, watched_inputs))
            raise ValueError(f"train: each validation input should have the shape of a training input, {wanted}, found {found}")
        unknown = [label for label in watched.tolist() if label not in places]
        if unknown:
            raise ValueError(f"train: validation labels should be classes of the training labels, found {unknown[0]!r}")
        numbers = torch.tensor([places[label] for label in watched.tolist()], dtype=torch.int64)
        training.set_validation(watched_inputs.values, numbers)


def _arrays_of(data: Any, argument: str, columns: Sequence[str] = ()) -> tuple[Inputs, Any]:
    """Inputs, which are finite, and labels, none of which is missing; the columns in this order, if they have names."""
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        found = f"{len(data)} parts" if isinstance(data, (tuple, list)) else type(data).__name__
        raise ValueError(f"train: {argument} should be arrays (X, y), found {found}")
    given = inputs_of(data[0], columns, to_learn=argument == "data")
    inputs = given._replace(values=given.in_order_of(columns))
    if inputs.values.dim() == 3:
        raise ValueError(
            f"train: {argument} should be images, uint8 [N, C, H, W], or rows of numbers [N, D], found shape "
            f"{list(inputs.values.shape)}: {IMAGE_HINT}"
        )
    labels = known_labels(data[1], "train")
    wrong = torch.nonzero(~inputs.values.isfinite()) if inputs.values.dtype == torch.float32 else torch.empty(0)
    if len(wrong) and inputs.values.dim() == 2:
        row, column = wrong[0].tolist()
        names = columns or inputs.feature_names
        where = f"column {names[column]!r}" if names else f"column {column}"
        raise ValueError(
            f"train: {argument} should be finite float32 numbers, found {float(inputs.values[row, column])} in row {row} "
            f"(counted from 0), {where}: leave such rows out, or fill in values"
        )
    return inputs, labels


def check_varied(inputs: torch.Tensor, function: str) -> None:
    """ValueError for inputs that are all the same: nothing can be learnt from them."""
    if len(inputs) > 1 and bool((inputs[1] == inputs[0]).all()) and bool((inputs == inputs[0]).all()):
        what = "rows" if inputs.dim() == 2 else "images"
        raise ValueError(
            f"{function}: the inputs should differ, found {len(inputs)} equal {what}: check how they were made"
        )


def _metrics_of(folder: pathlib.Path) -> list[dict[str, Any]]:
    try:
        text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:  # only the files needed for predictions were copied
        return []
    metrics = [json.loads(line) for line in text.splitlines()]
    for epoch in metrics:
        if "images_a_second" in epoch:  # its name before version 0.2
            epoch["images_per_second"] = epoch.pop("images_a_second")
    return metrics


class Run:
    """A trained run: its networks, ready for use. Calls from several threads are safe.

    folder: from `priornet train` or train(). OSError if it holds no run.
    allow_torchscript: also open a run of a TorchScript network, which is a program.
    """

    def __init__(
        self, folder: PathLike, *, device: Union[str, torch.device] = "auto", allow_torchscript: bool = False
    ) -> None:
        path = pathlib.Path(folder)
        self.folder: Optional[pathlib.Path] = path
        #: The device it computes on.
        self.device: str = device_named(device)
        self._run: Any = with_files(classes.Run, str(path), self.device, allow_torchscript)
        self.class_names: list[str] = self._run.class_names()
        self.feature_names: list[str] = self._run.feature_names()
        self.input_shape: list[int] = self._run.input_shape()
        self.members: int = self._run.members()
        #: "dirichlet" or "softmax": how measures() reads the logits.
        self.kind: str = "dirichlet" if self._run.gives_dirichlet() else "softmax"
        #: The metrics of each epoch; for an ensemble, those of its last member.
        self.metrics = _metrics_of(path if self.members == 1 else path / f"member-{self.members}")

    @property
    def config(self) -> str:
        """The configuration, as TOML."""
        text: str = self._run.config()
        return text

    @overload
    def logits(self, inputs: torch.Tensor) -> torch.Tensor: ...
    @overload
    def logits(self, inputs: Array | list[Any]) -> Array: ...

    def logits(self, inputs: ArrayLike) -> Any:
        """[N, K], or [M, N, K] of an ensemble, float32; inputs as train() takes them. ValueError for other shapes.

        A tensor for a tensor, on the run's device; a NumPy array for anything else. So do the functions below.
        """
        return like(inputs, self._logits(inputs))

    def _logits(self, inputs: Any) -> torch.Tensor:
        values = inputs_of(inputs, self.feature_names).in_order_of(self.feature_names)
        check_shape(values, self.input_shape)
        logits: torch.Tensor = self._run.logits(values)
        return logits

    @overload
    def predict_proba(self, inputs: torch.Tensor) -> torch.Tensor: ...
    @overload
    def predict_proba(self, inputs: Array | list[Any]) -> Array: ...

    def predict_proba(self, inputs: ArrayLike) -> Any:
        """Probabilities of the classes [N, K], float64; for an ensemble the mean over its members."""
        probabilities = torch.softmax(self._logits(inputs).double(), -1)
        return like(inputs, probabilities.mean(0) if probabilities.dim() == 3 else probabilities)

    def measures(self, inputs: ArrayLike, *, samples: int = 64, seed: int = 0) -> Any:
        """measures() of the run's logits, computed in float64."""
        measured = measures(self._logits(inputs).double(), self.kind, samples=samples, seed=seed)  # type: ignore[call-overload]
        return type(measured)(*(like(inputs, values) for values in measured))

    def __reduce__(self) -> Any:
        raise TypeError("a Run cannot be pickled or copied: open its folder again, priornet.Run(FOLDER), or pickle a model of it")

    def _facts(self) -> list[tuple[str, str]]:
        shape = " x ".join(str(size) for size in self.input_shape)
        shown = ", ".join(self.class_names[:8]) + (", ..." if len(self.class_names) > 8 else "")
        return ([("folder", str(self.folder))] if self.folder is not None else []) + [
            ("networks", str(self.members)),
            ("inputs", shape),
            ("classes", f"{len(self.class_names)}: {shown}"),
            ("logits", self.kind),
        ]

    def __repr__(self) -> str:
        return facts_text("Run", self._facts())

    def _repr_html_(self) -> str:
        return facts_html("Trained run", self._facts())
