#include <fuzz/rejection.h>
#include <fuzz/scratch_folder.h>
#include <priornet/learning/tensor_file.h>

using namespace priornet;

// The container of checkpoints and model files. max_len: 4096
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ScratchFolder folder;
  return taken_or_refused([&] {
    const auto file = read_tensor_file(folder.file("tensors", text_of(data, size)));
    for (const auto& tensor : file.tensors) tensor.values.to(torch::kFloat64).sum();
  });
}
