#!/usr/bin/env bash
# hardened_test.sh SAMPLE TOOL: checks in the machine code of a small program what the flags of a release build
# (cmake/Build.cmake) do, and that TOOL has the same, if it is built and newer than those flags.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
source tests/repository/needs.sh
need "apt-get install binutils" readelf objdump
status=0
complain() { echo "$1"; status=1; }

check() {
  local program=$1 symbols dynamic
  symbols=$(readelf -W --dyn-syms "$program")
  dynamic=$(readelf -W --dynamic "$program")
  grep -q 'Type: *DYN' <<<"$(readelf -h "$program")" || complain "$program: its address is fixed (no PIE)"
  grep -q GNU_RELRO <<<"$(readelf -W --segments "$program")" || complain "$program: has no read-only relocations"
  grep -Eq 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || complain "$program: its relocations stay writable (no BIND_NOW)"
  grep -q 'GNU_STACK.*RW ' <<<"$(readelf -W --segments "$program")" || complain "$program: its stack can be executed"
  grep -q __stack_chk_fail <<<"$symbols" || complain "$program: has no stack protector"
  grep -Eq '__[a-z]+_chk' <<<"$(grep -v __stack_chk <<<"$symbols")" || complain "$program: its copies are not checked (FORTIFY)"
}

check "$1"
code=$(objdump -d --no-show-raw-insn "$1")
if grep -q x86-64 <<<"$(objdump -f "$1")"; then
  grep -A1 '<main>:' <<<"$code" | grep -q endbr64 || complain "$1: has no control-flow protection"
  grep -Eq '(or|mov)[ql]? +\$0x0,(0x0)?\(%rsp' <<<"$code" || complain "$1: does not touch each page of a large frame (stack clash)"
fi
if [[ -e $2 && $2 -nt cmake/Build.cmake ]]; then check "$2"; fi
for preset in release python cuda; do  # a build without tests has it, unless an option turns it off
  variables=$(sed -n "/\"name\": \"$preset\", \"inherits\"/,/}/p" CMakePresets.json)
  grep -Eq '"PRIORNET_TESTS": "OFF"|"PRIORNET_HARDENED": "ON"' <<<"$variables" || complain "the preset $preset is not hardened"
  ! grep -q '"PRIORNET_HARDENED": "OFF"' <<<"$variables" || complain "the preset $preset is not hardened"
done
exit $status
