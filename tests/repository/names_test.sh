#!/usr/bin/env bash
# If a comment or a document names a source file, the file exists at that path. And two files share a name only if they are
# a header, in include/ or beside its sources, and its sources.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
status=0
complain() { echo "$1"; status=1; }

mapfile -t files < <(find bench docs examples fuzz include python src tests ./*.md -name '*.h' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.cu' -o -name '*.md' |
  grep -v node_modules)
declare -A known
for file in "${files[@]}"; do  # tests/deploy/a.h is also named deploy/a.h or a.h
  tail=$file
  known[$tail]=1
  while [[ $tail == */* ]]; do
    tail=${tail#*/}
    known[$tail]=1
  done
done
((${#files[@]} > 400)) || complain "only ${#files[@]} files were found"

# A header and its sources belong to the same component of the library, module of the tool, or otherwise folder.
place_of() {
  case $1 in
    include/priornet/*/* | src/*/*) cut -d/ -f"$2" <<<"$1" ;;
    *) dirname "$1" ;;
  esac
}
declare -A place_with file_with
for file in "${files[@]}"; do
  name=${file##*/}
  stem=${name%.*}
  case $file in
    *.md | tests/consumer/* | */main.cpp | */precompiled.cpp) continue ;;
    include/*) place=$(place_of "$file" 3) ;;
    src/tool/*) place=$(place_of "$file" 2,3) ;;
    *) place=$(place_of "$file" 2) ;;
  esac
  [[ ${place_with[$stem]:=$place} == "$place" ]] || complain "$file has the name of a file of ${place_with[$stem]}"
  [[ ${file_with[$name]:=$file} == "$file" ]] || complain "$file has the name of ${file_with[$name]}"
done

mentions=0
while IFS=: read -r file line name; do
  mentions=$((mentions + 1))
  name=${name#../}  # a link
  case $name in
    torch/*.h | jpeglib.h | NAME.cpp) continue ;;  # files of other projects
  esac
  [[ -n ${known[$name]:-} ]] || complain "$file:$line names $name, which is not there"
done < <(grep -nvE '^ *#include' "${files[@]}" /dev/null |
  sed -nE 's/^([^:]+):([0-9]+):(.*)$/\1\t\2\t\3/p' |
  awk -F '\t' '{
    text = $3
    while (match(text, /[A-Za-z0-9_.\/+-]*[A-Za-z0-9_]\.(h|cuh|cpp|cu)([^A-Za-z0-9_(]|$)/)) {
      name = substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
      if (name !~ /\.(h|cuh|cpp|cu)$/) name = substr(name, 1, length(name) - 1)
      print $1 ":" $2 ":" name
    }
  }')
((mentions > 100)) || complain "only $mentions mentions of files were found"
exit $status
