#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include "learning/sets/image_folder.h"

// max_len: 4096

using namespace priornet;

// An archive, read with classes and without.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  const auto path = folder.file("input.zip", text_of(data, size));
  ImageFolderOptions options;
  options.resize = ResizeOptions{8, 8};
  taken_or_refused([&] { check_dataset(read_image_folder(path)); });
  return taken_or_refused([&] { check_dataset(read_flat_images(path, options)); });
}
