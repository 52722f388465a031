#!/usr/bin/env python3
"""Whole training steps by PyTorch as fast as people get it, beside those of `priornet bench --only training`, in one run.

PyTorch: torch.compile with CUDA graphs, channels-last, bfloat16 autocast, fused SGD; batches are gathered and augmented on
the GPU by a compiled function. It has less to do than priornet's step, which also rotates images of 32 x 32 pixels and takes
NAdam. Losses are the same: forward KL from smoothed labels and flat targets (dpn), cross-entropy (dnn).

    python3 bench/compiled_training.py --priornet build/cuda/bin/priornet
"""

import argparse
import json
import statistics
import subprocess
import time

import torch
from torch import nn

ALPHA0, EPSILON, CLIP = 100.0, 0.01, 10.0
# network: classes, channels and side of an image, images of the set, widest shift, images per step inside and outside
CASES = {
    "vgg16": (10, 3, 32, 50_000, 4, 256, 256),
    "resnet18": (10, 3, 32, 50_000, 4, 256, 256),
    "wide-resnet-28-10": (10, 3, 32, 50_000, 4, 128, 128),
    "resnet50": (1000, 3, 224, 4_096, 16, 128, 0),
}


def unbiased(inputs, outputs, side, stride):
    return nn.Conv2d(inputs, outputs, side, stride, side // 2, bias=False)


class Block(nn.Module):
    """A block of a ResNet: two convolutions of 3 x 3, or a bottleneck of three convolutions."""

    def __init__(self, inputs, channels, stride, bottleneck):
        super().__init__()
        plan = [(inputs, channels, 3, stride), (channels, channels, 3, 1)]
        if bottleneck:
            plan = [(inputs, channels, 1, 1), (channels, channels, 3, stride), (channels, 4 * channels, 1, 1)]
        layers = []
        for convolution in plan:
            layers += [unbiased(*convolution), nn.BatchNorm2d(convolution[1]), nn.ReLU()]
        outputs = plan[-1][1]
        self.body = nn.Sequential(*layers[:-1])
        self.shortcut = nn.Identity()
        if inputs != outputs or stride != 1:
            self.shortcut = nn.Sequential(unbiased(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, maps):
        return torch.relu(self.body(maps) + self.shortcut(maps))


class WideBlock(nn.Module):
    """Batch norm and ReLU before each convolution."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        layers = [unbiased(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs), nn.ReLU(), unbiased(outputs, outputs, 3, 1)]
        self.body = nn.Sequential(*layers)
        self.shortcut = unbiased(inputs, outputs, 1, stride) if inputs != outputs or stride != 1 else None

    def forward(self, maps):
        active = torch.relu(self.norm(maps))
        return self.body(active) + (maps if self.shortcut is None else self.shortcut(active))


def pooled_logits(channels, classes):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]


def resnet(classes, large, bottleneck, blocks):
    layers = [unbiased(3, 64, 7 if large else 3, 2 if large else 1), nn.BatchNorm2d(64), nn.ReLU()]
    if large:
        layers.append(nn.MaxPool2d(3, 2, 1))
    inputs = 64
    for group, count in enumerate(blocks):
        channels = 64 << group
        for block in range(count):
            layers.append(Block(inputs, channels, 2 if group > 0 and block == 0 else 1, bottleneck))
            inputs = 4 * channels if bottleneck else channels
    return nn.Sequential(*layers, *pooled_logits(inputs, classes))


def wide_resnet(classes):
    layers = [unbiased(3, 16, 3, 1)]
    inputs = 16
    for group, channels in enumerate((160, 320, 640)):
        for block in range(4):
            layers.append(WideBlock(inputs, channels, 2 if group > 0 and block == 0 else 1))
            inputs = channels
    return nn.Sequential(*layers, nn.BatchNorm2d(inputs), nn.ReLU(), *pooled_logits(inputs, classes))


def vgg16(classes):
    layers, inputs = [], 3
    for group in ((64, 64), (128, 128), (256,) * 3, (512,) * 3, (512,) * 3):
        for channels in group:
            layers += [nn.Conv2d(inputs, channels, 3, padding=1), nn.LeakyReLU(0.2)]
            inputs = channels
        layers.append(nn.MaxPool2d(2))
    layers.append(nn.Flatten())
    for units in (2048, 2048):
        layers += [nn.Linear(inputs, units), nn.LeakyReLU(0.2)]
        inputs = units
    return nn.Sequential(*layers, nn.Linear(inputs, classes))


def network_named(name, classes):
    if name == "vgg16":
        return vgg16(classes)
    if name == "wide-resnet-28-10":
        return wide_resnet(classes)
    return resnet(classes, name == "resnet50", name == "resnet50", (3, 4, 6, 3) if name == "resnet50" else (2, 2, 2, 2))


def kl(target, alpha):
    """KL between Dirichlets, row by row."""
    total = target.sum(1)
    logs = torch.lgamma(total) - torch.lgamma(alpha.sum(1)) + (torch.lgamma(alpha) - torch.lgamma(target)).sum(1)
    return logs + ((target - alpha) * (torch.digamma(target) - torch.digamma(total).unsqueeze(1))).sum(1)


def dpn_loss(logits, labels):
    """Forward KL on both parts of the batch."""
    inside = len(labels)
    alpha = logits.float().exp()
    peak = ALPHA0 * (1 - (alpha.size(1) - 1) * EPSILON)
    target = torch.full_like(alpha[:inside], ALPHA0 * EPSILON).scatter(1, labels.unsqueeze(1), peak)
    return kl(target, alpha[:inside]).mean() + kl(torch.ones_like(alpha[inside:]), alpha[inside:]).mean()


def dnn_loss(logits, labels):
    return nn.functional.cross_entropy(logits.float(), labels)


def augmented(images, shift):
    """Images uint8 [N, C, S, S] flipped and shifted by chance, in [-1, 1]."""
    count, _, side, _ = images.shape
    device = images.device
    places = torch.arange(side, device=device)
    moved = torch.randint(-shift, shift + 1, (count, 2), device=device)

    def reflected(index):
        index = index.abs()
        return torch.where(index > side - 1, 2 * (side - 1) - index, index)

    rows = reflected(places + moved[:, :1])
    columns = reflected(places + moved[:, 1:])
    columns = torch.where(torch.rand(count, 1, device=device) < 0.5, side - 1 - columns, columns)
    picked = torch.arange(count, device=device)[:, None, None]
    # [N, S, S, C] from a channels-last set, as the network takes it, without a copy.
    pixels = images.permute(0, 2, 3, 1)[picked, rows[:, :, None], columns[:, None, :]]
    return (pixels.float() / 127.5 - 1).permute(0, 3, 1, 2)


class Training:
    """Steps of one network."""

    def __init__(self, name, arguments):
        self.classes, channels, side, images, self.shift, self.inside, self.outside = CASES[name]
        if arguments.shrink > 1:
            images, self.inside, self.outside = (n // arguments.shrink for n in (images, self.inside, self.outside))
        self.device = arguments.device
        torch.manual_seed(0)
        self.network = network_named(name, self.classes).to(self.device, memory_format=torch.channels_last)
        self.parameters = list(self.network.parameters())
        fused = {"fused": True} if self.device == "cuda" else {}
        self.optimiser = torch.optim.SGD(self.parameters, 1e-4, momentum=0.9, **fused)

        def some():
            pixels = torch.randint(256, (images, channels, side, side), dtype=torch.uint8, device=self.device)
            return pixels.contiguous(memory_format=torch.channels_last)

        self.sets = [some(), some()] if self.outside else [some()]
        self.labels = torch.randint(self.classes, (images,), device=self.device)
        loss = dpn_loss if self.outside else dnn_loss

        def forward(batch, labels):
            with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
                logits = self.network(batch)
            return loss(logits, labels)

        def batch(rows):
            parts = [images[chosen] for images, chosen in zip(self.sets, rows)]
            return augmented(torch.cat(parts), self.shift).contiguous(memory_format=torch.channels_last)

        self.forward, self.batch = forward, batch
        if arguments.mode != "eager":
            self.forward = torch.compile(forward, mode=arguments.mode)
            self.batch = torch.compile(batch)

    def step(self):
        """Batch, forward, loss, backward, clipping, update."""
        counts = [self.inside, self.outside] if self.outside else [self.inside]
        rows = [torch.randint(len(self.labels), (count,), device=self.device) for count in counts]
        loss = self.forward(self.batch(rows), self.labels[rows[0]])
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.optimiser.step()

    def images_per_second(self, seconds, rounds=5):
        """The median of a few rounds."""
        synchronise = torch.cuda.synchronize if self.device == "cuda" else lambda: None

        def timed(steps):
            synchronise()
            start = time.perf_counter()
            for _ in range(steps):
                self.step()
            synchronise()
            return (time.perf_counter() - start) / steps

        timed(10)  # compiles, records, chooses kernels
        steps = max(5, int(seconds / rounds / timed(10)))
        return (self.inside + self.outside) / statistics.median(timed(steps) for _ in range(rounds))


def ours(tool, seconds):
    """images/s by (network, inside, outside)."""
    command = [tool, "bench", "--device", "cuda", "--only", "training", "--seconds", str(seconds), "--json"]
    lines = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["training"]
    return {
        (line["network"], line["inside"], line["outside"]): line["images_per_second"]
        for line in lines
        if not line["factor_analysis"]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(CASES), help="of " + ", ".join(CASES))
    parser.add_argument("--mode", default="max-autotune", help="of torch.compile: max-autotune, reduce-overhead; or eager")
    parser.add_argument("--seconds", type=float, default=2.0, help="per network, compilation apart")
    parser.add_argument("--priornet", help="the tool, to run the same steps of ours before")
    parser.add_argument("--device", default="cuda", help="cuda, or cpu to try this program")
    parser.add_argument("--shrink", type=int, default=1, help="batches and sets, to try this program")
    arguments = parser.parse_args()
    torch.backends.cudnn.benchmark = True

    measured = ours(arguments.priornet, arguments.seconds) if arguments.priornet else {}
    where = torch.cuda.get_device_name() if arguments.device == "cuda" else "CPU"
    print(f"PyTorch {torch.__version__}, {arguments.mode}, {where}; images per second of whole training steps")
    print(f"{'network':17} {'in':>4} + {'out':<4} {'priornet':>10} {'PyTorch':>10} {'ratio':>6}")
    for name in arguments.networks.split(","):
        training = Training(name, arguments)
        theirs = training.images_per_second(arguments.seconds)
        mine = measured.get((name, training.inside, training.outside))
        beside = f"{mine:10.0f} {theirs:10.0f} {mine / theirs:6.2f}" if mine else f"{'-':>10} {theirs:10.0f} {'-':>6}"
        print(f"{name:17} {training.inside:4} + {training.outside:<4} {beside}", flush=True)
        del training
        if arguments.mode != "eager":
            torch._dynamo.reset()
        if arguments.device == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
