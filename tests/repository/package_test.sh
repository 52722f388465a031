#!/usr/bin/env bash
# package_test.sh BUILD: cpack makes Debian packages of the tool, of each component of the library and of the Python module.
# Each is installed, used and removed: into a folder, with a copy of this machine's list of packages, so that dependencies
# are checked and the machine is not changed. Skipped, with exit status 77, where Debian's tools for it are missing.
set -euo pipefail
source "$(dirname -- "$(readlink -f -- "$0")")/needs.sh"
build=$1
source=$(dirname -- "$(readlink -f -- "$0")")/../..
need "Debian: dpkg-dev file" dpkg dpkg-shlibdeps dpkg-deb file
as_root=()
if ((EUID != 0)); then
  need "Debian: fakeroot" fakeroot
  as_root=(fakeroot)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$1"; exit 1; }

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
for package in "$folder"/*.deb; do
  dpkg-deb --show --showformat='${Package} ${Version}, ${Installed-Size} KiB: ${Depends}\n' "$package"
done
# deb PACKAGE: the path where cpack left it; empty if this build has no such package.
deb() { find "$folder" -maxdepth 1 -name "$1_*.deb"; }

root=$folder/root
mkdir -p "$root" "$folder/dpkg"
cp -r /var/lib/dpkg/. "$folder/dpkg"
rm -f "$folder/dpkg"/lock*
# package OPTION...: dpkg for that folder. Triggers belong to programs of the machine, as does the log.
package() {
  "${as_root[@]}" dpkg --admindir="$folder/dpkg" --instdir="$root" --log="$folder/dpkg.log" --no-triggers \
    --force-not-root "$@" >"$folder/log" 2>&1
}
add() { package --install "$(deb "$1")" || { cat "$folder/log"; fail "$1 is not installed"; }; }
# consumer SOURCE TARGET: a project that finds the library where it was installed.
consumer() {
  cmake -G Ninja -S "$1" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$root/usr" >"$folder/log" 2>&1 &&
    cmake --build "$folder/build" --target "$2" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "$2 is not built"; }
}

! package --install "$(deb libpriornet-learning-dev)" || fail "learning is installed without uncertainty"
package --remove libpriornet-learning-dev
add libpriornet-uncertainty-dev
consumer "$source/tests/consumer/uncertainty" measures
"$folder/build/measures"
rm -r "$folder/build"

add libpriornet-learning-dev
mkdir "$folder/learner"
cat >"$folder/learner/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(learner LANGUAGES CXX)
find_package(priornet REQUIRED COMPONENTS learning)
add_executable(learner learner.cpp)
target_link_libraries(learner PRIVATE priornet::learning)
END
cat >"$folder/learner/learner.cpp" <<'END'
#include <priornet/learning/networks.h>

#include <cstdio>

int main() { std::printf("%zu networks\n", priornet::model_names().size()); }
END
consumer "$folder/learner" learner
"$folder/build/learner"
rm -r "$folder/build"

add libpriornet-deploy-dev
consumer "$source/examples/cpp" ask_model
"$folder/build/ask_model" "$source/models/digits.priornet" "$source/models/samples/three.png"
rm -r "$folder/build"
for name in uncertainty learning deploy; do
  [[ -s $(find "$root/usr/lib" -name "libpriornet_$name.a") ]] || fail "no libpriornet_$name.a is installed"
  [[ -s $root/usr/include/priornet/$name.h ]] || fail "no priornet/$name.h is installed"
  [[ -s $root/usr/share/doc/libpriornet-$name-dev/copyright ]] || fail "libpriornet-$name-dev has no copyright"
done
! package --remove libpriornet-uncertainty-dev || fail "uncertainty is removed while others need it"
package --remove libpriornet-deploy-dev libpriornet-learning-dev libpriornet-uncertainty-dev || { cat "$folder/log"; exit 1; }

if [[ -n $(deb priornet) ]]; then
  dpkg-deb --field "$(deb priornet)" Depends | grep -q 'libc6'
  add priornet
  "$root/usr/bin/priornet" --version
  "$root/usr/bin/priornet" predict digits: "$root/usr/share/priornet/samples" | grep ' accept' >/dev/null
  [[ -s $root/usr/share/man/man1/priornet.1 ]] || fail "no man page is installed"
  [[ ! -e $root/usr/include && ! -e $root/usr/lib/python3 ]] || fail "the tool's package holds the library"
  package --remove priornet
fi

if [[ -n $(deb python3-priornet) ]]; then
  dpkg-deb --field "$(deb python3-priornet)" Depends | grep -q 'libc6'
  add python3-priornet
  (cd "$folder" && PYTHONPATH=$root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '
import priornet, torch
assert priornet.__file__.startswith("'"$root"'"), priornet.__file__
print("priornet", priornet.__version__, float(priornet.measures(torch.zeros(1, 3)).entropy))')
  package --remove python3-priornet
fi

left=$(find "$root" -type f -o -type l)
[[ -z $left ]] || fail "left after everything was removed: $left"
