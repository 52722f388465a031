#!/usr/bin/env python3
"""Training steps of a ResNet-18 in plain PyTorch: what the loss adds to a step, in turn, in one run.

The same network, batch and optimiser with cross-entropy, with priornet.PriorNetworkLoss, and with the same loss as people
write it by hand: forward KL from smoothed labels and flat targets by torch.lgamma and torch.digamma on alpha =
exp(logits). Every step takes `--batch` inputs; half of them are out of distribution, which cross-entropy takes for others.
"""

import argparse
import statistics
import time

import torch

import priornet

ALPHA0, EPSILON = 100.0, 0.01


class Block(torch.nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = torch.nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = torch.nn.BatchNorm2d(outputs)
        self.second = torch.nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = torch.nn.BatchNorm2d(outputs)
        self.shortcut = torch.nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = torch.nn.Sequential(
                torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False), torch.nn.BatchNorm2d(outputs)
            )

    def forward(self, maps):
        """As in He et al. (2016)."""
        hidden = torch.relu(self.first_norm(self.first(maps)))
        return torch.relu(self.second_norm(self.second(hidden)) + self.shortcut(maps))


def resnet18(classes, width):
    """For images of 32 x 32 pixels; 64 channels at first are the usual width."""
    layers = [torch.nn.Conv2d(3, width, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(width), torch.nn.ReLU()]
    channels = width
    for group in range(4):
        for block in range(2):
            wider = width * 2**group
            layers.append(Block(channels, wider, 2 if group > 0 and block == 0 else 1))
            channels = wider
    return torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(channels, classes))


def kl_by_hand(target, alpha):
    """KL between Dirichlets, row by row, by the textbook formula."""
    total, model_total = target.sum(1), alpha.sum(1)
    log_ratio = torch.lgamma(total) - torch.lgamma(model_total) - (torch.lgamma(target) - torch.lgamma(alpha)).sum(1)
    digammas = torch.digamma(target) - torch.digamma(total).unsqueeze(1)
    return log_ratio + ((target - alpha) * digammas).sum(1)


def loss_by_hand(logits, labels):
    """Forward KL on both halves of the batch."""
    inside = len(labels)
    alpha = logits.exp()
    target = torch.full_like(alpha[:inside], ALPHA0 * EPSILON)
    target.scatter_(1, labels.unsqueeze(1), ALPHA0 * (1 - (alpha.size(1) - 1) * EPSILON))
    outside = torch.ones_like(alpha[inside:])
    return kl_by_hand(target, alpha[:inside]).mean() + kl_by_hand(outside, alpha[inside:]).mean()


class Step:
    """One way of training, with a network of its own."""

    def __init__(self, loss, arguments):
        torch.manual_seed(0)
        self.loss = loss
        self.arguments = arguments
        self.network = resnet18(arguments.classes, arguments.width).to(arguments.device, memory_format=torch.channels_last)
        self.optimiser = torch.optim.SGD(self.network.parameters(), 1e-3, momentum=0.9)

    def __call__(self, images, labels):
        """Forward, backward, update."""
        self.optimiser.zero_grad()
        with torch.autocast(self.arguments.device, torch.bfloat16, enabled=self.arguments.bfloat16):
            logits = self.network(images)
        self.loss(logits.float(), labels).backward()
        self.optimiser.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=256, help="inputs per step")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--width", type=int, default=64, help="channels of the first layer")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--bfloat16", action="store_true", help="convolutions in bfloat16")
    parser.add_argument("--threads", type=int, help="CPU threads")
    parser.add_argument("--rounds", type=int, default=15, help="of each loss, in turn; the median counts")
    parser.add_argument("--steps", type=int, default=20, help="per round")
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)

    half = arguments.batch // 2
    images = torch.randn(2 * half, 3, 32, 32, device=arguments.device).contiguous(memory_format=torch.channels_last)
    labels = torch.randint(arguments.classes, (2 * half,), device=arguments.device)
    ours = priornet.PriorNetworkLoss(alpha0=ALPHA0, epsilon=EPSILON)
    ways = {
        "cross-entropy": Step(torch.nn.functional.cross_entropy, arguments),
        "priornet.PriorNetworkLoss": Step(lambda logits, given: ours(logits, given[:half]), arguments),
        "the same by hand": Step(lambda logits, given: loss_by_hand(logits, given[:half]), arguments),
    }
    synchronise = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    seconds = {name: [] for name in ways}
    for round_number in range(arguments.rounds + 1):
        for name, step in ways.items():
            synchronise()
            start = time.perf_counter()
            for _ in range(arguments.steps):
                step(images, labels)
            synchronise()
            if round_number > 0:  # the first warms up
                seconds[name].append((time.perf_counter() - start) / arguments.steps)

    where = torch.cuda.get_device_name() if arguments.device == "cuda" else f"{torch.get_num_threads()} CPU thread(s)"
    precision = "bfloat16" if arguments.bfloat16 else "float32"
    print(f"PyTorch {torch.__version__}, {where}, {precision}, ResNet-18 on {2 * half} inputs of 3 x 32 x 32 per step")
    plain = statistics.median(seconds["cross-entropy"])
    for name, measured in seconds.items():
        # Rounds are compared with the round of cross-entropy beside them: a machine that slows down slows both.
        ratios = [ours / theirs for ours, theirs in zip(measured, seconds["cross-entropy"])]
        print(
            f"{name:28} {1e3 * statistics.median(measured):9.3f} ms per step, "
            f"{100 * (statistics.median(ratios) - 1):+6.2f} % of cross-entropy's {1e3 * plain:.3f} ms"
        )


if __name__ == "__main__":
    main()
