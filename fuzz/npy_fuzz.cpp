#include <fuzz/rejection.h>
#include "learning/data/npy.h"

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return taken_or_refused([&] {
    MemoryStream stream("npy", text_of(data, size));
    read_npy(stream);
  });
}
