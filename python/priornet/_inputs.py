"""The inputs of networks: arrays, frames, and loaders that give them batch by batch."""

from __future__ import annotations

import math
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
    twice = [name for name in names if found.count(name) > 1]
    if twice:
        raise ValueError(
            f"inputs: should have one column {twice[0]!r}, found {found.count(twice[0])}: give each column its own name"
        )
    return [found.index(name) for name in names]


def inputs_of(inputs: Any, names: Sequence[str] = ()) -> Inputs:
    """Arrays, tensors, lists or a pandas frame; inputs are returned unchanged.

    names: the columns of a frame that are wanted; none: all of them.
    """
    if isinstance(inputs, Inputs):
        return inputs
    if hasattr(inputs, "columns"):
        return _inputs_of_frame(inputs, names)
    values = as_tensor(inputs)
    if values.dtype != torch.uint8 or values.dim() != 4:
        values = values.to(torch.float32)
    return Inputs(values, [])


def _inputs_of_frame(frame: Any, names: Sequence[str]) -> Inputs:
    found = [str(name) for name in frame.columns]
    places = list(range(len(found))) if not names or found == list(names) else _places(found, names)
    values = np.empty((len(frame), len(places)), dtype=np.float32)
    for column, place in enumerate(places):
        given = frame.iloc[:, place] if hasattr(frame, "iloc") else frame[frame.columns[place]]
        values[:, column] = _numbers(given, found[place])
    return Inputs(torch.from_numpy(values), [found[place] for place in places])


def _numbers(column: Any, name: str) -> Any:
    """The numbers of a frame's column; a missing one is NaN."""
    if not isinstance(column.dtype, np.dtype) and getattr(column.dtype, "kind", "O") in "biuf":  # pandas' nullable types
        return column.to_numpy(dtype=np.float32, na_value=np.nan)
    array = np.asarray(column)
    if array.dtype.kind not in "biuf":
        others = (value for value in array.tolist() if array.dtype.kind != "O" or not isinstance(value, (Real, np.bool_)))
        for other in others:
            raise ValueError(
                f"inputs: column {name!r} should hold numbers, found {other!r}: leave it out, or make numbers of it"
            )
    return array.astype(np.float32)


class Batch(NamedTuple):
    """Some inputs, with labels of any kind, [N], if there are any."""

    inputs: Inputs
    labels: Any


def batches_of(data: Data, names: Sequence[str] = ()) -> Iterator[Batch]:
    """The batches of a loader, of a data set, or of arrays. names: the columns of frames that are wanted; none: all."""
    if isinstance(data, (Mapping, str)) or not hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):
        raise ValueError(f"data should be arrays (X, y), or give batches (inputs, labels), found {type(data).__name__}")
    if isinstance(data, (torch.Tensor, np.ndarray)) or hasattr(data, "columns"):
        data = (data, None)
    if isinstance(data, tuple):
        if len(data) != 2:
            raise ValueError(f"data should be arrays (X, y), or give batches, found a tuple of {len(data)}")
        inputs, labels = inputs_of(data[0], names), data[1]
        count = len(inputs.values)
        if labels is not None:
            labels = labels if isinstance(labels, torch.Tensor) else np.asarray(labels)
            if labels.ndim == 0 or len(labels) != count:
                found = len(labels) if labels.ndim else type(data[1]).__name__
                raise ValueError(f"data should have one label per input, found {found} for {count}")
        for first in range(0, count, _ROWS_PER_BATCH):
            rows = slice(first, first + _ROWS_PER_BATCH)
            yield Batch(Inputs(inputs.values[rows], inputs.feature_names), None if labels is None else labels[rows])
        return
    if isinstance(data, torch.utils.data.Dataset):
        data = torch.utils.data.DataLoader(data, batch_size=_ROWS_PER_BATCH)
    for item in data:
        if isinstance(item, Mapping):
            raise ValueError(f"data should give batches (inputs, labels) or inputs, found a batch of type {type(item).__name__}")
        if isinstance(item, (tuple, list)) and len(item) >= 2:
            yield Batch(inputs_of(item[0], names), item[1])
        else:
            yield Batch(inputs_of(item[0] if isinstance(item, (tuple, list)) else item, names), None)


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


def bytes_of(values: torch.Tensor, pixels: Optional[Pixels]) -> torch.Tensor:
    """Images as the library takes them; rows stay as they are."""
    if values.dim() != 4 or values.dtype == torch.uint8:
        return values
    if pixels is None:
        raise ValueError("images should be bytes (uint8): the model says nothing of how others are normalised")
    return pixels.to_bytes(values)
