"""Tensors and NumPy arrays: one goes in, the same comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, Union

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    ArrayLike = Union[torch.Tensor, NDArray[Any], "list[Any]"]


def as_tensor(values: ArrayLike) -> torch.Tensor:
    """A tensor unchanged; anything else as NumPy reads it, sharing memory if possible."""
    if isinstance(values, torch.Tensor):
        return values
    if isinstance(values, (list, tuple)) and values and all(isinstance(value, torch.Tensor) for value in values):
        return _stacked(values)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError("should be an array of numbers, found parts of different sizes") from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:  # PyTorch has no such types, or hardly any operations on them
        array = _signed(array)
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    try:
        return torch.from_numpy(array)
    except TypeError:
        found = f"one of {array.dtype}" if array.ndim > 0 else type(values).__name__
        raise ValueError(f"should be an array of numbers, found {found}") from None


def _stacked(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    first = tensors[0].shape
    other = next((tensor.shape for tensor in tensors if tensor.shape != first), None)
    if other is not None:
        raise ValueError(f"should be tensors of one shape, found {list(first)} and {list(other)}: torch.cat joins rows")
    return torch.stack(tuple(tensors))


def _signed(array: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers as int64; float64 if one is beyond it."""
    beyond = array.dtype.itemsize == 8 and array.size > 0 and int(array.max()) > np.iinfo(np.int64).max
    return array.astype(np.float64 if beyond else np.int64)


def as_logits(values: ArrayLike) -> torch.Tensor:
    """The same; half precision, as automatic mixed precision gives it, becomes float32."""
    tensor = as_tensor(values)
    if tensor.dtype == torch.float16 or tensor.dtype == torch.bfloat16:
        return tensor.float()
    return tensor


def like(values: ArrayLike, result: torch.Tensor) -> Any:
    """A result as what it was computed from: a tensor, or else a NumPy array."""
    return result if isinstance(values, torch.Tensor) else result.detach().cpu().numpy()


def seed_of(seed: int, function: str) -> int:
    """ValueError for a seed that does not fit into 64 bits."""
    if not -(2**63) <= seed < 2**63:
        raise ValueError(f"{function}: seed should be at least -2**63 and below 2**63, found {seed}")
    return seed


#: How far the sum of a row of probabilities may be from 1: half precision is coarse.
_SUM_TOLERANCE = 0.02


def check_probabilities(probabilities: torch.Tensor, function: str) -> None:
    """ValueError for rows that are no probabilities [N, K]: usually logits. Shapes are checked elsewhere; NaN passes."""
    if probabilities.dim() != 2 or probabilities.numel() == 0 or not probabilities.dtype.is_floating_point:
        return
    rows = probabilities.detach()
    sums = rows.sum(1, dtype=torch.float64)
    wrong = ((sums - 1).abs() > _SUM_TOLERANCE) | (rows < 0).any(1)
    if bool(wrong.any()):
        row = int(wrong.nonzero()[0])
        advice = ": these look like logits: apply softmax" if bool((rows < 0).any() | (rows > 1).any()) else ""
        raise ValueError(
            f"{function}: should be given probabilities, at least 0 with a sum of 1 per row, found sum {float(sums[row]):.4g} "
            f"and least value {float(rows[row].min()):.4g} in row {row} (counted from 0){advice}"
        )
