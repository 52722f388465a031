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
