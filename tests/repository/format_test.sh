#!/usr/bin/env bash
# Every source is as .clang-format has it.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
find src include bench fuzz python tests -path "*node_modules*" -prune -o \( -name '*.h' -o -name '*.cpp' -o -name "*.cu" -o -name "*.cuh" \) -print0 | xargs -0 "$1" --dry-run -Werror
