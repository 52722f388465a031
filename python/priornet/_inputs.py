"""The inputs of networks: arrays, frames, and loaders that give them batch by batch."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from numbers import Real
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
import torch

from ._arrays import as_tensor

if TYPE_CHECKING:
    #: Batches (inputs, labels) or inputs alone, as a DataLoader gives them; a Dataset; or arrays (X, y), y may be None.
    Data = Union[Iterable[Any], tuple[Any, Any], torch.utils.data.Dataset[Any]]

_ROWS_PER_BATCH = 250
_DEEPEST = 100  # data sets within data sets: more is a circle
_MOST_ROUNDING = 1e-3  # of a column's standard deviation: what float32 may lose
_NOISE = 1e-12  # relative: what float64 leaves of differences that should be 0

#: What to do with images that lack a dimension.
IMAGE_HINT = "one image: images[None]; images without channels: images[:, None]"


class Inputs(NamedTuple):
    """Inputs as the library takes them."""

    values: torch.Tensor  #: images uint8 [N, C, H, W], or rows float32 [N, D]
    feature_names: list[str]  #: of a frame

    def in_order_of(self, names: Sequence[str]) -> torch.Tensor:
        """The columns with these names, in this order; unchanged if the inputs have no names, or no names are wanted."""
        if not self.feature_names or not names or self.feature_names == list(names):
            return self.values
        return self.values[:, _places(self.feature_names, names)]


def _places(found: Sequence[str], names: Sequence[str]) -> list[int]:
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"inputs: should have a column {missing[0]!r}, found {', '.join(found)}")
    _check_once(found, names)
    return [found.index(name) for name in names]


def _check_once(found: Sequence[str], names: Sequence[str]) -> None:
    counts = Counter(found)
    for name in names:
        if counts[name] > 1:
            raise ValueError(
                f"inputs: should have one column {name!r}, found {counts[name]}: give each column its own name"
            )


def inputs_of(inputs: Any, names: Sequence[str] = (), *, to_learn: bool = False) -> Inputs:
    """Arrays, tensors, lists or a pandas frame; inputs are returned unchanged.

    names: the columns of a frame that are wanted; none: all of them. to_learn: these are all inputs that something learns
    from, so each column should keep its differences in float32.
    """
    if isinstance(inputs, Inputs):
        return inputs
    if hasattr(inputs, "columns"):
        return _inputs_of_frame(inputs, names, to_learn)
    values = as_tensor(inputs)
    if values.is_complex():
        kind = str(values.dtype).replace("torch.", "")
        raise ValueError(f"inputs: should be real numbers, found {kind}: give real and imaginary parts as columns of their own")
    if to_learn and values.dim() == 2:
        check_rounding(values)
    if values.dtype != torch.uint8 or values.dim() != 4:
        values = values.to(torch.float32)
    return Inputs(values, [])


def check_rounding(rows: torch.Tensor, names: Sequence[str] = ()) -> None:
    """ValueError for a column of rows [N, D] that float32 rounds by more than a thousandth of its standard deviation."""
    if len(rows) < 2 or rows.dtype not in (torch.float64, torch.int64, torch.int32):
        return
    low, high = rows.amin(0).double(), rows.amax(0).double()
    # Two values that differ by the range give a deviation of at least range / sqrt(2 N): most columns need no closer look.
    largest_error = torch.maximum(low.abs(), high.abs()) * 2**-24
    for column in (~(largest_error <= _MOST_ROUNDING * (high - low) / math.sqrt(2 * len(rows)))).nonzero().flatten().tolist():
        _check_column(rows[:, column].double(), repr(names[column]) if names else str(column))


def _check_column(values: torch.Tensor, name: str) -> None:
    rounded = values.float()
    known = rounded.isfinite()  # others are refused elsewhere, or stand for missing values
    values, rounded = values[known], rounded[known]
    if len(values) < 2:
        return
    error, deviation = float((values - rounded.double()).abs().max()), float(values.std())
    if error > _MOST_ROUNDING * deviation and deviation > _NOISE * float(values.abs().max()):
        raise ValueError(
            f"inputs: column {name} should differ by more than float32 rounds, found a standard deviation of {deviation:.3g} "
            f"and rounding by up to {error:.3g}: subtract its mean (or another round number) first"
        )


def check_frame(frame: Any) -> None:
    """ValueError for a frame with two columns of one name, or with dates."""
    found = [str(name) for name in frame.columns]
    _check_once(found, found)
    for place, name in enumerate(found):
        _check_no_dates(_column(frame, place), name)


def _column(frame: Any, place: int) -> Any:
    return frame.iloc[:, place] if hasattr(frame, "iloc") else frame[frame.columns[place]]


def _inputs_of_frame(frame: Any, names: Sequence[str], to_learn: bool) -> Inputs:
    found = [str(name) for name in frame.columns]
    wanted = names or found
    places = _places(found, wanted) if found != list(wanted) else list(range(len(found)))
    _check_once(found, wanted)
    values = np.empty((len(frame), len(places)), dtype=np.float32)
    for column, place in enumerate(places):
        numbers = _numbers(_column(frame, place), found[place])
        if to_learn:
            check_rounding(as_tensor(numbers).unsqueeze(1), [found[place]])
        values[:, column] = numbers
    return Inputs(torch.from_numpy(values), [found[place] for place in places])


def _numbers(column: Any, name: str) -> Any:
    """The numbers of a frame's column, float64; a missing one is NaN."""
    if not isinstance(column.dtype, np.dtype) and getattr(column.dtype, "kind", "O") in "biuf":  # pandas' nullable types
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    _check_no_dates(column, name)
    array = np.asarray(column)
    if array.dtype.kind not in "biuf":
        others = (value for value in array.tolist() if array.dtype.kind != "O" or not isinstance(value, (Real, np.bool_)))
        for other in others:
            raise ValueError(
                f"inputs: column {name!r} should hold numbers, found {other!r}: leave it out, or make numbers of it"
            )
    return array.astype(np.float64)


