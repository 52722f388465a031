# need HINT PROGRAM...: ends the test as skipped, with exit status 77, if one of the programs is missing. To be sourced.
need() {
  local hint=$1 program
  shift
  for program in "$@"; do
    command -v "$program" >/dev/null || {
      echo "skipped: $program is not installed ($hint)"
      exit 77
    }
  done
}
