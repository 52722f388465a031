"""What the tests of the Python module share. PRIORNET_TOOL names the tool that they are compared with."""

import os
import subprocess

import numpy as np
import pytest
import torch

import priornet

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() and torch.ops.priornet.has_cuda() else [])


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(7)


@pytest.fixture
def tool():
    """Runs the tool with one thread, and gives what it printed."""
    path = os.environ.get("PRIORNET_TOOL")
    if not path:
        pytest.skip("PRIORNET_TOOL does not name the tool")

    def run(*arguments):
        words = [path, "--threads", "1", *map(str, arguments)]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def blobs():
    """Three Gaussian classes in the plane: rows and labels."""
    random = np.random.default_rng(3)
    centres = np.array([[0, 0], [6, 0], [0, 6]])
    labels = np.repeat(["elm", "fir", "oak"], 40)
    return random.normal(np.repeat(centres, 40, axis=0)).astype(np.float32), labels


@pytest.fixture
def one_thread():
    """The same threads give the same network."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def double_by_default():
    """The user works in float64."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture
def trained(blobs, tmp_path):
    """A small run."""
    return priornet.train(data=blobs, out=tmp_path / "run", settings={"training.epochs": 5}, device="cpu")
