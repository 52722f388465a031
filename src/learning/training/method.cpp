#include <priornet/learning/method.h>

#include "learning/training/method_list.h"

namespace priornet {
namespace {

constexpr const char* kTable = "method";

const std::vector<Choice>& choices() {
  static const auto all = choices_of(methods());
  return all;
}

}  // namespace

const std::vector<MethodInfo>& methods() {
  static const auto all = listed_methods();
  return all;
}

const MethodInfo& method_info(const std::string& name) { return methods()[place_of(choices(), kTable, name)]; }

std::unique_ptr<Method> make_method(const MethodOptions& options) {
  const auto place = place_of(choices(), kTable, options.name);
  return methods()[place].make(settings_of(choices(), kTable, place, options.settings));
}

torch::Tensor add_cross_entropy(LossWithGradient& result, const torch::Tensor& logits, int64_t first,
                                const torch::Tensor& probabilities, double weight, double steepest) {
  const auto rows = logits.size(0);
  if (rows == 0) return torch::zeros({}, logits.options());
  const auto log_probabilities = torch::log_softmax(logits, 1);
  const auto mean = -(probabilities * log_probabilities).sum(1).mean();
  result.gradient.narrow(0, first, rows)
      .add_(log_probabilities.exp().sub_(probabilities), weight / static_cast<double>(rows))
      .clamp_(-steepest, steepest);
  result.loss.total = result.loss.total + weight * mean;
  return mean;
}

torch::Tensor equal_probabilities(const torch::Tensor& logits) {
  return torch::full({1, logits.size(1)}, 1.0 / static_cast<double>(logits.size(1)), logits.options());
}

LossWithGradient no_loss(const torch::Tensor& logits) {
  const auto zero = torch::zeros({}, logits.options());
  return {{zero, zero, zero, zero}, torch::zeros_like(logits)};
}

}  // namespace priornet
