#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include "learning/sets/families.h"

using namespace priornet;

// The bytes as one file, and as a set whose labels are the last bytes: the first byte says how many.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  const auto bytes = text_of(data, size);
  taken_or_refused([&] {
    MemoryStream stream("idx", bytes);
    read_idx(stream);
  });
  if (size == 0 || data[0] >= size) return 0;
  const size_t labels = data[0];
  folder.file("images", bytes.substr(1, size - 1 - labels));
  folder.file("labels", bytes.substr(size - labels));
  return taken_or_refused([&] {
    check_dataset(read_idx_set(folder.path(), {"images", "labels", {"a", "b", "c"}, data[0] % 2, data[0] % 3 == 0}));
  });
}