def _check_no_dates(column: Any, name: str) -> None:
    kind = str(column.dtype)
    first = next((value for value in column if value is not None), None) if kind == "object" else None
    if kind.lower().startswith(("timedelta", "duration")) or isinstance(first, datetime.timedelta):
        what, example = "durations", "seconds"
    elif kind.lower().startswith(("date", "period")) or isinstance(first, datetime.date):
        what, example = "dates", "days since the first of them"
    else:
        return
    raise ValueError(
        f"inputs: column {name!r} should hold numbers, it holds {what} ({kind}): make numbers of them, such as {example}, or "
        "leave it out"
    )


class Batch(NamedTuple):
    """Some inputs, with labels of any kind, [N], if there are any."""

    inputs: Inputs
    labels: Any


def batches_of(data: Data, names: Sequence[str] = (), *, to_learn: bool = False) -> Iterator[Batch]:
    """The batches of a loader, of a data set, or of arrays. names: the columns of frames that are wanted; none: all.

    to_learn: as in inputs_of, of arrays.
    """
    if isinstance(data, (Mapping, str)) or not hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):
        raise ValueError(f"data should be arrays (X, y), or give batches (inputs, labels), found {type(data).__name__}")
    arrays = _arrays_of(data, names, to_learn)
    if arrays is not None:
        inputs, labels = arrays
        for first in range(0, len(inputs.values), _ROWS_PER_BATCH):
            rows = slice(first, first + _ROWS_PER_BATCH)
            yield Batch(Inputs(inputs.values[rows], inputs.feature_names), None if labels is None else labels[rows])
        return
    if isinstance(data, torch.utils.data.Dataset):
        data = torch.utils.data.DataLoader(data, batch_size=_ROWS_PER_BATCH)
    for item in data:
        if isinstance(item, Mapping):
            raise ValueError(f"data should give batches (inputs, labels) or inputs, found a batch of type {type(item).__name__}")
        if isinstance(item, (tuple, list)) and len(item) >= 2:
            yield Batch(_several(inputs_of(item[0], names)), item[1])
        else:
            yield Batch(_several(inputs_of(item[0] if isinstance(item, (tuple, list)) else item, names)), None)


