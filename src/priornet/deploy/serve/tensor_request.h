#pragma once

#include <priornet/deploy/serve/model_description.h>

#include <string>
#include <string_view>
#include <vector>

namespace priornet::serving {

/// A request for inference as the Open Inference Protocol has it, with its inputs as the model takes them.
struct TensorRequest {
  struct Output {
    std::string name;
    bool binary = false;
  };

  std::string id;
  int64_t rows = 0;
  std::string inputs;           ///< rows * bytes_a_row() bytes
  std::vector<Output> outputs;  ///< those asked for, or all
};

/// One input tensor, called anything, UINT8 or FP32, [N, C, H, W] or [N, D]. FP32 pixels are fractions of full
/// brightness, in [0, 1]. `header_length` is the value of Inference-Header-Content-Length, empty without binary data.
/// ArgumentError with the reason: malformed JSON, a wrong shape or type, data of another size, values out of range,
/// more than `most_rows` inputs, an unknown output. Nothing is allocated for a shape whose data is not there.
TensorRequest read_tensor_request(const ModelDescription& model, std::string_view body, std::string_view header_length,
                                  int64_t most_rows);

/// One row of numbers from a plain JSON object, {"features": [..]} or {"features": {"name": value, ...}}, as bytes.
/// ArgumentError where features are missing, unknown or no finite numbers.
std::string read_feature_row(const ModelDescription& model, std::string_view body);

}  // namespace priornet::serving
