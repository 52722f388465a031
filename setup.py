"""Builds the Python module with CMake against the PyTorch that is installed; nothing is downloaded.

PRIORNET_BUILD names a build folder of CMake's to take the library from, in place of build/python.
CMAKE_ARGS are given to CMake; -DPRIORNET_CUDA=ON is added where PyTorch has CUDA and there is a compiler for it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = pathlib.Path(__file__).resolve().parent


def version():
    text = (SOURCE / "include" / "priornet" / "version.h").read_text(encoding="utf-8")
    return re.search(r'define PRIORNET_VERSION "([^"]+)"', text).group(1)


def torch_says(expression):
    """Asks the PyTorch of this Python, also where pip builds in an environment that hides it (-I)."""
    words = [sys.executable, "-I", "-c", f"import torch; print({expression})"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("priornet: PyTorch is needed to build and to run it (Debian: python3-torch)\n" + done.stderr)
    return done.stdout.strip()


class BuildOperators(build_ext):
    """The library of operators, by tools/build, beside the package."""

    def build_extension(self, extension):
        build = os.environ.get("PRIORNET_BUILD")
        if build is None:
            build = SOURCE / "build" / "python"
            build.parent.mkdir(exist_ok=True)
            arguments = [f"-DCMAKE_PREFIX_PATH={torch_says('torch.utils.cmake_prefix_path')}"]
            if torch_says("torch.version.cuda") != "None" and shutil.which("nvcc"):
                arguments.append("-DPRIORNET_CUDA=ON")
            environment = dict(os.environ, CMAKE_ARGS=" ".join([*arguments, os.environ.get("CMAKE_ARGS", "")]))
            subprocess.run([SOURCE / "tools" / "build", "python", "priornet_python"], check=True, env=environment)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(pathlib.Path(build) / "python" / "priornet" / "operators.so", target)

    def get_ext_filename(self, name):
        return name.replace(".", os.sep) + ".so"  # no module of CPython's: PyTorch loads it


setup(
    name="priornet",
    version=version(),
    description="Tells how sure a classifier is and why: Dirichlet Prior Networks",
    long_description=(SOURCE / "docs" / "python.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    packages=["priornet"],
    package_dir={"": "python"},
    package_data={"priornet": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("priornet.operators", sources=[])],
    cmdclass={"build_ext": BuildOperators},
    python_requires=">=3.9",
    install_requires=["numpy", "torch>=1.13.0a0"],
    extras_require={"sklearn": ["scikit-learn"], "progress": ["tqdm"]},
    zip_safe=False,
)
