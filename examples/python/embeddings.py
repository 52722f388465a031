#!/usr/bin/env python3
"""A Prior Network on embeddings: any encoder gets a head that knows what it does not know.

The encoder is a small convolutional network that was trained, as usual, to tell the digits 0 to 6 apart. A
PriorNetworkClassifier learns from its embeddings. Then the encoder sees digits that nobody taught it: 7, 8 and 9.
Needs scikit-learn, for the digits (8 x 8 pixels, built in) and the classifier.
"""

import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import priornet


def trained_encoder(images, labels, epochs):
    """A classifier without its last layer; yours may come from anywhere."""
    torch.manual_seed(0)
    encoder = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * 16, 32),
        torch.nn.ReLU(),
    )
    head = torch.nn.Linear(32, 7)
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], 2e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(images)).split(64):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(head(encoder(images[rows])), labels[rows]).backward()
            optimiser.step()
    return encoder.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few epochs, to see that it runs")
    arguments = parser.parse_args()

    pixels, digits = load_digits(return_X_y=True)
    images = torch.from_numpy(pixels.reshape(-1, 1, 8, 8) / 8 - 1).float()
    known = np.flatnonzero(digits < 7)
    learnt, asked = train_test_split(known, test_size=0.3, random_state=0, stratify=digits[known])
    unknown = np.flatnonzero(digits >= 7)

    encoder = trained_encoder(images[learnt], torch.from_numpy(digits[learnt]), 5 if arguments.quick else 30)
    with torch.no_grad():
        embeddings = encoder(images).numpy()

    head = priornet.PriorNetworkClassifier(epochs=10 if arguments.quick else None)
    head.fit(embeddings[learnt], digits[learnt])
    print(f"digits 0 to 6: {head.score(embeddings[asked], digits[asked]):.1%} right")
    inside, outside = head.uncertainty(embeddings[asked]), head.uncertainty(embeddings[unknown])
    print("how well each measure tells the digits 7, 8 and 9, which nobody taught it:")
    for name, detection in priornet.detect(outside, inside).items():
        print(f"{name:22} AUROC {detection.auroc}")


if __name__ == "__main__":
    main()
