"""A PyTorch network as TorchScript: the form in which a model file holds it."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from typing import Any, Iterator, NamedTuple, Optional, Sequence

import torch

_torch: Any = torch  # its stubs are incomplete
_jit: Any = torch.jit


class _WithFeatures(torch.nn.Module):
    """Gives (logits, features); the features are the output of a named layer of the network."""

    def __init__(self, network: torch.nn.Module, layer: str) -> None:
        super().__init__()
        self.network = network
        self.layer = layer

    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Hooks the layer for this one call."""
        seen: list[torch.Tensor] = []
        hook = self.network.get_submodule(self.layer).register_forward_hook(lambda _, __, given: seen.append(given))
        try:
            logits = self.network(inputs)
        finally:
            hook.remove()
        return logits, seen[0]


#: Numbers that a model file holds (src/learning/data/tensor_file.cpp).
_STORED = {
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
}  # fmt: skip


def check_can_be_stored(network: torch.nn.Module) -> None:
    """ValueError for a parameter or a buffer with numbers that a model file cannot hold, such as complex ones."""
    for what, tensors in (("parameter", network.named_parameters()), ("buffer", network.named_buffers())):
        for name, tensor in tensors:
            if tensor.dtype not in _STORED:
                kind = str(tensor.dtype).replace("torch.", "")
                advice = ": keep its real and imaginary parts, torch.view_as_real" if tensor.is_complex() else ""
                raise ValueError(f"the network's {what} {name!r} is {kind}, which cannot be stored in a model file{advice}")


@contextlib.contextmanager
def evaluating(network: torch.nn.Module) -> Iterator[None]:
    """The network in evaluation mode, without gradients and torch.autocast; afterwards every part of it is as it was."""
    # A frozen ScriptModule (torch.jit.freeze) is in evaluation mode for good, and has no `training`.
    modes = [(part, getattr(part, "training", None)) for part in network.modules()]
    network.eval()
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            for kind in ["cpu"] + (["cuda"] if torch.cuda.is_available() else []):
                stack.enter_context(_torch.autocast(kind, enabled=False))
            yield
    finally:
        for part, mode in modes:
            if mode is not None:
                part.training = mode
            elif hasattr(part, "training"):
                del part.training


class Program(NamedTuple):
    """A network as TorchScript."""

    content: torch.Tensor  #: the bytes of its file, uint8 [B]
    traced: bool  #: it does what the network did with the example, whatever the values of other inputs
    fixed: list[str]  #: the places where the network's Python took a value that tracing made a constant


def program_of(network: torch.nn.Module, example: torch.Tensor, layer: Optional[str]) -> Program:
    """The network scripted, or else traced with the example.

    With a layer it is traced, as hooks are Python's, and gives what the layer gives beside the logits.
    ValueError for a network that PyTorch neither scripts nor traces.
    """
    if layer is not None and layer not in dict(network.named_modules()):
        raise ValueError(f"layer should be one of named_modules(), found {layer!r}")
    fixed: list[str] = []
    with evaluating(network):
        script = _scripted(network) if layer is None else None
        traced = script is None
        if traced:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                script = _traced(network if layer is None else _WithFeatures(network, layer), example)
            fixed = _values_taken(said)
        stream = io.BytesIO()
        _jit.save(script, stream)
    return Program(torch.frombuffer(bytearray(stream.getvalue()), dtype=torch.uint8), traced, fixed)


def _scripted(network: torch.nn.Module) -> Any:
    """None for code that the compiler of TorchScript does not understand."""
    if isinstance(network, _jit.ScriptModule):
        return network
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        return _jit.script(network)
    return None


def _traced(network: torch.nn.Module, example: torch.Tensor) -> Any:
    try:
        return _jit.trace(network, (example,), check_trace=False)
    except Exception as error:
        said = str(error).partition("\nException raised from")[0]  # without the frames of C++
        raise ValueError(f"the network can be neither scripted nor traced by torch.jit: {said}") from error


def _values_taken(said: Sequence[warnings.WarningMessage]) -> list[str]:
    """The places that the tracer warned of. Constants that torch.tensor makes are those of the network itself."""
    places = {
        f"{os.path.basename(one.filename)}:{one.lineno}": None
        for one in said
        if issubclass(one.category, _jit.TracerWarning)
        and "might cause the trace to be incorrect" in str(one.message)
        and not str(one.message).startswith("torch.")
    }
    return list(places)
