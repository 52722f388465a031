#include <fuzz/rejection.h>

#include "learning/data/decoded_pixels.h"

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto orientation = exif_orientation(text_of(data, size));
  return orientation >= 1 && orientation <= 8 ? 0 : (__builtin_trap(), 0);
}
