#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include "learning/sets/families.h"

using namespace priornet;

// max_len: 20000
// The first byte is the number of label bytes per record; the rest is split into two files.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  if (size == 0) return 0;
  const auto bytes = text_of(data, size).substr(1);
  folder.file("one.bin", bytes.substr(0, bytes.size() / 2));
  folder.file("two.bin", bytes.substr(bytes.size() / 2));
  const CifarSet set{{"two.bin", "one.bin"}, 1 + data[0] % 2, {"a", "b", "c"}};
  return taken_or_refused([&] { check_dataset(read_cifar(folder.path(), set)); });
}
