"""The package as it is typed, imported and run as examples."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

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


def test_types_of_measures_are_those_of_the_table():
    run(sys.executable, "-m", "priornet._write_types", "--check")


def test_importing_waits_for_nothing_that_is_not_used():
    script = "import sys, torch, numpy; before = set(sys.modules); import priornet; print(*set(sys.modules) - before)"
    loaded = {name.partition(".")[0] for name in run(sys.executable, "-c", script).split()}
    assert "priornet" in loaded
    assert loaded <= {"priornet", *sys.stdlib_module_names}


def test_everything_public_has_a_docstring():
    import inspect

    import priornet

    for name in priornet.__all__:
        value = getattr(priornet, name)
        if not isinstance(value, (dict, str)):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("example", sorted((SOURCE / "examples" / "python").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example, tmp_path):
    assert run(sys.executable, example, "--quick", cwd=tmp_path)


def test_the_benchmark_runs():
    said = run(sys.executable, SOURCE / "bench" / "python_measures.py", "--rows", "200", "--seconds", "0.01")
    assert "times" in said
