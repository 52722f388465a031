#!/usr/bin/env bash
# serve_page_test.sh TOOL MODEL: the page of `priornet serve` in a headless Chromium. MODEL is a model file of digits, as the
# tests of the tool left it; models of rows of numbers and of colour images are trained here. Skipped, with exit status 77, where there is
# no Chromium or node.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
source tests/repository/needs.sh
tool=$1
model=$2
need "tools/install check" chromium node
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

# served TEST MODEL...: starts a server, runs the test with its address, and stops it. The output of the server before is
# removed first, because the shell empties the file only when the new server has started.
served() {
  rm -f "$folder/said"
  touch "$folder/said"
  "$tool" --threads 1 serve "${@:2}" --port 0 >"$folder/said" 2>"$folder/complaints" &
  server=$!
  for _ in $(seq 200); do
    address=$(sed -n 's|^Serving .* at \(http://[^;]*/\);.*|\1|p' "$folder/said")
    [ -z "$address" ] || break
    kill -0 "$server" 2>/dev/null || {
      cat "$folder/complaints"
      exit 1
    }
    sleep 0.05
  done
  node "$1" "$address"
  kill "$server"
  wait "$server"
  server=
}
served tests/web/serve_test.mjs "$model"

source tests/repository/made_up_model.sh
node tests/web/made_up_data.mjs "$folder"
tests=$PWD/tests/web
cd "$folder"
made_up_model "$tool" points ./points.csv,label=kind
made_up_model "$tool" images ./images
served "$tests/serve_kinds_test.mjs" points.priornet images.priornet
