#!/usr/bin/env bash
# The front end in web/report/dist is up to date with its sources. If npm can install what the build needs, the test builds
# it again and compares; otherwise it compares the hash of the sources.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../../web/report"
status=0
if grep -q '"resolved"\|https\?://' package-lock.json; then
  echo "web/report/package-lock.json names a registry: install with web/report/.npmrc"
  status=1
fi
hash=$(cat build.mjs package-lock.json $(LC_ALL=C ls src/* | LC_ALL=C sort) | sha256sum | cut -d' ' -f1)
if [[ $hash != $(<dist/sources.sha256) ]]; then
  echo "web/report/dist is older than its sources: npm ci && npm run build"
  exit 1
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r build.mjs package.json package-lock.json .npmrc src "$folder"
if command -v npm >/dev/null && (cd "$folder" && npm ci --prefer-offline --no-audit --no-fund --ignore-scripts >npm.log 2>&1); then
  node "$folder/build.mjs" "$folder/dist"
  for file in report.js report.css; do
    cmp "dist/$file" "$folder/dist/$file" || status=1
  done
else
  echo "npm cannot install the packages here: only the hash was compared"
fi
exit "$status"
