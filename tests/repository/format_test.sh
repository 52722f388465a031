#!/usr/bin/env bash
# Every source is as .clang-format has it.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
find src apps bench fuzz tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' \) -print0 | xargs -0 "$1" --dry-run -Werror
