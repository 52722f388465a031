"""Thresholds for your own network, or for a run: when to trust its answers."""

from __future__ import annotations

import itertools
import json
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Union

import torch

from ._background import run_job
from ._inputs import IMAGE_HINT, Inputs, Pixels, batches_of, held_by, random_part
from ._library import classes, device_named, ops
from ._torchscript import Program, check_can_be_stored, evaluating, program_of
from .model import Model, opened
from .training import Run

if TYPE_CHECKING:
    from ._inputs import Data

#: How far the logits of the TorchScript form may be from the network's, relative to the largest of them.
_TOLERANCE = 1e-3


def calibrate(
    model: Union[torch.nn.Module, Sequence[torch.nn.Module], Run, Model],
    data: Data,
    rate: float = 0.05,
    *,
    kind: str = "softmax",
    class_names: Optional[Sequence[str]] = None,
    mean: Any = None,
    deviation: Any = None,
    training: Optional[Data] = None,
    watch: Optional[Sequence[str]] = None,
    layer: Optional[str] = None,
    per_class: bool = False,
    name: Optional[str] = None,
    trained_on: str = "its own data",
    device: Union[str, torch.device, None] = None,
    progress: Optional[bool] = None,
    detectors: Optional[Sequence[str]] = None,
) -> Model:
    """Sets thresholds from held-out inputs: of new inputs like them at most the share `rate` is rejected, on average.

    model: any PyTorch network that gives logits [N, K]; several of one class are an ensemble, which may be undecided; or a
        run that priornet trained, or a model without thresholds.
    data: inputs that the network did not learn from: a loader of batches (inputs, labels), a Dataset, or arrays (X, y).
        Inputs are images [N, C, H, W], as bytes or as the network takes them, or rows of numbers [N, D] (a frame of
        pandas names its columns). Labels, as numbers or names of the classes, set the temperature; without labels it
        stays 1.
    training: the inputs that the network learnt from, for detectors, which find strange inputs that logits miss. They
        learn from at most 10,000 of them: of arrays and of a Dataset a random part, the same at every call; of a loader
        the first ones, with a warning if these lack a class of `data`.
    watch: names of detectors that look for "unfamiliar" inputs beside the measure, as `priornet calibrate --watch` names
        them; by default those that suit the network, if there is `training`; [] for none.
    per_class: every predicted class has its own thresholds.
    progress: a bar while detectors learn; None: on a terminal and in a notebook.
    detectors: the older name of `watch`, with a DeprecationWarning.

    Only for your own network:

    kind: "dirichlet" for a Prior Network, whose alpha = exp(logits); "softmax" for any other.
    class_names: by default those of the loader's data set (`classes`), or else the numbers.
    mean, deviation: how images were normalised, one number or one per channel: the network takes
        (byte / 255 - mean) / deviation. By default values in [0, 1].
    layer: the name (see named_modules()) of a layer whose output [N, F] becomes the logits in the layers after it: the
        features that detectors look at. By default the input of the last dense layer.
    name, trained_on: the model's name in a server, and the data that a report says it learnt from.
    device: where it computes; by default the network's device.

    The network is converted to TorchScript, by torch.jit.script or else torch.jit.trace, and the logits of both are compared:
    of the first batch, and if it was traced, which loses choices of its Python, of every batch. Warns of such choices.
    Columns of arrays that float32 cannot hold are refused by name: their mean should be subtracted first.
    ValueError for inputs, labels or a network that do not fit, KeyboardInterrupt for Ctrl-C. Warns about a threshold that no
    input can exceed.
    """
    if not 0 < rate < 1:
        raise ValueError(f"calibrate: rate should be between 0 and 1, found {rate}")
    if detectors is not None:
        if watch is not None:
            raise ValueError("calibrate: detectors is the older name of watch: give watch alone")
        warnings.warn("calibrate: detectors is now called watch", DeprecationWarning, stacklevel=2)
        watch = detectors
    if isinstance(model, (Run, Model)):
        made = opened(model, "calibrate")
        if made.thresholds is not None:
            raise ValueError("calibrate: the model has thresholds already: give the network or the run that it was made from")
        batches = batches_of(data, made.feature_names, to_learn=True)
        converted = None
    else:
        modules = _modules_of(model)
        batches = batches_of(data, to_learn=True)
        first = next(batches, None)
        if first is None:
            raise ValueError("calibrate: should be given at least 2 inputs, found none")
        batches = itertools.chain([first], batches)
        if class_names is None:
            class_names = next((held.classes for held in held_by(data) if hasattr(held, "classes")), None)
        network = _Network(modules, kind, class_names, mean, deviation, layer, name, trained_on, device)
        converted = _converted(network, first.inputs)
        made = converted.model
    fitted = _with_detectors(made, training, watch, progress)
    made, watching = fitted.model, fitted.names
    calibration = classes.Calibration(made._model)
    classes_seen: set[int] = set()
    for number, batch in enumerate(batches):
        values, labels = made._labelled(batch)
        calibration.see(values, labels)
        if labels is not None:
            classes_seen.update(labels.tolist())
        if converted is not None and number > 0 and any(program.traced for program in converted.programs):
            converted.compare(batch.inputs, f"calibration batch {number + 1}")
    if fitted.first_classes is not None:
        _warn_of_classes_lacking(classes_seen - fitted.first_classes, made.class_names)
    result = Model(calibration.finish(float(rate), per_class, watching, _name_of(data)), made.device)
    for what in result._model.unreachable():
        warnings.warn(f"calibrate: nothing will be rejected by {what}: more inputs or a higher rate help", stacklevel=2)
    return result


