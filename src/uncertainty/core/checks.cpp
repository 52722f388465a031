#include "uncertainty/core/checks.h"

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

namespace priornet {
namespace {

[[noreturn]] void fail(std::string_view function, std::string_view name, std::string_view wanted,
                       std::string_view found) {
  throw ArgumentError(c10::str(function, ": ", name, " should be ", wanted, ", found ", found));
}

std::string shape_of(const torch::Tensor& tensor) { return c10::str("shape ", tensor.sizes()); }

}  // namespace

void check_floating(std::string_view function, std::string_view name, const torch::Tensor& tensor) {
  if (!tensor.defined()) fail(function, name, "a tensor", "none");
  if (tensor.scalar_type() != torch::kFloat32 && tensor.scalar_type() != torch::kFloat64)
    fail(function, name, "float32 or float64", c10::toString(tensor.scalar_type()));
}

void check_rank(std::string_view function, std::string_view name, const torch::Tensor& tensor, int64_t rank) {
  if (tensor.dim() != rank) fail(function, name, c10::str("of rank ", rank), shape_of(tensor));
}

void check_logits(std::string_view function, std::string_view name, const torch::Tensor& logits) {
  check_floating(function, name, logits);
  if (logits.dim() != 2 || logits.size(1) < 2) fail(function, name, "[N, K] with at least 2 classes", shape_of(logits));
}

void check_ensemble(std::string_view function, std::string_view name, const torch::Tensor& logits) {
  check_floating(function, name, logits);
  if (logits.dim() != 3 || logits.size(0) < 1 || logits.size(2) < 2)
    fail(function, name, "[M, N, K] with at least 1 member and 2 classes", shape_of(logits));
}

void check_same_shape(std::string_view function, std::string_view name, const torch::Tensor& tensor,
                      std::string_view other_name, const torch::Tensor& other) {
  if (tensor.sizes() != other.sizes())
    fail(function, name, c10::str("shaped like ", other_name, " (", shape_of(other), ")"), shape_of(tensor));
}

void check_same_dtype(std::string_view function, std::string_view name, const torch::Tensor& tensor,
                      std::string_view other_name, const torch::Tensor& other) {
  if (tensor.scalar_type() != other.scalar_type())
    fail(function, name, c10::str(c10::toString(other.scalar_type()), ", like ", other_name),
         c10::toString(tensor.scalar_type()));
}

void check_same_device(std::string_view function, std::string_view name, const torch::Tensor& tensor,
                       std::string_view other_name, const torch::Tensor& other) {
  if (!tensor.defined()) fail(function, name, "a tensor", "none");
  if (tensor.device() != other.device())
    fail(function, name, c10::str("on ", other.device().str(), ", like ", other_name), tensor.device().str());
}

void check_labels(std::string_view function, std::string_view name, const torch::Tensor& labels, int64_t rows,
                  int64_t num_classes) {
  if (!labels.defined()) fail(function, name, "a tensor", "none");
  if (labels.scalar_type() != torch::kInt64) fail(function, name, "int64", c10::toString(labels.scalar_type()));
  if (labels.dim() != 1 || labels.size(0) != rows)
    fail(function, name, c10::str("of shape [", rows, "]"), shape_of(labels));
  if (rows == 0 || labels.is_cuda()) return;  // reading values back from a device would stall it
  const auto lowest = labels.min().item<int64_t>();
  const auto highest = labels.max().item<int64_t>();
  if (lowest < 0 || highest >= num_classes)
    fail(function, name, c10::str("in [0, ", num_classes, ")"), std::to_string(lowest < 0 ? lowest : highest));
}

void check_range(std::string_view function, std::string_view name, bool condition, std::string_view wanted,
                 double found) {
  if (!condition) fail(function, name, wanted, c10::str(found));
}

bool is_on_cuda(std::string_view function, const torch::Tensor& tensor) {
  if (tensor.is_cpu()) return false;
#if defined(PRIORNET_CUDA)
  if (tensor.is_cuda()) return true;
  constexpr std::string_view kWanted = "on the CPU or a CUDA device";
#else
  constexpr std::string_view kWanted = "on the CPU (this build has no CUDA kernels)";
#endif
  fail(function, "tensors", kWanted, tensor.device().str());
}

}  // namespace priornet
