#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include "learning/sets/families.h"

// max_len: 4096

using namespace priornet;

// The archive, each of its parts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  const auto path = folder.file("tiny-imagenet-200.zip", text_of(data, size));
  for (const auto part : {TinyImageNetPart::kTrain, TinyImageNetPart::kValidation, TinyImageNetPart::kTest})
    taken_or_refused([&] { check_dataset(read_tiny_imagenet(path, part)); });
  return 0;
}
