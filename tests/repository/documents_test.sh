#!/usr/bin/env bash
# The tables in the documents are those of results/. And each results.json is one line, as the tool writes it.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
tools/write-results --check
status=0
for file in results/*/*.json; do
  (($(wc -l <"$file") <= 1)) || { echo "$file has indentation, which doubles its size"; status=1; }
done
exit $status
