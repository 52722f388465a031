#!/usr/bin/env bash
# A module includes only modules above it, in the order of src/priornet/CMakeLists.txt; and docs/map.md knows each file.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
mapfile -t modules < <(sed -n 's/^add_subdirectory(\(.*\))/\1/p' src/priornet/CMakeLists.txt)
status=0
allowed=()
for module in "${modules[@]}"; do
  allowed+=("$module")
  pattern=$(IFS='|'; echo "${allowed[*]}")
  if grep -rn '#include <priornet/' "src/priornet/$module" | grep -vE "<priornet/($pattern)/"; then
    echo "$module includes a module below it"
    status=1
  fi
done
while read -r file; do
  grep -qF "\`${file##*/}\`" docs/map.md || { echo "docs/map.md does not know $file"; status=1; }
done < <(find src apps bench -name '*.h')
exit $status
