"""The package as it is typed, imported and run as examples."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import torch

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_types_are_strict():
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed (Debian: mypy)")
    cache = os.environ.get("PRIORNET_MYPY_CACHE", "/dev/null")
    run("mypy", "--strict", "--python-executable", sys.executable, "--cache-dir", cache, "python/priornet", cwd=SOURCE)


def test_every_form_of_data_has_a_type(tmp_path):
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed (Debian: mypy)")
    cache = os.environ.get("PRIORNET_MYPY_CACHE", "/dev/null")
    script = tmp_path / "forms.py"
    script.write_text(
        "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset\n"
        "import priornet\n"
        "network, X, y = torch.nn.Linear(2, 2), np.zeros((9, 2)), torch.zeros(9)\n"
        "held: TensorDataset = TensorDataset(torch.zeros(9, 2), y)\n"
        "some: Dataset[torch.Tensor] = held  # type: ignore[assignment]\n"
        "for data in (held, some):\n    priornet.evaluate(priornet.calibrate(network, data), data, {'more': some})\n"
        "priornet.calibrate(network, (X, y), training=DataLoader(held))\npriornet.calibrate(network, X)\n"
    )
    words = ["--python-executable", sys.executable, "--cache-dir", cache, "--warn-unused-ignores", script]
    run("mypy", "--strict", *words, cwd=SOURCE, env={**os.environ, "MYPYPATH": str(SOURCE / "python")})


def test_types_of_measures_are_those_of_the_table():
    run(sys.executable, "-m", "priornet._write_types", "--check")


def test_importing_waits_for_nothing_that_is_not_used():
    script = "import sys, torch, numpy; before = set(sys.modules); import priornet; print(*set(sys.modules) - before)"
    loaded = {name.partition(".")[0] for name in run(sys.executable, "-c", script).split()}
    assert "priornet" in loaded
    assert loaded <= {"priornet", *sys.stdlib_module_names}


def test_importing_takes_at_most_0_3_seconds_beyond_torch():
    # Seconds of this process's own work, the best of three: what else the machine does is left out.
    script = "import sys, time, torch, numpy; start = time.process_time(); import priornet; print(time.process_time() - start)"
    seconds = min(float(run(sys.executable, "-c", script)) for _ in range(3))
    assert seconds <= 0.3


def test_everything_public_has_a_docstring():
    import inspect

    import priornet

    for name in priornet.__all__:
        value = getattr(priornet, name)
        if not isinstance(value, (dict, str)):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("example", sorted((SOURCE / "examples" / "python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example, tmp_path):
    if "from sklearn" in example.read_text() and importlib.util.find_spec("sklearn") is None:
        pytest.skip("scikit-learn is not installed (Debian: python3-sklearn)")
    assert run(sys.executable, example, "--quick", cwd=tmp_path)


def test_the_quickstart_notebook_runs(tmp_path):
    for module in ("nbconvert", "ipykernel", "sklearn"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed (Debian: jupyter-nbconvert python3-ipykernel python3-sklearn)")
    notebook = shutil.copy(SOURCE / "examples" / "quickstart.ipynb", tmp_path)
    own = {name: str(tmp_path / name) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
    environment = {**os.environ, **own, "JUPYTER_PATH": str(tmp_path / "share" / "jupyter")}
    run(sys.executable, "-m", "ipykernel", "install", "--prefix", tmp_path, env=environment)  # a kernel of this Python
    words = ["-m", "nbconvert", "--to", "notebook", "--execute", "--output", "executed.ipynb", notebook]
    run(sys.executable, *words, cwd=tmp_path, env=environment)
    cells = json.loads((tmp_path / "executed.ipynb").read_text())["cells"]
    shown = {kind for cell in cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert "text/html" in shown  # tables with histograms, and the simplex
    assert any("<svg" in "".join(output["data"].get("text/html", output["data"].get("image/svg+xml", "")))
               for cell in cells for output in cell.get("outputs", []) if "data" in output)  # fmt: skip
    assert (tmp_path / "digits.html").exists() and (tmp_path / "digits.priornet").exists()


def test_the_benchmark_of_measures_runs():
    said = run(sys.executable, SOURCE / "bench" / "python_measures.py", "--rows", "200", "--seconds", "0.01")
    assert "times" in said


def test_the_benchmark_of_training_holds_the_loss_to_the_same_by_hand(generator, monkeypatch):
    import priornet

    monkeypatch.syspath_prepend(SOURCE / "bench")
    import python_training as bench

    logits = torch.randn(6, 10, generator=generator, dtype=torch.float64)
    labels = torch.tensor([1, 2, 9])
    ours = priornet.PriorNetworkLoss(alpha0=bench.ALPHA0, epsilon=bench.EPSILON)(logits, labels)
    torch.testing.assert_close(ours, bench.loss_by_hand(logits, labels))
    small = ["--batch", "4", "--width", "2", "--rounds", "1", "--steps", "1", "--threads", "1"]
    assert "the same by hand" in run(sys.executable, SOURCE / "bench" / "python_training.py", *small)
