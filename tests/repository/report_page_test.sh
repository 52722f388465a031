#!/usr/bin/env bash
# report_page_test.sh TOOL RESULTS: the reports of made-up RESULTS and RESULTS-reasons, as the tests of the experiments left
# them, those of two models that are trained here, and that of all committed results, in a headless Chromium. Skipped, with
# exit status 77, where there is no Chromium or node.
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
node tests/web/report_test.mjs "$folder/reasons.html" reasons=2 tables record
"$tool" report results --out "$folder/results.html" >/dev/null
node tests/web/report_test.mjs "$folder/results.html" figures reasons tables simplex record

# From data to report, as a user does it: rows of numbers, and images.
source tests/repository/made_up_model.sh
node tests/web/made_up_data.mjs "$folder"
model_report() { # NAME TRAIN TEST FOREIGN
  made_up_model "$tool" "$1" "$2"
  said "$tool" evaluate "$1.priornet" --data "$3" --ood "$4" --replicates 20
  said "$tool" report "$1.priornet" --out "$1.html"
}
tests=$PWD/tests/web
cd "$folder"
model_report points ./points.csv,label=kind ./points-test.csv,label=kind ./far.csv,label=kind
node "$tests/report_test.mjs" points.html outcomes mistakes trust foreign examples details tables curves record
model_report images ./images ./images-test ./noise
node "$tests/report_test.mjs" images.html outcomes mistakes trust foreign examples details images record
