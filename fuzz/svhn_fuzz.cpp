#include <fuzz/rejection.h>
#include "learning/data/matlab_file.h"
#include "learning/sets/path_set.h"

using namespace priornet;

// max_len: 8192
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taken_or_refused([&] {
    MemoryStream stream("svhn", text_of(data, size));
    check_dataset(read_svhn(stream));
  });
  return taken_or_refused([&] {
    MemoryStream stream("mat", text_of(data, size));
    visit_mat5(stream, [](MatMatrix& matrix) { matrix.read_values(); });
  });
}
