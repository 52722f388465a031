#!/usr/bin/env bash
# report_page_test.sh TOOL RESULTS: the reports of made-up RESULTS and RESULTS-reasons, as the tests of the experiments left
# them, and that of all committed results, in a headless Chromium. Skipped, with exit status 77, where there is no Chromium or node.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.."
source tests/repository/needs.sh
tool=$1
made_up=$2
need "tools/install check" chromium node
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$tool" report "$made_up" --out "$folder/made-up.html" >/dev/null
node tests/web/report_test.mjs "$folder/made-up.html" tables curves calibration images trivial training record
"$tool" report "$made_up-reasons" --out "$folder/reasons.html" >/dev/null
node tests/web/report_test.mjs "$folder/reasons.html" reasons tables record
"$tool" report results --out "$folder/results.html" >/dev/null
node tests/web/report_test.mjs "$folder/results.html" figures tables simplex record
