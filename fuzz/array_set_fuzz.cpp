#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include "learning/data/npy.h"
#include "learning/sets/path_set.h"

using namespace priornet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  const auto npz = folder.file("a.npz", text_of(data, size));
  taken_or_refused([&] { check_dataset(read_array_set(npz)); });
  taken_or_refused([&] { read_npz(npz); });
  const auto npy = folder.file("a.npy", text_of(data, size));
  return taken_or_refused([&] { check_dataset(read_array_set(npy)); });
}
