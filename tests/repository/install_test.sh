#!/usr/bin/env bash
# install_test.sh BUILD [TORCH]: an install serves a separate project: find_package(priornet), build, run; the source does as
# a folder of it. The installed tool makes the model file that the project's program is asked about.
set -euo pipefail
build=$1
source=$(dirname -- "$(readlink -f -- "$0")")/../consumer
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cmake --install "$build" --prefix "$folder/installed" >/dev/null
cmake -G Ninja -S "$source" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$folder/installed${2:+;$2}" ${CONSUMER_FLAGS:+-DCMAKE_CXX_FLAGS="$CONSUMER_FLAGS"} >/dev/null
cmake --build "$folder/build" >/dev/null
"$folder/build/measures"
# As a folder of that project: to generate is to find all that is linked.
cmake -G Ninja -S "$source" -B "$folder/inside" -DPRIORNET_SOURCE="$source/../.." \
  -DCMAKE_PREFIX_PATH="${2:-}" >/dev/null

tool=$folder/installed/bin/priornet
[[ -x $tool ]] || exit 0  # a build without the tool
cd "$folder"
# Two kinds of trees that their widths tell apart.
awk 'BEGIN {
  srand(1); print "width,kind,length"
  for (i = 0; i < 400; ++i) {
    bell = rand() + rand() + rand() + rand() - 2
    print 1000 + (i % 2 ? -50 : 50) + 20 * bell "," (i % 2 ? "elm" : "oak") "," 0.02 * (rand() + rand() - 1)
  }
}' >trees.csv
"$tool" train --data ./trees.csv,label=kind --out run --set training.epochs=30 >log 2>&1 || { cat log; exit 1; }
"$tool" calibrate run --out trees.priornet >log 2>&1 || { cat log; exit 1; }
"$folder/build/score" trees.priornet | tee said
grep -q '^oak .* accept$' <(sed -n 1p said)
grep -q '^elm .* accept$' <(sed -n 2p said)
grep -q ' unfamiliar$' <(sed -n 3p said)
