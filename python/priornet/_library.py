"""Loads the library of operators and turns its errors into Python's."""

from __future__ import annotations

import pathlib
from typing import Any, Callable, TypeVar

import torch

_Result = TypeVar("_Result")
_torch: Any = torch  # its stubs are incomplete


def _load() -> None:
    path = pathlib.Path(__file__).with_name("operators.so")
    if not path.exists():
        raise ImportError(
            f"priornet: {path} is not there: the package was not built. Install it with `pip install .` in its "
            "repository, or put build/dev/python on PYTHONPATH."
        )
    try:
        _torch.ops.load_library(str(path))
    except OSError as error:
        raise ImportError(
            f"priornet: {path} does not load into PyTorch {torch.__version__}; it was built for another one, or a "
            f"library is missing. Install priornet again with this PyTorch. ({error})"
        ) from None


_load()
ops: Any = _torch.ops.priornet
classes: Any = _torch.classes.priornet

# torch.compile traces through the package: code that it cannot trace is skipped then.
_compiler: Any = getattr(torch, "compiler", None)
if _compiler is not None and hasattr(_compiler, "is_compiling"):
    is_compiling: Callable[[], bool] = _compiler.is_compiling
else:

    def is_compiling() -> bool:
        """Whether torch.compile is tracing: never, in this PyTorch."""
        return False


def with_files(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Calls a function that reads or writes files; an error about a file is raised as OSError, with the library's message.

    Errors about arguments and configurations are ValueErrors already: PyTorch has a C++ exception for those, and none
    for files.
    """
    ops.take_file_error()
    try:
        return function(*arguments)
    except RuntimeError:
        message = ops.take_file_error()
        if message:
            raise OSError(message) from None
        raise


def device_named(name: str | torch.device) -> str:
    """The device for `auto`, `cpu`, `cuda` or `cuda:1`. ValueError if there is none."""
    name = str(name)
    there = torch.cuda.is_available() and ops.has_cuda()
    if name == "auto":
        return "cuda:0" if there else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"device should be auto, cpu or cuda, found {name!r}") from None
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"device should be auto, cpu or cuda, found {name!r}")
    if device.type == "cuda" and not there:
        raise ValueError(
            "device cuda: "
            + ("PyTorch finds no CUDA device here" if ops.has_cuda() else "this priornet was built without CUDA kernels")
            + "; use device='cpu'"
        )
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"device should be one of {torch.cuda.device_count()} CUDA devices, counted from 0, found {name!r}")
    return name