def _arrays_of(data: Any, names: Sequence[str], to_learn: bool) -> Optional[tuple[Inputs, Any]]:
    """Inputs with their labels, or with None; None for data that are no arrays."""
    if isinstance(data, (torch.Tensor, np.ndarray)) or hasattr(data, "columns"):
        data = (data, None)
    if not isinstance(data, tuple) and not _is_pair(data):
        return None
    if len(data) != 2:
        raise ValueError(f"data should be arrays (X, y), or give batches, found a tuple of {len(data)}")
    inputs, labels = _several(inputs_of(data[0], names, to_learn=to_learn)), data[1]
    if labels is not None:
        labels = labels if isinstance(labels, torch.Tensor) else np.asarray(labels)
        if labels.ndim == 0 or len(labels) != len(inputs.values):
            found = len(labels) if labels.ndim else type(data[1]).__name__
            raise ValueError(f"data should have one label per input, found {found} for {len(inputs.values)}")
    return inputs, labels


def _is_pair(data: Any) -> bool:
    """Whether a list is [X, y], not two batches: labels have one dimension, and batches have more."""
    return isinstance(data, list) and len(data) == 2 and _dimensions(data[0]) >= 2 and _dimensions(data[1]) == 1


def _dimensions(values: Any) -> int:
    if isinstance(values, (list, tuple)):
        return 1 + (_dimensions(values[0]) if values else 0)
    return 2 if hasattr(values, "columns") else int(getattr(values, "ndim", 0))


def _several(inputs: Inputs) -> Inputs:
    if inputs.values.dim() < 2:
        raise ValueError(
            "data should have inputs [N, D] or [N, C, H, W], in every batch, found inputs of shape "
            f"{list(inputs.values.shape)}: give arrays as a tuple (X, y), lists of rows as np.array(rows)"
        )
    return inputs


def random_part(data: Any, most: int, names: Sequence[str] = ()) -> Any:
    """At most `most` inputs of arrays, or of a data set, that something learns from: drawn at random, always the same ones.

    None for a loader, which gives its inputs in its own order.
    """
    arrays = _arrays_of(data, names, True)
    if arrays is not None:
        inputs, labels = arrays
        if len(inputs.values) <= most:
            return arrays
        rows = _drawn(len(inputs.values), most)
        return inputs._replace(values=inputs.values[rows]), None if labels is None else labels[rows]
    if not isinstance(data, torch.utils.data.Dataset) or isinstance(data, torch.utils.data.IterableDataset):
        return None
    size = len(data) if hasattr(data, "__len__") else 0
    return torch.utils.data.Subset(data, _drawn(size, most).tolist()) if size > most else data


def _drawn(size: int, most: int) -> Any:
    """Numbers of rows, in ascending order."""
    return np.sort(np.random.default_rng(0).choice(size, most, replace=False))


def known_labels(labels: Any, function: str) -> Any:
    """Labels as an array [N]. ValueError for another shape, and for a missing label: None, NaN or what pandas has for it."""
    array = labels.detach().cpu().numpy() if isinstance(labels, torch.Tensor) else np.asarray(labels)
    if labels is None or array.ndim != 1:
        found = "None" if labels is None else f"shape {list(array.shape)}"
        raise ValueError(f"{function}: labels should be [N], found {found}")
    if array.dtype.kind not in "biuSU":
        for row, label in enumerate(array.tolist() if array.dtype.kind in "fO" else array):
            if _is_missing(label):
                raise ValueError(
                    f"{function}: every row should have a label, found {label} in row {row} (counted from 0): leave such "
                    "rows out"
                )
    return array


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True


