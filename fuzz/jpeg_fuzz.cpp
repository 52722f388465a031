#include <fuzz/ignored_rows.h>
#include <fuzz/rejection.h>

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  IgnoredRows rows;
  return taken_or_refused([&] { read_jpeg(text_of(data, size), "jpeg", {4, 4}, rows); });
}