def _modules_of(model: Any) -> list[torch.nn.Module]:
    """One network, or several: a list, a tuple, or another iterable such as a ModuleList."""
    is_list = isinstance(model, torch.nn.ModuleList) or not isinstance(model, torch.nn.Module) and hasattr(model, "__iter__")
    modules = list(model) if is_list else [model]
    for module in modules:
        if not isinstance(module, torch.nn.Module):
            raise ValueError(
                f"calibrate: model should be a torch.nn.Module, several of them, or a run, found {type(module).__name__}"
            )
    return modules


class _Network(NamedTuple):
    """The user's own network, or the members of an ensemble, with the arguments of calibrate()."""

    modules: list[torch.nn.Module]
    kind: str
    class_names: Optional[Sequence[str]]
    mean: Any
    deviation: Any
    layer: Optional[str]
    name: Optional[str]
    trained_on: str
    device: Union[str, torch.device, None]

    def place(self) -> torch.device:
        """The device it is on."""
        first = self.modules[0]
        return next(itertools.chain(first.parameters(), first.buffers()), torch.empty(0)).device

    def logits(self, inputs: torch.Tensor) -> torch.Tensor:
        """[N, K], or [M, N, K] of an ensemble, float64 on the CPU."""
        members = []
        for module in self.modules:
            try:
                with evaluating(module):
                    logits = module(inputs)
            except RuntimeError as error:
                others = {str(weight.dtype) for weight in module.parameters() if weight.is_floating_point()} - {"torch.float32"}
                if others:
                    wanted = f"the network should have weights of float32, found {', '.join(sorted(others))}"
                    raise ValueError(f"{wanted}: network.float() converts it") from error
                if type(error) is not RuntimeError or "out of memory" in str(error) or "CUDA error" in str(error):
                    raise
                said = str(error).strip().partition("\nException raised from")[0].splitlines() or ["it says nothing"]
                hint = f" ({IMAGE_HINT})" if inputs.dim() == 3 else ""
                raise ValueError(
                    f"the network should take the inputs, of shape {list(inputs.shape)}, and fails: {said[-1]}: give inputs of "
                    f"the shape that it learnt from{hint}"
                ) from error
            if isinstance(logits, tuple):
                logits = logits[0]
            if not isinstance(logits, torch.Tensor) or logits.dim() != 2 or len(logits) != len(inputs):
                found = list(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
                raise ValueError(f"the network should give logits [N, K] of {len(inputs)} inputs, found {found}")
            members.append(logits.double().cpu())
        if any(logits.shape != members[0].shape for logits in members):
            raise ValueError("the members of an ensemble should give logits of the same number of classes")
        return torch.stack(members) if len(members) > 1 else members[0]

    def named_classes(self, count: int) -> list[str]:
        """One name per logit."""
        if self.class_names is None:
            return [str(number) for number in range(count)]
        names = [str(name) for name in self.class_names]
        if len(names) != count:
            raise ValueError(f"class_names should be {count}, one per logit of the network, found {len(names)}")
        ops.check_class_names(names)
        return names

    def normalisation(self, example: torch.Tensor) -> Optional[Pixels]:
        """For images; None for rows of numbers."""
        if example.dim() == 4:
            return Pixels.of(self.mean, self.deviation, example.size(1))
        if self.mean is not None or self.deviation is not None:
            found = list(example.shape)
            hint = f": {IMAGE_HINT}" if example.dim() == 3 else ": rows of numbers come as the network takes them"
            raise ValueError(f"mean and deviation are of images [N, C, H, W], found inputs of shape {found}{hint}")
        return None

    def taken(self, values: torch.Tensor, pixels: Optional[Pixels]) -> torch.Tensor:
        """Inputs as the network takes them, where it is."""
        given = pixels.to_network(values) if pixels is not None and values.dtype == torch.uint8 else values
        return given.to(self.place())


class _Converted(NamedTuple):
    """The user's network, and the model that was made of it."""

    network: _Network
    pixels: Optional[Pixels]
    programs: list[Program]
    model: Model

    def compare(self, inputs: Inputs, what: str) -> None:
        """ValueError where the model gives other logits than the network. Images of another size are not compared: the
        model fits them to its own.
        """
        values = inputs.in_order_of(self.model.feature_names)
        if len(values) == 0 or list(values.shape[1:]) != self.model.input_shape:
            return
        logits, found = self.network.logits(self.network.taken(values, self.pixels)), self.model.logits(values)
        same = (found == logits) | (found.isnan() & logits.isnan())
        difference = torch.where(same, torch.zeros_like(found), (found - logits).abs())
        off = float(difference.max() / logits.nan_to_num(0.0, 0.0, 0.0).abs().max().clamp(min=1))
        if off <= _TOLERANCE:
            return
        advice = "what it does should not depend on Python that torch.jit does not see"
        if any(program.traced for program in self.programs):
            advice = (
                "it was traced, so it always does what it did with the first inputs; choose by torch.where instead of `if`, "
                "or write it so that torch.jit.script takes it (and leave out `layer`)"
            )
        raise ValueError(
            f"as TorchScript the network gives other logits for {what}, by up to {off:.1e} of the largest: {advice}"
        )


def _converted(network: _Network, example: Inputs) -> _Converted:
    """The model of a network, without thresholds. Its logits for the example are compared with the network's."""
    if not network.modules:
        raise ValueError("calibrate: an ensemble should have networks, found none")
    if network.kind not in ("softmax", "dirichlet"):
        raise ValueError(f"kind should be softmax or dirichlet, found {network.kind!r}")
    if not isinstance(network.trained_on, str) or not network.trained_on:
        raise ValueError(f"trained_on should name the data that the network learnt from, found {network.trained_on!r}")
    for module in network.modules:
        check_can_be_stored(module)
    values = example.values
    pixels = network.normalisation(values)
    taken = network.taken(values, pixels)
    logits = network.logits(taken)
    title = type(network.modules[0]).__name__
    description = {
        "name": network.name or title.lower(),
        "network": title,
        "kind": network.kind,
        "classes": network.named_classes(logits.size(-1)),
        "shape": list(values.shape[1:]),
        "feature_names": example.feature_names,
        "mean": pixels.mean if pixels is not None else [],
        "deviation": pixels.deviation if pixels is not None else [],
        "trained_on": network.trained_on,
    }
    programs = [program_of(module, taken[:2], network.layer) for module in network.modules]
    place = str(network.place()) if network.device is None else device_named(network.device)
    _warn_of_fixed_values(programs)
    contents = [program.content for program in programs]
    model = Model(ops.model_of_programs(contents, json.dumps(description), place), place)
    converted = _Converted(network, pixels, programs, model)
    converted.compare(example, "the first batch")
    if network.layer is not None and not model._model.gives_features():
        raise ValueError(
            f"layer {network.layer!r} should give [N, F] that the logits follow from, and from nothing beside it"
        )
    return converted


def _warn_of_fixed_values(programs: Sequence[Program]) -> None:
    places = dict.fromkeys(place for program in programs for place in program.fixed)
    if places:
        warnings.warn(
            f"calibrate: the network was traced, and its Python took values of tensors or sizes ({', '.join(places)}): in the "
            "model they stay as they were for the first inputs; every calibration batch is compared with the network",
            stacklevel=4,
        )


class _Fitted(NamedTuple):
    """A model with the detectors that it should be watched by."""

    model: Model
    names: list[str]
    first_classes: Optional[set[int]] = None  #: of the inputs that they learnt from, if a loader gave more than these


def _warn_of_classes_lacking(numbers: set[int], names: Sequence[str]) -> None:
    if not numbers:
        return
    shown = ", ".join(names[number] for number in sorted(numbers)[:8]) + (", ..." if len(numbers) > 8 else "")
    warnings.warn(
        f"calibrate: detectors learnt from the first {int(ops.detector_training_rows())} inputs of `training`, which have none "
        f"of these classes: {shown}; shuffle the loader, or give a Dataset or arrays, of which a random part is taken",
        stacklevel=3,
    )


def _with_detectors(
    model: Model, training: Optional[Data], watch: Optional[Sequence[str]], progress: Optional[bool]
) -> _Fitted:
    """The model with detectors that learnt from `training`."""
    if training is None:
        if watch:
            raise ValueError("calibrate: detectors learn from what the network learnt from: give `training`")
        return _Fitted(model, [])
    if watch is not None and not watch:
        return _Fitted(model, [])
    usable = model._model.usable_detectors()
    for name in watch or []:
        if name not in usable:
            raise ValueError(f"calibrate: watch should name some of {', '.join(usable)}, found {name!r}")
    most = int(ops.detector_training_rows())
    part = random_part(training, most, model.feature_names)
    inputs, labels = model._gathered(training if part is None else part, most)
    if labels is None:
        raise ValueError("calibrate: training inputs should have labels, found none")
    fitting = classes.DetectorFitting(model._model)
    outcome = run_job(fitting, list(dict.fromkeys(watch or [])), inputs, labels, progress=progress)
    if outcome.interrupted or not outcome.finished:
        raise KeyboardInterrupt("calibration was stopped")
    with_detectors = Model(fitting.model(), model.device)
    first_classes = set(labels.tolist()) if part is None and len(inputs) >= most else None
    return _Fitted(with_detectors, with_detectors.scores[len(model.scores) :], first_classes)


def _name_of(data: Data) -> str:
    """The set's name in the record."""
    held = held_by(data)[-1]
    return "arrays" if isinstance(held, (tuple, list)) else type(held).__name__
