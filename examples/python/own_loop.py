#!/usr/bin/env python3
"""A Prior Network in your own PyTorch training loop: two classes in the plane, and what lies beside them.

The loss holds inputs of the training distribution to a sharp Dirichlet on their class, and those outside to a flat one.
The outside here is a ring around the data, made by hand; images of another data set, or noise, do as well.
"""

import argparse
import math

import torch

import priornet


def crescents(count, generator):
    """Two crescents that reach into one another, and their labels."""
    labels = torch.arange(count) % 2
    angle = math.pi * torch.rand(count, generator=generator)
    x = torch.where(labels == 0, angle.cos(), 1 - angle.cos())
    y = torch.where(labels == 0, angle.sin(), 0.5 - angle.sin())
    points = torch.stack([x - 0.5, y - 0.25], 1)
    return points + 0.15 * torch.randn(count, 2, generator=generator), labels


def ring(count, generator):
    """Points around the crescents that belong to neither."""
    angle = 2 * math.pi * torch.rand(count, generator=generator)
    radius = 2.5 + 3 * torch.rand(count, generator=generator)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--quick", action="store_true", help="few steps, to see that it runs")
    arguments = parser.parse_args()
    steps = 300 if arguments.quick else arguments.steps

    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2)
    )
    loss = priornet.PriorNetworkLoss(reverse=True, alpha0=100.0, epsilon=0.01, outside_weight=20.0)
    print(loss)
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    for step in range(1, steps + 1):
        inside, labels = crescents(128, generator)
        outside = ring(64, generator)
        optimiser.zero_grad()
        parts = loss.parts(network(torch.cat([inside, outside])), labels)  # the first rows are inside
        parts.total.backward()
        optimiser.step()
        if step % (steps // 5) == 0:
            print(f"step {step}: inside {parts.inside:.3f}, outside {parts.outside:.3f}")

    with torch.no_grad():
        inside, labels = crescents(2000, generator)
        measured = priornet.measures(network(inside))
        away = priornet.measures(network(ring(2000, generator)))
    print(measured)
    print(f"error {(measured.prediction != labels).float().mean():.2%}")
    for name, detection in priornet.detect(away, measured).items():
        print(f"{name:22} tells what lies outside: AUROC {detection.auroc}")


if __name__ == "__main__":
    main()