def labels_as_numbers(labels: Any, class_names: Sequence[str], *, by_name: bool) -> torch.Tensor:
    """int64 [N]: numbers of classes as they are unless `by_name`; anything else by the names of the classes."""
    array = labels.detach().cpu().numpy() if isinstance(labels, torch.Tensor) else np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"labels should be [N], found shape {list(array.shape)}")
    if array.dtype.kind in "iu" and not by_name:
        numbers = torch.from_numpy(array.astype(np.int64))
        outside = (numbers < 0) | (numbers >= len(class_names))
        if bool(outside.any()):
            found = int(numbers[outside][0])
            raise ValueError(f"labels should be numbers of {len(class_names)} classes, found {found}")
        return numbers
    places = {name: place for place, name in enumerate(class_names)}
    try:
        return torch.tensor([places[str(label)] for label in array], dtype=torch.int64)
    except KeyError as unknown:
        raise ValueError(f"labels should be among the classes {', '.join(class_names)}, found {unknown}") from None


def held_by(data: Any) -> list[Any]:
    """The data, the data set that a loader or a Subset holds, and so on to the innermost."""
    chain = [data]
    while getattr(chain[-1], "dataset", None) is not None and len(chain) < _DEEPEST:
        chain.append(chain[-1].dataset)
    return chain


class Pixels(NamedTuple):
    """How the images of a network were normalised: it takes (byte / 255 - mean) / deviation, per channel."""

    mean: list[float]
    deviation: list[float]

    @classmethod
    def of(cls, mean: Any, deviation: Any, channels: int) -> Pixels:
        """Numbers, or one per channel; None: values in [0, 1]. ValueError for others."""

        def per_channel(name: str, value: Any) -> list[float]:
            wanted = f"{name} should be one number, or one per channel of the images ({channels})"
            given = as_tensor(value).detach().cpu()
            if given.is_complex() or given.numel() not in (1, channels):
                raise ValueError(f"{wanted}, found shape {list(given.shape)}")
            numbers = given.double().reshape(-1).tolist() * (channels if given.numel() == 1 else 1)
            wrong = [number for number in numbers if not math.isfinite(number)]
            if wrong:
                raise ValueError(f"{wanted}, and finite, found {wrong[0]}")
            return [float(number) for number in numbers]

        made = cls(
            per_channel("mean", 0.0 if mean is None else mean),
            per_channel("deviation", 1.0 if deviation is None else deviation),
        )
        if min(made.deviation) <= 0:
            raise ValueError(f"deviation should be above 0, found {min(made.deviation)}")
        return made

    def to_network(self, images: torch.Tensor) -> torch.Tensor:
        """uint8 [N, C, H, W] as the network takes them."""
        mean, deviation = (torch.tensor(values, dtype=torch.float32).view(-1, 1, 1) for values in self)
        return (images.float().cpu() / 255 - mean) / deviation

    def to_bytes(self, images: torch.Tensor) -> torch.Tensor:
        """The inverse. ValueError for values that no bytes give."""
        mean, deviation = (torch.tensor(values, dtype=torch.float64).view(-1, 1, 1) for values in self)
        levels = (images.detach().cpu().double() * deviation + mean) * 255
        rounded = levels.round()
        off = float((levels - rounded).abs().max()) if levels.numel() else 0.0
        if not off <= 0.1 or (levels.numel() and not 0 <= float(rounded.min()) <= float(rounded.max()) <= 255):
            raise ValueError(
                "images should be bytes (uint8), or (byte / 255 - mean) / deviation with the `mean` and `deviation` that "
                f"are given, found values from {float(images.min()):.4g} to {float(images.max()):.4g}: say how they were "
                "normalised, or give bytes"
            )
        return rounded.to(torch.uint8)


def check_shape(values: torch.Tensor, shape: Sequence[int]) -> None:
    """ValueError for what cannot be images, if those are wanted: inputs of this shape without the number of them."""
    if len(shape) == 3 and values.dim() in (2, 3):
        hint = f": {IMAGE_HINT}" if values.dim() == 3 else ": one image without channels: images[None, None]"
        raise ValueError(f"inputs should be images [N, {', '.join(map(str, shape))}], found shape {list(values.shape)}{hint}")


def bytes_of(values: torch.Tensor, pixels: Optional[Pixels]) -> torch.Tensor:
    """Images as the library takes them; rows stay as they are."""
    if values.dim() != 4 or values.dtype == torch.uint8:
        return values
    if pixels is None:
        raise ValueError("images should be bytes (uint8): the model says nothing of how others are normalised")
    return pixels.to_bytes(values)
