#!/usr/bin/env bash
# headers_test.sh COMPILER FLAG...: every public header compiles alone, with LibTorch's headers and nlohmann's forward
# declarations; there are about 50 of them, and priornet.h includes all.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
compiler=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mapfile -t headers < <(cd include && find priornet -name '*.h' | sort)
((${#headers[@]} >= 40 && ${#headers[@]} <= 65)) || { echo "${#headers[@]} public headers: should be about 50"; exit 1; }
for module in uncertainty learning deploy; do
  grep -q "<priornet/$module.h>" include/priornet/priornet.h || { echo "priornet.h does not include $module.h"; exit 1; }
  for header in include/priornet/"$module"/*.h; do
    grep -q "<${header#include/}>" "include/priornet/$module.h" || { echo "$module.h does not include $header"; exit 1; }
  done
done

# LibTorch's headers are read once: a header of ours that includes them finds them precompiled. Clang needs IValue first.
printf '#include <%s>\n' ATen/core/ivalue.h torch/types.h >"$folder/torch.h"
"$compiler" "$@" -x c++-header "$folder/torch.h" -o "$folder/torch.h.gch"
includes_torch() {
  local line
  grep -q '#include <torch/types.h>' "include/$1" && return
  while read -r line; do
    includes_torch "$line" && return
  done < <(sed -n 's/^#include <\(priornet\/.*\)>/\1/p' "include/$1")
  return 1
}
compile() {
  local torch=()
  includes_torch "$1" && torch=(-include "$folder/torch.h")
  echo "#include <$1>" | "$compiler" "${@:2}" "${torch[@]}" -Iinclude -fsyntax-only -x c++ - 2>"$folder/log.$BASHPID" ||
    { echo "$1 does not compile alone:"; head -n 5 "$folder/log.$BASHPID"; return 1; }
}
export -f compile includes_torch
export folder compiler
printf '%s\0' "${headers[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'compile "$@"' compile {} "$@"
echo "${#headers[@]} public headers compile alone"
