#!/usr/bin/env bash
# docs/map.md lists components and modules in their order: a file includes only files of modules above its own, or of
# its own module. A public header belongs to the module of its source. And docs/map.md names each header.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
# "| `src/learning/base/` | ..." in the map's first table.
mapfile -t modules < <(sed -n 's/^| `src\/\([a-z_]*\/[a-z_]*\)\/` .*/\1/p' docs/map.md)
declare -A place module_of
for i in "${!modules[@]}"; do place[${modules[i]}]=$i; done
status=0
complain() { echo "$1"; status=1; }
while read -r folder; do
  [[ -n ${place[$folder]:-} ]] || complain "docs/map.md does not place src/$folder"
done < <(cd src && find . -mindepth 2 -maxdepth 2 -type d | sed 's|^\./||')

for header in include/priornet/*/*.h; do
  component=$(basename "$(dirname "$header")")
  name=$(basename "$header" .h)
  source=$(find "src/$component" -name "$name.cpp" -print -quit)
  module=${source:+$(basename "$(dirname "$source")")}
  [[ $component == learning ]] && first=base || first=core
  module_of[$component/$name]=$component/${module:-$first}  # headers that are whole: errors, progress
done
((${#modules[@]} > 10 && ${#module_of[@]} > 30)) || complain "the map or the headers were not found"

while IFS=: read -r file include; do
  if [[ $file == src/* ]]; then
    own=$(cut -d/ -f2,3 <<<"$file")
  else
    own=${module_of[$(cut -d/ -f3,4 <<<"${file%.h}")]}
  fi
  case $include in
    '#include <priornet/'*/*)
      included=${include#*priornet/}
      other=${module_of[${included%.h>*}]:-}
      ;;
    '#include "'*/*/*)
      included=${include#*\"}
      other=$(cut -d/ -f1,2 <<<"$included")
      ;;
    *) continue ;;
  esac
  [[ -n $other && -n ${place[$other]:-} ]] || { complain "$file: $include is no module's"; continue; }
  ((place[$other] <= place[$own])) || complain "$file includes $included of $other, which stands below $own"
  [[ $file != include/* || $include == *'<'* ]] || complain "$file: a public header includes a private one, $included"
done < <(grep -rnE '^ *#include ["<]' src include/priornet/*/ --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' |
  sed -E 's/^([^:]*):[0-9]+: */\1:/')

while read -r file; do
  grep -qF "\`${file##*/}\`" docs/map.md || complain "docs/map.md does not name $file"
done < <(find src include bench -name '*.h' -o -name '*.cuh')
exit $status
