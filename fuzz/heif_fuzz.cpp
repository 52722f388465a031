#include <fuzz/rejection.h>
#include "learning/data/decoded_pixels.h"

using namespace priornet;

// The decoders make room for what the coded picture says of itself, 1.8 GB for 330 bytes, so the target has more
// memory, and single allocations beyond a gigabyte fail. rss_limit_mb: 8192
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=1024"; }

// libheif leaks some 170 bytes that it hands to dav1d if an AVIF's picture has no bytes (seen in 1.15). Its other
// decoder, aom, leaks nothing, but takes 1.65 times as long and 2.4 times the memory.
extern "C" const char* __lsan_default_suppressions() { return "leak:libdav1d"; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return taken_or_refused([&] { decode_heif(text_of(data, size), "heif"); });
}
