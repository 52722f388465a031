"""networks.py TOOL FOLDER NETWORK...: networks of torchvision, with random weights, through the tool: as TorchScript files and, where the tool has
the network itself, as weights. Their answers are held to PyTorch's; then they are trained as Prior Networks, calibrated, asked and served."""
import csv
import json
import os
import signal
import struct
import subprocess
import sys
import urllib.request

import numpy as np
import torch
import torchvision

TOOL, FOLDER, NETWORKS = sys.argv[1], sys.argv[2], sys.argv[3:]
SIDE, CLASSES, ROWS = 64 + 32, 4, 64
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
OURS = {"resnet18", "resnet34", "resnet50"}


def tool(*arguments, wanted=0):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, cwd=FOLDER)
    if done.returncode != wanted:
        sys.exit(f"priornet {' '.join(arguments)}: ended with {done.returncode}, should with {wanted}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def write_set():
    random = np.random.default_rng(1)
    labels = np.arange(ROWS) % CLASSES
    images = random.integers(0, 256, (ROWS, 3, SIDE, SIDE), dtype=np.uint8)
    images[np.arange(ROWS), :, labels * 8, :] = 255  # something to learn
    np.savez(os.path.join(FOLDER, "set.npz"), images=images, labels=labels)
    np.save(os.path.join(FOLDER, "images.npy"), images)
    return torch.from_numpy(images)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        if values.dtype != torch.float32:
            continue
        raw = values.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def configuration(model, method, training):
    lines = ["[data]", 'train = "set.npz"', f"mean = {MEAN}", f"deviation = {DEVIATION}", "[model]", model, "[method]", f'name = "{method}"',
             "[outside]", 'source = "uniform-noise"', "[training]", "epochs = 1", "batch = 16", "outside_batch = 16", *training]
    path = os.path.join(FOLDER, "config.toml")
    with open(path, "w") as file:
        file.write("\n".join(lines))
    return path


def predicted(model):
    out = os.path.join(FOLDER, "said.csv")
    tool("predict", model, "images.npy", "--out", out, "--allow-torchscript")
    with open(out) as file:
        return {name: np.array([float(row[name]) for row in rows]) for rows in [list(csv.DictReader(file))] for name in ("max_prob", "energy")}


def held_to_pytorch(name, network, images, model):
    """A run whose steps are too small to change anything: its answers are those of the file."""
    config = configuration(model, "dnn", ["freeze = true", "rate = 1e-30"])
    tool("train", config, "--out", "untouched", "--force")
    with torch.no_grad():
        mean, deviation = torch.tensor(MEAN).view(3, 1, 1), torch.tensor(DEVIATION).view(3, 1, 1)
        logits = network(((images.float() / 255) - mean) / deviation).double()
    said = predicted("untouched")
    for column, wanted in {"max_prob": logits.softmax(1).max(1).values, "energy": -logits.logsumexp(1)}.items():
        worst = float(np.abs(said[column] - wanted.numpy()).max() / max(1.0, float(wanted.abs().max())))
        print(f"{name}: {column} differs from PyTorch's by at most {worst:.1e}")
        if not worst <= 1e-5:
            sys.exit(f"{name}: {column} should differ by at most 1e-5")


def trained_and_served(name):
    config = configuration(f'file = "{name}.pt"', "dpn-reverse", ["rate = 1e-4"])
    tool("train", config, "--out", "run", "--force")
    tool("calibrate", "run", "--data", "set.npz", "--out", "m.priornet", wanted=1)
    tool("calibrate", "run", "--data", "set.npz", "--out", "m.priornet", "--name", "m", "--allow-torchscript")
    refused = tool("predict", "m.priornet", "images.npy", wanted=1)
    if "give --allow-torchscript" not in refused:
        sys.exit(f"{name}: a model file was refused without saying how it is opened: {refused}")
    said = predicted("m.priornet")
    server = subprocess.Popen([TOOL, "serve", "m.priornet", "--port", "0", "--allow-torchscript"], cwd=FOLDER, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        address = next(word.rstrip(".,;/") for line in server.stdout for word in line.split() if word.startswith("http://"))
        pixels = np.load(os.path.join(FOLDER, "images.npy"))[0]
        request = {"inputs": [{"name": "input", "datatype": "UINT8", "shape": [1, 3, SIDE, SIDE], "data": pixels.flatten().tolist()}]}
        with urllib.request.urlopen(f"{address}/v2/models/m/infer", json.dumps(request).encode()) as answer:
            outputs = {item["name"]: item["data"] for item in json.load(answer)["outputs"]}
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    if abs(outputs["max_prob"][0] - said["max_prob"][0]) > 1e-6:
        sys.exit(f"{name}: the server says {outputs['max_prob'][0]}, predict {said['max_prob'][0]}")
    print(f"{name}: trained, calibrated, asked and served")


def main():
    images = write_set()
    for name in NETWORKS:
        torch.manual_seed(1)
        network = getattr(torchvision.models, name)(num_classes=CLASSES)
        with torch.no_grad():  # statistics of batch norm that fit the weights: else all logits are about 0
            for _ in range(20):
                network(torch.randn(16, 3, SIDE, SIDE))
        network.eval()
        torch.jit.script(network).save(os.path.join(FOLDER, f"{name}.pt"))
        held_to_pytorch(name, network, images, f'file = "{name}.pt"')
        if name in OURS:
            write_safetensors(os.path.join(FOLDER, f"{name}.safetensors"), network.state_dict())
            held_to_pytorch(f"{name}, weights", network, images, f'name = "{name}"\nweights = "{name}.safetensors"')
        trained_and_served(name)


main()
