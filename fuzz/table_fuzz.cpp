#include <fuzz/rejection.h>
#include "learning/sets/table_set.h"

using namespace priornet;

// Reads a table, and reads it again with the encoding that was found, which must give the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const auto* label : {"", "y"})
    taken_or_refused([&] {
      TableOptions options;
      options.label = label;
      const auto set = read_table("table", text_of(data, size), options);
      check_dataset(set);
      const auto encoding = table_encoding_from_json(to_json(*set.encoding), "itself");
      options.encoding = &encoding;
      if (!read_table("table", text_of(data, size), options).inputs.equal(set.inputs)) __builtin_trap();
    });
  return 0;
}
