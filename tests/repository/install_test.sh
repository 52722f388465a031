#!/usr/bin/env bash
# An install serves a separate project: find_package(priornet), build, run.
set -euo pipefail
build=$1
source=$(dirname -- "$(readlink -f -- "$0")")/../consumer
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --prefix "$folder/installed" >/dev/null
cmake -G Ninja -S "$source" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$folder/installed${2:+;$2}" ${CONSUMER_FLAGS:+-DCMAKE_CXX_FLAGS="$CONSUMER_FLAGS"} >/dev/null
cmake --build "$folder/build" >/dev/null
"$folder/build/consumer"
