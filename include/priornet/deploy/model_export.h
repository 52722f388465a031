#pragma once

#include <filesystem>

#include <priornet/deploy/model_file.h>

// Writes a model for other runtimes, with preprocessing, uncertainty measures and verdict inside (docs/export.md, which
// lists inputs and outputs). A file appears whole or not at all. Throws ArgumentError for a model that cannot be
// exported, DataError for a file that cannot be written.

namespace priornet {

enum class ImageInput {
  kBytes,  ///< uint8, as image files have them
  kUnit    ///< float32 in [0, 1]
};

/// What a file takes and gives: shapes with -1 for the number of inputs.
struct ExportSignature {
  struct Tensor {
    std::string name;
    torch::Dtype type = torch::kFloat64;
    std::vector<int64_t> shape;

    std::string type_name() const;  ///< as NumPy calls it
  };
  Tensor input;
  std::vector<Tensor> outputs;
};

ExportSignature export_onnx(const ModelFile& model, const std::filesystem::path& path,
                            ImageInput input = ImageInput::kBytes);

ExportSignature export_torchscript(const ModelFile& model, const std::filesystem::path& path,
                                   ImageInput input = ImageInput::kBytes);

}  // namespace priornet
