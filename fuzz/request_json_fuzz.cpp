#include <fuzz/rejection.h>

#include "tool/server/tensor_protocol.h"

using namespace priornet;

// Two made-up models, with what the other parts of the server would know about them.
std::vector<double> PlainPredictions::alphas() const { return log_alpha; }
int64_t serving::ModelDescription::values_per_row() const {
  int64_t product = 1;
  for (const auto size : shape) product *= size;
  return product;
}
std::vector<serving::OutputDescription> serving::outputs_of(const ModelDescription&) {
  return {{"prediction", "INT64", false}, {"probabilities", "FP64", true}, {"verdict", "BYTES", false}};
}

// A body by the Open Inference Protocol or as rows, JSON or a table; the first byte says which, and where binary data
// begins. max_len: 4096
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  serving::ModelDescription model;
  model.class_names = {"a", "b"};
  model.shape = data[0] & 1 ? std::vector<int64_t>{1, 2, 2} : std::vector<int64_t>{3};
  if ((data[0] & 1) == 0) model.feature_names = {"x", "y", "z"};
  const auto body = text_of(data + 2, size - 2);
  try {
    if (data[0] & 2) {
      const auto length = std::to_string(data[1]);
      serving::read_tensor_request(model, body, data[0] & 4 ? length : std::string_view(), 8);
    } else if ((data[0] & 1) == 0) {
      serving::read_row_request(model, body, {data[0] & 4 ? "text/csv" : "application/json", 8});
    } else {
      serving::read_bounded_json(body, {.more_values = data[1], .takes_out_data = true});
    }
  } catch (const ArgumentError&) {  // what a client is told
  } catch (const DataError&) {
  }
  return 0;
}
