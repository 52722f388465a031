#!/usr/bin/env bash
# site_test.sh TOOL: the documentation site is built without a warning, and its links lead somewhere. Skipped, with exit status 77,
# where mkdocs, its theme or Doxygen is missing.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "$0")")
source "$here/needs.sh"
need "Debian: mkdocs mkdocs-material doxygen libjs-katex" mkdocs doxygen
[[ -d /usr/share/javascript/katex ]] || { echo "skipped: KaTeX is not installed (Debian: libjs-katex)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$here/../../tools/site" "$1" "$folder"
