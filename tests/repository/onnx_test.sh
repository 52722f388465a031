#!/usr/bin/env bash
# onnx_test.sh SAMPLES COUNT: exported models in onnxruntime answer as the library does, on COUNT inputs each; prints by how
# much they differ. SAMPLES is the program that exports them. Skipped, with exit status 77, where npm cannot install
# onnxruntime.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../onnx"
samples=$1
count=$2
if grep -q '"resolved"\|https\?://' package-lock.json; then
  echo "tests/onnx/package-lock.json names a registry: install with tests/onnx/.npmrc"
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp package.json package-lock.json .npmrc ./*.mjs "$folder"
# The package holds its CPU library; its install script would only fetch those for GPUs.
if ! command -v npm >/dev/null || ! (cd "$folder" && npm ci --prefer-offline --no-audit --no-fund --ignore-scripts >npm.log 2>&1); then
  echo "skipped: npm cannot install onnxruntime-node here"
  exit 77
fi
"$samples" "$folder/samples" "$count"
node "$folder/compare.mjs" "$folder/samples"
