#include <fuzz/rejection.h>

#include "learning/sets/families.h"

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return taken_or_refused([&] {
    MemoryStream stream("semeion", text_of(data, size));
    check_dataset(read_semeion(stream));
  });
}
