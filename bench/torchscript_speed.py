#!/usr/bin/env python3
"""A torchvision network as a TorchScript file, trained and run by the tool, beside the same network in PyTorch, eager and compiled.

    bench/torchscript_speed.py build/release/bin/priornet --device cuda [--network resnet18] [--side 64] [--batch 256] [--package]

All in one run on the same machine. Training: whole steps with cross-entropy and SGD, bfloat16 on a GPU, from bytes in memory; of the tool the images
per second of its last epoch (metrics.jsonl). Asking: from bytes on the host to the probabilities and the entropy, in batches, float32 by LibTorch's
defaults (on a GPU, convolutions may use TF32); of the tool what `priornet bench --only prediction` says of the model file, and there all measures and
the verdict are in it. --package also compiles the network (AOTInductor, .pt2; PyTorch 2.6 or later), calibrates the package by `calibrate --network`
and asks it. Needs torch, torchvision and numpy, and priornet-bench beside the tool; prints Markdown.
"""

import argparse
import json
import pathlib
import tempfile
import time

import numpy
import torch
import torchvision
from tool_process import tool_in, write_set

MEAN, DEVIATION, CLASSES = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225], 10
CONFIG = """[data]
train = "set"
mean = {mean}
deviation = {deviation}
[model]
file = "net.pt"
[method]
name = "{method}"
{outside}[training]
epochs = {epochs}
batch = {batch}
{outside_batch}optimiser = "sgd"
momentum = 0.9
rate = 0.01
precision = "{precision}"
"""


def seconds_per_call(call, synchronise, seconds):
    """The mean of as many calls as fit, after a few to warm up."""
    for _ in range(5):
        call()
    synchronise()
    begin, calls = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        for _ in range(4):
            call()
        synchronise()
        calls += 4
    return (time.perf_counter() - begin) / calls


