"""Small networks, inputs and loaders for tests of models: the classes are which quarter of an image is bright."""

import numpy as np
import torch

CLASSES = ["top left", "top right", "bottom left", "bottom right"]
MEAN, DEVIATION = [0.4, 0.5, 0.6], [0.2, 0.25, 0.3]


def quarters(count, seed):
    """Images uint8 [N, 3, 8, 8] and labels."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, count)
    images = random.integers(0, 90, (count, 3, 8, 8), dtype=np.uint8)
    for image, label in zip(images, labels):
        row, column = divmod(label, 2)
        image[:, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 100
    return torch.from_numpy(images), torch.from_numpy(labels)


def noise(count, seed):
    """Images that belong to no class."""
    return torch.from_numpy(np.random.default_rng(seed).integers(0, 256, (count, 3, 8, 8), dtype=np.uint8))


def normalised(images):
    """As torchvision's transforms have it."""
    mean, deviation = (torch.tensor(values).view(3, 1, 1) for values in (MEAN, DEVIATION))
    return (images.float() / 255 - mean) / deviation


class Convolutions(torch.nn.Module):
    """Scripts; its last layer is dense."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, stride=2)
        self.norm = torch.nn.BatchNorm2d(8)
        self.hidden = torch.nn.Linear(72, 16)
        self.drop = torch.nn.Dropout(0.5)
        self.last = torch.nn.Linear(16, 4)

    def forward(self, images):
        """Logits."""
        maps = torch.relu(self.norm(self.conv(images)))
        return self.last(self.drop(torch.relu(self.hidden(maps.flatten(1)))))


class Unscriptable(Convolutions):
    """Python that torch.jit.script does not understand, and tracing does."""

    def forward(self, images):
        """Logits."""
        parts = {**{"images": images}}
        return super().forward(parts["images"])


class Fickle(Unscriptable):
    """A network whose path depends on values, which tracing does not see."""

    def forward(self, images):
        """Logits whose sign depends on the number of inputs."""
        logits = super().forward(images)
        return logits if len(images) == 2 else -logits


def trained(kind=Convolutions, epochs=8, seed=0):
    """A network that knows the quarters, in training mode."""
    torch.manual_seed(seed)
    network = kind()
    images, labels = quarters(400, 0)
    optimiser = torch.optim.Adam(network.parameters(), 5e-3)
    for _ in range(epochs):
        for rows in torch.randperm(400).split(50):
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(network(normalised(images[rows])), labels[rows]).backward()
            optimiser.step()
    return network


def loader(count, seed, as_bytes=False):
    """Batches as a DataLoader gives them, with the names of the classes."""
    images, labels = quarters(count, seed)
    dataset = torch.utils.data.TensorDataset(images if as_bytes else normalised(images), labels)
    dataset.classes = CLASSES
    return torch.utils.data.DataLoader(dataset, batch_size=64)
