#include <fuzz/rejection.h>
#include "learning/sets/table_set.h"

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto* label : {"", "y"})
    taken_or_refused([&] {
      MemoryStream stream("table", text_of(data, size));
      check_dataset(read_table(stream, {label}));
    });
  return 0;
}
