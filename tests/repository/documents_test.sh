#!/usr/bin/env bash
# The tables in the documents are those of results/.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
tools/write-results --check
