#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>

#include "learning/sets/families.h"

// max_len: 4096

using namespace priornet;

// The archive of one part.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  const auto path = folder.file("images_background.zip", text_of(data, size));
  return taken_or_refused([&] { check_dataset(read_omniglot(path, OmniglotPart::kBackground)); });
}
