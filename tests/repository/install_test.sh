#!/usr/bin/env bash
# install_test.sh BUILD [TORCH]: separate projects use the installed library: one links the component uncertainty alone,
# another all components; a third project adds the source as a subfolder. Only the headers of include/ are installed. The
# installed tool makes the model file that the second project opens.
set -euo pipefail
build=$1
torch=${2:-}
source=$(dirname -- "$(readlink -f -- "$0")")/../consumer
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# consumer SOURCE INSTALLED BUILD
consumer() {
  cmake -G Ninja -S "$1" -B "$3" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$2${torch:+;$torch}" \
    ${CONSUMER_FLAGS:+-DCMAKE_CXX_FLAGS="$CONSUMER_FLAGS"} >/dev/null
  cmake --build "$3" >/dev/null
}
# headers FOLDER...: their names, from priornet/ on.
headers() { (cd "$1" && find "${@:2}" -name '*.h' | sort); }
cmake --install "$build" --prefix "$folder/part" --component uncertainty >/dev/null
diff <(headers "$folder/part/include" priornet) \
  <(headers "$source/../../include" priornet/uncertainty priornet/uncertainty.h priornet/version.h) || {
  echo "the component uncertainty installs other headers than include/priornet/uncertainty"
  exit 1
}
consumer "$source/uncertainty" "$folder/part" "$folder/part-build"
"$folder/part-build/measures"
if command -v pkg-config >/dev/null; then
  # This prefix differs from CMake's: the .pc file must find its folders relative to itself.
  PKG_CONFIG_PATH=$(dirname "$(find "$folder/part" -name 'priornet-uncertainty.pc')")
  export PKG_CONFIG_PATH
  read -ra flags < <(pkg-config --cflags priornet-uncertainty)
  c++ -std=c++20 -fsyntax-only "${flags[@]}" -x c++ - <<<'#include <priornet/version.h>'
  [[ -e $(pkg-config --variable=libdir priornet-uncertainty)/libpriornet_uncertainty.a ]]
fi

cmake --install "$build" --prefix "$folder/installed" >/dev/null
diff <(headers "$folder/installed/include" priornet) <(headers "$source/../../include" priornet) || {
  echo "what is installed is not include/"
  exit 1
}
consumer "$source" "$folder/installed" "$folder/build"
# The source as a subfolder of that project: generating shows that everything that is linked is found.
cmake -G Ninja -S "$source" -B "$folder/inside" -DPRIORNET_SOURCE="$source/../.." \
  -DCMAKE_PREFIX_PATH="$torch" >/dev/null

# The examples are a separate project, too.
cmake -G Ninja -S "$source/../../examples/cpp" -B "$folder/examples" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$folder/installed${torch:+;$torch}" ${CONSUMER_FLAGS:+-DCMAKE_CXX_FLAGS="$CONSUMER_FLAGS"} >/dev/null
cmake --build "$folder/examples" --target own_thresholds >/dev/null
"$folder/examples/own_thresholds" >/dev/null

tool=$folder/installed/bin/priornet
[[ -x $tool ]] || exit 0  # a build without the tool
"$tool" predict digits: "$source/../../models/samples/three.png" | grep ' accept' >/dev/null
for file in man/man1/priornet-data-get.1 bash-completion/completions/priornet zsh/site-functions/_priornet \
  fish/vendor_completions.d/priornet.fish; do
  [[ -s $folder/installed/share/$file ]] || { echo "no share/$file is installed"; exit 1; }
done
cd "$folder"
# Two kinds of trees that their widths tell apart.
awk 'BEGIN {
  srand(1); print "width,kind,length"
  for (i = 0; i < 400; ++i) {
    bell = rand() + rand() + rand() + rand() - 2
    print 1000 + (i % 2 ? -50 : 50) + 20 * bell "," (i % 2 ? "elm" : "oak") "," 0.02 * (rand() + rand() - 1)
  }
}' >trees.csv
"$tool" train --data ./trees.csv,label=kind --out run --set training.epochs=30 >log 2>&1 || { cat log; exit 1; }
"$tool" calibrate run --out trees.priornet >log 2>&1 || { cat log; exit 1; }
"$folder/build/score" trees.priornet | tee said
grep -q '^oak .* accept$' <(sed -n 1p said)
grep -q '^elm .* accept$' <(sed -n 2p said)
grep -q ' unfamiliar$' <(sed -n 3p said)
