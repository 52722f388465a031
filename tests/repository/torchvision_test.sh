#!/usr/bin/env bash
# torchvision_test.sh TOOL NETWORK...: networks that PyTorch scripted, from file to served answers. Skipped where PyTorch or torchvision is not there.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "$0")")
python=/usr/bin/python3
"$python" -c 'import torch, torchvision' 2>/dev/null || { echo "PyTorch and torchvision are not there"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" "$here/../torchvision/networks.py" "$1" "$folder" "${@:2}"
