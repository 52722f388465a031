# For scripts to source: models of made-up data, in the folder where they stand.

# said TOOL WORDS...: runs the tool with one thread, and shows its output only if it fails.
said() {
  "$1" --threads 1 "${@:2}" >said.txt 2>&1 || {
    cat said.txt
    exit 1
  }
}

# made_up_model TOOL NAME SET: trains on a set of tests/web/made_up_data.mjs and leaves NAME.priornet.
made_up_model() {
  said "$1" train --data "$3" --out "$2" --epochs 4
  said "$1" calibrate "$2" --false-alarm 0.2 --out "$2.priornet"
}
