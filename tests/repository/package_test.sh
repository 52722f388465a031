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
  include/priornet/deploy/predictor.h share/doc/priornet/copyright share/man/man1/priornet.1 \
  share/priornet/digits.priornet; do
  [[ -n $(find "$folder/root/usr" -path "$folder/root/usr/$file") ]] || {
    echo "the package holds no /usr/$file"
    exit 1
  }
done
"$folder/root/usr/bin/priornet" --version
"$folder/root/usr/bin/priornet" predict digits: "$folder/root/usr/share/priornet/samples" | grep ' accept' >/dev/null

module=$(ls "$folder"/python3-priornet_*.deb 2>/dev/null) || exit 0  # a build without the Python module
dpkg-deb --field "$module" Depends | grep -q 'python3-torch'
dpkg-deb -x "$module" "$folder/module"
for file in __init__.py _measure_types.pyi py.typed operators.so; do
  [[ -s $folder/module/usr/lib/python3/dist-packages/priornet/$file || $file == py.typed ]] || {
    echo "the package of the Python module holds no $file"
    exit 1
  }
done
[[ ! -e $folder/root/usr/lib/python3 ]] || { echo "the tool's package holds the Python module"; exit 1; }
