#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include "learning/sets/path_set.h"

// max_len: 32768

using namespace priornet;

// The database itself.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  const auto path = folder.file("data.mdb", text_of(data, size));
  ImageFolderOptions options;
  options.resize = ResizeOptions{8, 8};
  return taken_or_refused([&] { check_dataset(read_lsun(path, options)); });
}