class Normalised(torch.nn.Module):
    """Bytes as torchvision's networks take them."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(MEAN).view(3, 1, 1))
        self.register_buffer("deviation", torch.tensor(DEVIATION).view(3, 1, 1))

    def forward(self, images):
        return self.network((images.float() / 255 - self.mean) / self.deviation)


def training_speed(network, images, labels, options, compiled):
    device = torch.device(options.device)
    model = Normalised(network).to(device, memory_format=torch.channels_last).train()
    model = torch.compile(model) if compiled else model
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = images.to(device), labels.to(device)
    generator = torch.Generator(device=device).manual_seed(1)

    def step():
        rows = torch.randint(len(images), (options.batch,), device=device, generator=generator)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            logits = model(images[rows].contiguous(memory_format=torch.channels_last))
        loss = torch.nn.functional.cross_entropy(logits.float(), labels[rows])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return options.batch / seconds_per_call(step, synchronised(device), options.seconds)


def asking_speed(network, images, options, compiled, batch):
    device = torch.device(options.device)
    model = Normalised(network).to(device, memory_format=torch.channels_last).eval()
    model = torch.compile(model) if compiled else model
    some = images[:batch]

    @torch.no_grad()
    def ask():
        logits = model(some.to(device).contiguous(memory_format=torch.channels_last)).double()
        probabilities = logits.softmax(1)
        entropy = -(probabilities * probabilities.clamp_min(1e-300).log()).sum(1)
        return probabilities.cpu(), entropy.cpu()

    return len(some) / seconds_per_call(ask, synchronised(device), options.seconds)


def synchronised(device):
    return torch.cuda.synchronize if device.type == "cuda" else (lambda: None)


def fresh(options):
    torch.manual_seed(1)
    return getattr(torchvision.models, options.network)(num_classes=CLASSES)


def prediction_speed(run, model, options):
    lines = json.loads(run("bench", "--only", "prediction", "--model", model, "--device", options.device, "--seconds", str(options.seconds),
                           "--allow-torchscript", "--json"))
    return {line["batch"]: line["inputs_per_second"] for line in lines["prediction"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the program priornet")
    parser.add_argument("--device", default="cuda", choices=("cpu", "cuda"))
    parser.add_argument("--network", default="resnet18")
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--package", action="store_true", help="also compile a .pt2 and calibrate it")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out, where there is no compiler")
    options = parser.parse_args()
    draw = numpy.random.default_rng(1)
    images = draw.integers(0, 256, (options.rows, 3, options.side, options.side), dtype=numpy.uint8)
    labels = numpy.arange(options.rows) % CLASSES
    pixels, kinds = torch.from_numpy(images), torch.from_numpy(labels)
    ways = [("PyTorch, eager", False)] + ([] if options.no_compile else [("PyTorch, compiled", True)])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = tool_in(folder, options.tool, data_root=folder)
        write_set(folder, "set", images, labels, CLASSES)
        write_set(folder, "held-out", images[:400], labels[:400], CLASSES)
        numpy.save(folder / "images.npy", images[:64])
        torch.jit.script(fresh(options)).save(str(folder / "net.pt"))

        print(f"{options.network}, {options.side} x {options.side} pixels, {options.device}, PyTorch {torch.__version__}\n")
        print("| training | images/s |\n|---|---:|")
        for method in ("dnn", "dpn-reverse"):
            prior = method != "dnn"
            (folder / "config.toml").write_text(CONFIG.format(
                mean=MEAN, deviation=DEVIATION, method=method, epochs=options.epochs, batch=options.batch // (2 if prior else 1),
                outside='[outside]\nsource = "uniform-noise"\n' if prior else "", outside_batch=f"outside_batch = {options.batch // 2}\n" if prior else "",
                precision="bfloat16" if options.device == "cuda" else "float32"))
            run("train", "config.toml", "--out", method, "--device", options.device, "--quiet")
            last = json.loads((folder / method / "metrics.jsonl").read_text().splitlines()[-1])
            kind = "as a Prior Network, half of each batch outside" if prior else "cross-entropy"
            print(f"| the tool, TorchScript, {kind} | {last['images_per_second']:.0f} |", flush=True)
        for name, compiled in ways:
            print(f"| {name}, cross-entropy | {training_speed(fresh(options), pixels, kinds, options, compiled):.0f} |", flush=True)

        run("calibrate", "dpn-reverse", "--data", "held-out", "--out", "m.priornet", "--no-detectors", "--allow-torchscript", "--device", options.device)
        said = run("predict", "m.priornet", "images.npy", "--format", "csv", "--allow-torchscript", "--device", options.device)
        print(f"\nAsked on {options.device}: {len(said.splitlines()) - 1} verdicts of 64 images.\n")
        models = {"the tool, TorchScript: every measure and the verdict": "m.priornet"}
        if options.package:
            network = fresh(options).eval().to(options.device)
            example = torch.zeros(8, 3, options.side, options.side, device=options.device)
            exported = torch.export.export(network, (example,), dynamic_shapes={"x": {0: torch.export.Dim("rows", min=1, max=1024)}})
            torch._inductor.aoti_compile_and_package(exported, package_path=str(folder / "net.pt2"))
            run("calibrate", "--network", "net.pt2", "--data", "held-out", "--kind", "softmax", "--mean", *map(str, MEAN), "--deviation",
                *map(str, DEVIATION), "--no-detectors", "--out", "p.priornet", "--device", options.device)
            rows = run("predict", "p.priornet", "images.npy", "--format", "jsonl", "--allow-torchscript", "--device", options.device).splitlines()
            with torch.no_grad():
                wanted = Normalised(network.cpu())(pixels[:64]).double().softmax(1).max(1).values.numpy()
            worst = max(abs(json.loads(row)["max_prob"] - wanted[i]) for i, row in enumerate(rows))
            print(f"The package's largest probabilities differ from PyTorch's by at most {worst:.1e}.\n")
            models["the tool, .pt2 (AOTInductor)"] = "p.priornet"
        batches = (1, 32, 256)
        print(f"| asking, images/s by batch | {' | '.join(map(str, batches))} |\n|---|" + "---:|" * len(batches))
        for name, model in models.items():
            speeds = prediction_speed(run, model, options)
            print(f"| {name} | {' | '.join(f'{speeds[batch]:.0f}' for batch in batches)} |", flush=True)
        for name, compiled in ways:
            speeds = [asking_speed(fresh(options), pixels, options, compiled, batch) for batch in batches]
            print(f"| {name}: probabilities and entropy | {' | '.join(f'{speed:.0f}' for speed in speeds)} |", flush=True)


if __name__ == "__main__":
    main()
