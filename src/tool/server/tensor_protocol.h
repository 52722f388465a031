#pragma once

#include <priornet/deploy/predictor.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/server/http_messages.h"
#include "tool/server/served_model.h"

namespace priornet::serving {

struct JsonOptions {
  int64_t more_values = 0;  ///< than 4096
  /// Arrays of numbers under a key "data" are taken out, flattened row by row, so that memory stays near the size of
  /// the text; in the document their place in BoundedJson::numbers replaces them.
  bool takes_out_data = false;
};

/// JSON from an untrusted client.
struct BoundedJson {
  nlohmann::json document;
  std::vector<std::vector<float>> numbers;  ///< booleans as 0 and 1
};

/// ArgumentError: not JSON (at which byte), nested deeper than 16 levels, too many values outside of arrays that are
/// taken out, a text or an object inside such an array.
BoundedJson read_bounded_json(std::string_view text, const JsonOptions& options);

/// A request for inference in the Open Inference Protocol, with its inputs as the model takes them.
struct TensorRequest {
  struct Output {
    std::string name;
    bool binary = false;
    int64_t classes = 0;  ///< asked for by "classification": this many of the best as texts, "value:index:name"; 0:
                          ///< numbers
  };

  std::optional<std::string> id;
  int64_t rows = 0;
  std::string inputs;           ///< rows * bytes_per_row() bytes
  std::vector<Output> outputs;  ///< those asked for, or all
};

/// One input tensor, called "input", of UINT8, FP16, BF16, FP32 or FP64, [N, C, H, W] or [N, D]; FP16 and BF16 only as
/// binary data, because JSON has no such numbers. Pixels that are not UINT8 are fractions of full brightness, in [0,
/// 1]. `header_length` is the value of Inference-Header-Content-Length, empty without binary data. An optional member
/// may be null. ArgumentError with the reason: malformed JSON, another name, a wrong shape or type, data of another
/// size, values out of range, more than `most_rows` inputs, an unknown output. Memory is allocated only for data that
/// has arrived.
TensorRequest read_tensor_request(const ModelDescription& model, std::string_view body, std::string_view header_length,
                                  int64_t most_rows);

/// Rows as people have them, with their inputs as the model takes them.
struct RowRequest {
  int64_t rows = 0;
  std::string inputs;                           ///< rows * bytes_per_row() bytes
  std::vector<std::vector<std::string>> notes;  ///< one list per row: how it differs from training, in words
  bool several = false;                         ///< the client sent a list, which may hold one row
};

struct RowRequestOptions {
  std::string_view content_type;
  int64_t most_rows = 1;
};

/// How many values the JSON of this many rows may hold, in a body of this many bytes: the limit for its memory.
int64_t most_row_values(const ModelDescription& model, size_t body, int64_t most_rows);

/// One row from a plain JSON object, {"features": [..]} or {"features": {"name": value, ...}}, or several: {"rows":
/// [{..}, {..}]}, a list of such objects, or, with a content type of text/csv or text/tab-separated-values, a table
/// with names in its first line. A model of tables takes values as they come, by the names of its columns in any order;
/// a column that is not given counts as missing. Any other model takes finite numbers, all of them. ArgumentError with
/// the reason.
RowRequest read_row_request(const ModelDescription& model, std::string_view body, const RowRequestOptions& options);

/// The answer of the Open Inference Protocol: the outputs asked for, in JSON, or after it as little-endian bytes (texts
/// with their length in 4 bytes before them), announced by Inference-Header-Content-Length. A number that is not finite
/// is null in JSON.
Response tensor_response(const ModelDescription& model, const TensorRequest& request, const PlainPredictions& answers);

}  // namespace priornet::serving
