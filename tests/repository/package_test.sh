#!/usr/bin/env bash
# package_test.sh BUILD: cpack makes a Debian package whose tool runs, and whose dependencies are named. Skipped, with exit
# status 77, where Debian's tools for it are missing.
set -euo pipefail
source "$(dirname -- "$(readlink -f -- "$0")")/needs.sh"
build=$1
need "Debian: dpkg-dev file" dpkg-shlibdeps dpkg-deb file
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
package=$(ls "$folder"/priornet_*.deb)
dpkg-deb --info "$package" | sed -n 's/^ \(Package\|Version\|Depends\|Installed-Size\): /\1: /p'
dpkg-deb --field "$package" Depends | grep -q 'libc6'
dpkg-deb -x "$package" "$folder/root"
for file in bin/priornet 'lib/*libpriornet_deploy.a' 'lib/*libpriornet_uncertainty.a' 'lib/*cmake/priornet/priornetConfig.cmake' \
  include/priornet/deploy/predictor.h share/doc/priornet/copyright; do
  [[ -n $(find "$folder/root/usr" -path "$folder/root/usr/$file") ]] || {
    echo "the package holds no /usr/$file"
    exit 1
  }
done
"$folder/root/usr/bin/priornet" --version
