"""compiled_package.py TOOL [--device cpu|cuda]: a network that PyTorch compiled (AOTInductor, .pt2) through the tool: calibrated, stored, opened and
asked. Its answers are held to PyTorch's own and to those of the same network as a TorchScript file. Skipped (77) below PyTorch 2.6, or where the tool
was built with an older LibTorch. The Python's PyTorch should be the tool's LibTorch."""
import argparse
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from tool_process import write_set  # noqa: E402

MEAN, DEVIATION, CLASSES, SIDE, ROWS = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225], 5, 24, 70
BOUND = {"cpu": 1e-5, "cuda": 1e-4}


def make_network():
    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(32, CLASSES))
    with torch.no_grad():
        network[-1].weight.mul_(20)  # logits that differ
        network(torch.randn(64, 3, SIDE, SIDE))
    return network.eval()


def compile_package(network, path, device):
    example = torch.zeros(8, 3, SIDE, SIDE, device=device)
    rows = torch.export.Dim("rows", min=1, max=4096)
    exported = torch.export.export(network.to(device), (example,), dynamic_shapes=({0: rows},))
    torch._inductor.aoti_compile_and_package(exported, package_path=str(path))


def expected(network, images, device):
    """What PyTorch says on that device, by column of `predict`. On a GPU convolutions may use TF32, in PyTorch as in the tool."""
    mean, deviation = torch.tensor(MEAN).view(3, 1, 1), torch.tensor(DEVIATION).view(3, 1, 1)
    with torch.no_grad():
        logits = network.to(device)(((torch.from_numpy(images).float() / 255 - mean) / deviation).to(device)).double().cpu()
    probabilities = logits.softmax(1)
    return {"max_prob": probabilities.max(1).values.numpy(), "energy": -logits.logsumexp(1).numpy(),
            "entropy": -(probabilities * probabilities.clamp_min(1e-300).log()).sum(1).numpy()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--device", default="cpu", choices=tuple(BOUND))
    options = parser.parse_args()
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 6):
        print(f"PyTorch {torch.__version__} makes no packages: 2.6 is needed")
        return 77
    tool = str(pathlib.Path(options.tool).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*arguments, wanted=0):
            done = subprocess.run([tool, *arguments], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "PRIORNET_DATA": str(folder)})
            if "needs LibTorch 2.6 or later" in done.stderr:
                print(done.stderr)
                sys.exit(77)
            if done.returncode != wanted:
                sys.exit(f"priornet {' '.join(arguments)}: ended with {done.returncode}, should with {wanted}\n{done.stdout}{done.stderr}")
            return done.stdout if wanted == 0 else done.stderr

        images = numpy.random.default_rng(1).integers(0, 256, (ROWS, 3, SIDE, SIDE), dtype=numpy.uint8)
        write_set(folder, "held-out", images, numpy.arange(ROWS) % CLASSES, CLASSES)
        numpy.save(folder / "images.npy", images)
        numpy.save(folder / "one.npy", images[:1])
        network = make_network()
        torch.jit.trace(network, torch.zeros(2, 3, SIDE, SIDE)).save(str(folder / "net.pt"))
        compile_package(network, folder / "net.pt2", options.device)
        wanted = expected(network, images, options.device)
        for file in ("net.pt", "net.pt2"):
            model = file + ".priornet"
            run("calibrate", "--network", file, "--data", "held-out", "--kind", "softmax", "--mean", *map(str, MEAN), "--deviation",
                *map(str, DEVIATION), "--no-detectors", "--out", model, "--device", options.device)
            refused = run("predict", model, "images.npy", "--device", options.device, wanted=1)
            if "--allow-torchscript" not in refused:
                sys.exit(f"{file}: was refused without saying how it is opened: {refused}")
            for asked, count in (("images.npy", ROWS), ("one.npy", 1)):
                text = run("predict", model, asked, "--format", "csv", "--allow-torchscript", "--device", options.device)
                rows = list(csv.DictReader(io.StringIO(text)))
                if len(rows) != count:
                    sys.exit(f"{file}: {len(rows)} answers of {count} images")
                for column, values in wanted.items():
                    said = numpy.array([float(row[column]) for row in rows])
                    worst = float(numpy.abs(said - values[:count]).max() / max(1.0, float(numpy.abs(values).max())))
                    print(f"{file}, {count} images: {column} differs from PyTorch's by at most {worst:.1e}")
                    if not worst <= BOUND[options.device]:
                        sys.exit(f"{file}: {column} should differ by at most {BOUND[options.device]}")
        (folder / "config.toml").write_text('[data]\ntrain = "held-out"\n[model]\nfile = "net.pt2"\n[method]\nname = "dnn"\n')
        if "cannot be trained" not in run("train", "config.toml", "--out", "run", "--device", options.device, wanted=1):
            sys.exit("a package should not be trained")
    return 0


sys.exit(main())
