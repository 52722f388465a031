#include <fuzz/rejection.h>
#include "learning/data/decoded_pixels.h"

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return taken_or_refused([&] { decode_heif(text_of(data, size), "heif"); });
}
