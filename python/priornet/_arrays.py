"""Tensors and NumPy arrays: one goes in, the same comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    ArrayLike = Union[torch.Tensor, NDArray[Any], "list[Any]"]


def as_tensor(values: ArrayLike) -> torch.Tensor:
    """A tensor unchanged; anything else as NumPy reads it, sharing memory if possible."""
    if isinstance(values, torch.Tensor):
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError("should be an array of numbers, found parts of different sizes") from None
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    try:
        return torch.from_numpy(array)
    except TypeError:
        found = f"one of {array.dtype}" if array.ndim > 0 else type(values).__name__
        raise ValueError(f"should be an array of numbers, found {found}") from None


def as_logits(values: ArrayLike) -> torch.Tensor:
    """The same; half precision, as automatic mixed precision gives it, becomes float32."""
    tensor = as_tensor(values)
    if tensor.dtype == torch.float16 or tensor.dtype == torch.bfloat16:
        return tensor.float()
    return tensor


def like(values: ArrayLike, result: torch.Tensor) -> Any:
    """A result as what it was computed from: a tensor, or else a NumPy array."""
    return result if isinstance(values, torch.Tensor) else result.detach().cpu().numpy()


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
