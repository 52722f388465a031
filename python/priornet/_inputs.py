"""The inputs of networks: arrays, frames, and loaders that give them batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Optional, Sequence, Union

import numpy as np
import torch

from ._arrays import as_tensor

if TYPE_CHECKING:
    #: Batches (inputs, labels) or inputs alone, as a DataLoader gives them; a Dataset; or arrays (X, y).
    Data = Union[Iterable[Any], tuple[Any, Any]]

_ROWS_PER_BATCH = 250


class Inputs(NamedTuple):
    """Inputs as the library takes them."""

    values: torch.Tensor  #: images uint8 [N, C, H, W], or rows float32 [N, D]
    feature_names: list[str]  #: of a frame

    def in_order_of(self, names: Sequence[str]) -> torch.Tensor:
        """The columns with these names, in this order; unchanged if the inputs have no names, or no names are wanted."""
        if not self.feature_names or not names or self.feature_names == list(names):
            return self.values
        missing = [name for name in names if name not in self.feature_names]
        if missing:
            raise ValueError(f"inputs: should have a column {missing[0]!r}, found {', '.join(self.feature_names)}")
        return self.values[:, [self.feature_names.index(name) for name in names]]


def inputs_of(inputs: Any) -> Inputs:
    """Arrays, tensors, lists or a pandas frame; inputs are returned unchanged."""
    if isinstance(inputs, Inputs):
        return inputs
    names = getattr(inputs, "columns", None)  # of a pandas frame
    feature_names = [str(name) for name in names] if names is not None else []
    values = as_tensor(inputs.to_numpy() if names is not None else inputs)
    if values.dtype != torch.uint8 or values.dim() != 4:
        values = values.to(torch.float32)
    return Inputs(values, feature_names)


class Batch(NamedTuple):
    """Some inputs, with labels of any kind, [N], if there are any."""

    inputs: Inputs
    labels: Any


def batches_of(data: Data) -> Iterator[Batch]:
    """The batches of a loader, of a data set, or of arrays."""
    if isinstance(data, tuple):
        if len(data) != 2:
            raise ValueError(f"data should be arrays (X, y), or give batches, found a tuple of {len(data)}")
        inputs, labels = inputs_of(data[0]), data[1]
        if len(inputs.values) != len(labels):
            raise ValueError(f"data should have one label per input, found {len(labels)} for {len(inputs.values)}")
        labels = labels if isinstance(labels, torch.Tensor) else np.asarray(labels)
        for first in range(0, len(labels), _ROWS_PER_BATCH):
            rows = slice(first, first + _ROWS_PER_BATCH)
            yield Batch(Inputs(inputs.values[rows], inputs.feature_names), labels[rows])
        return
    if isinstance(data, (torch.Tensor, np.ndarray)) or hasattr(data, "columns"):
        inputs = inputs_of(data)
        for first in range(0, len(inputs.values), _ROWS_PER_BATCH):
            yield Batch(Inputs(inputs.values[first : first + _ROWS_PER_BATCH], inputs.feature_names), None)
        return
    if isinstance(data, torch.utils.data.Dataset):
        data = torch.utils.data.DataLoader(data, batch_size=_ROWS_PER_BATCH)
    for item in data:
        if isinstance(item, (tuple, list)) and len(item) >= 2:
            yield Batch(inputs_of(item[0]), item[1])
        else:
            yield Batch(inputs_of(item[0] if isinstance(item, (tuple, list)) else item), None)


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


class Pixels(NamedTuple):
    """How the images of a network were normalised: it takes (byte / 255 - mean) / deviation, per channel."""

    mean: list[float]
    deviation: list[float]

    @classmethod
    def of(cls, mean: Any, deviation: Any, channels: int) -> Pixels:
        """Numbers, or one per channel; None: values in [0, 1]."""

        def per_channel(value: Any, default: float) -> list[float]:
            numbers = np.atleast_1d(np.asarray(default if value is None else value, dtype=np.float64))
            return [float(number) for number in (numbers.repeat(channels) if len(numbers) == 1 else numbers)]

        return cls(per_channel(mean, 0.0), per_channel(deviation, 1.0))

    def to_network(self, images: torch.Tensor) -> torch.Tensor:
        """uint8 [N, C, H, W] as the network takes them."""
        mean, deviation = (torch.tensor(values).view(-1, 1, 1) for values in self)
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
