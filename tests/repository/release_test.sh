#!/usr/bin/env bash
# The newest entry of CHANGELOG.md is about the version in version.h, and no other document repeats that version.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
version=$(sed -n 's/^#define PRIORNET_VERSION "\(.*\)"$/\1/p' include/priornet/version.h)
newest=$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
[[ $newest == "$version" ]] || {
  echo "CHANGELOG.md should begin with the version of include/priornet/version.h, $version, found $newest"
  exit 1
}
if grep -n '^version:' CITATION.cff; then
  echo "CITATION.cff should name no version: it would be a second place for it"
  exit 1
fi
