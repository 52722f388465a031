#!/usr/bin/env python3
"""Your own PyTorch network, told when to trust it: thresholds, verdicts with their cause, a report and a model file.

The network is a small convolutional one that learns the digits 0 to 6 in a plain training loop; yours may come from
anywhere. Digits that it did not learn from set its thresholds: of others like them at most 5 % are handed back. Then it
is asked about 7, 8 and 9, which nobody taught it. Needs scikit-learn, for the digits (8 x 8 pixels, built in).
"""

import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

import priornet

MEAN, DEVIATION = 0.3, 0.35


def digits():
    """Images uint8 [N, 1, 8, 8] and labels."""
    pixels, labels = load_digits(return_X_y=True)
    return torch.from_numpy((15 * pixels).astype(np.uint8).reshape(-1, 1, 8, 8)), torch.from_numpy(labels)


def loader(images, labels, shuffle=False):
    """As torchvision's transforms have it: ToTensor, then Normalize."""
    return DataLoader(TensorDataset((images / 255 - MEAN) / DEVIATION, labels), batch_size=64, shuffle=shuffle)


def trained(batches, epochs):
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 16, 32),
        torch.nn.ReLU(),
        torch.nn.Linear(32, 7),
    )
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(epochs):
        for images, labels in batches:
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(images), labels).backward()
            optimiser.step()
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few epochs, to see that it runs")
    arguments = parser.parse_args()

    images, labels = digits()
    known = torch.randperm(len(images), generator=torch.Generator().manual_seed(1))
    known = known[labels[known] < 7]
    learnt, held_out, asked = known[:700], known[700:1000], known[1000:]
    unknown = images[labels >= 7]

    training = loader(images[learnt], labels[learnt], shuffle=True)
    network = trained(training, 3 if arguments.quick else 30)
    model = priornet.calibrate(
        network,
        loader(images[held_out], labels[held_out]),
        rate=0.05,
        mean=MEAN,
        deviation=DEVIATION,
        training=training,  # detectors learn what it learnt from
        class_names=[f"digit {number}" for number in range(7)],
        name="digits",
    )
    print(model)
    print(model.predict(unknown[:5]))

    evaluation = priornet.evaluate(
        model, (images[asked], labels[asked]), ood={"digits from 7 to 9": unknown}, replicates=100 if arguments.quick else 0
    )
    print(evaluation)
    evaluation.report("digits.html")
    model.save("digits.priornet")
    print("Written: digits.html and digits.priornet. Serve it: priornet serve digits.priornet --allow-torchscript")


if __name__ == "__main__":
    main()
