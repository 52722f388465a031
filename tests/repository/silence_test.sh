#!/usr/bin/env bash
# The library never prints and never ends the process: only the tool does.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
! grep -rnE 'std::(cout|cerr|clog|exit|abort|terminate)|[^_n]printf\(|fmt::print|\b(_exit|quick_exit)\(' \
  include src --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' --exclude-dir=commands
