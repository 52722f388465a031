#!/usr/bin/env bash
# python_install_test.sh BUILD PYTHON: `pip install .`, without a network, installs a package that works from anywhere, with the
# library that the build folder has.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
build=$1
python=$2
"$python" -c 'import setuptools, wheel, pip' 2>/dev/null || {
  echo "skipped: pip, setuptools or wheel is not installed (Debian: python3-pip python3-setuptools python3-wheel)"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/source"  # setuptools leaves files beside the sources
cp -r setup.py setup.cfg python include docs "$folder/source"
PRIORNET_BUILD=$(readlink -f "$build") "$python" -m pip install -q --no-deps --no-index --no-build-isolation --root-user-action=ignore \
  --target "$folder/installed" "$folder/source"
cd "$folder"
PYTHONPATH=$folder/installed "$python" - <<'END'
import pathlib, numpy, priornet
assert pathlib.Path(priornet.__file__).is_relative_to(pathlib.Path.cwd()), priornet.__file__
assert pathlib.Path(priornet.__file__).with_name("py.typed").exists()
print("priornet", priornet.__version__, priornet.measures(numpy.zeros((1, 3))).entropy)
END
