#!/usr/bin/env bash
# tools/install says what it would install and asks a person at a terminal. Here the terminal is script's, and apt-get, sudo
# and dpkg-query are stand-ins: nothing is installed.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
source tests/repository/needs.sh
need "apt-get install bsdutils" script
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1" && chmod +x "$folder/$1"; }
stand_in dpkg-query 'exit 1'
stand_in apt-get "echo \"apt-get \$*\" >>$folder/log"
stand_in sudo 'exec "$@"'
export PATH=$folder:$PATH
unset CI PRIORNET_YES

# asked CONTAINER ANSWER [VARIABLE=VALUE]: runs tools/install, writes what it said and did, and returns its exit status.
asked() {
  stand_in systemd-detect-virt "exit $([[ $1 == container ]] && echo 0 || echo 1)"
  rm -f "$folder/log"
  local status=0
  printf '%s\n' "$2" | env "${@:3}" script -qec "tools/install run" /dev/null >"$folder/said" || status=$?
  return $status
}
fail() {
  echo "$1; it said:"
  cat "$folder/said"
  exit 1
}
installed() { grep -q "^apt-get install .*fonts-dejavu-core" "$folder/log" 2>/dev/null; }

asked host n && fail "it goes on though the answer was no"
installed && fail "it installs though the answer was no"
grep -q "apt-get install --no-install-recommends .*fonts-dejavu-core" "$folder/said" || fail "it does not say what it would install"
asked host y || fail "it stops though the answer was yes"
installed || fail "it does not install though the answer was yes"
asked host n PRIORNET_YES=1 || fail "PRIORNET_YES=1 should answer yes"
installed || fail "PRIORNET_YES=1 should install"
grep -q "Go on?" "$folder/said" && fail "PRIORNET_YES=1 should not be asked"
asked host n CI=true || fail "CI should answer yes"
if ((EUID == 0)); then
  asked container n || fail "root in a container should not be asked"
  installed || fail "root in a container should install"
fi
rm -f "$folder/log"
tools/install run </dev/null 2>"$folder/said" || fail "it stops without a terminal"
installed || fail "it does not install without a terminal"
grep -q "installing what is missing" "$folder/said" || fail "it does not say what it installs"
