#include <priornet/uncertainty/targets.h>

#include <cmath>
#include <utility>

#include "uncertainty/core/checks.h"

namespace priornet {

DirichletTarget::DirichletTarget(Kind kind, torch::Tensor values, const SmoothingOptions& options)
    : kind_(kind), values_(std::move(values)), options_(options) {
  check_range("DirichletTarget", "alpha0", options.alpha0 > 0 && std::isfinite(options.alpha0), "positive and finite",
              options.alpha0);
  check_range("DirichletTarget", "epsilon", options.epsilon > 0, "positive", options.epsilon);
}

DirichletTarget DirichletTarget::smoothed_labels(torch::Tensor labels, const SmoothingOptions& options) {
  return {Kind::kSmoothedLabels, std::move(labels), options};
}

DirichletTarget DirichletTarget::flat() { return {Kind::kFlat, {}, {}}; }

DirichletTarget DirichletTarget::teacher(torch::Tensor probabilities, double alpha0) {
  SmoothingOptions options;
  options.alpha0 = alpha0;
  return {Kind::kTeacher, std::move(probabilities), options};
}

DirichletTarget DirichletTarget::contiguous() const {
  return values_.defined() ? DirichletTarget(kind_, values_.contiguous(), options_) : *this;
}

void DirichletTarget::check(std::string_view function, const torch::Tensor& logits) const {
  const int64_t classes = logits.size(1);
  if (kind_ == Kind::kSmoothedLabels) {
    check_labels(function, "labels", values_, logits.size(0), classes);
    check_range(function, "epsilon", static_cast<double>(classes - 1) * options_.epsilon < 1,
                "less than 1 / (classes - 1)", options_.epsilon);
  }
  if (kind_ == Kind::kTeacher) {
    check_same_shape(function, "probabilities", values_, "logits", logits);
    check_same_dtype(function, "probabilities", values_, "logits", logits);
  }
}

double DirichletTarget::concentration_on_label(int64_t classes) const {
  return kind_ == Kind::kFlat ? 1.0 : options_.alpha0 * (1.0 - static_cast<double>(classes - 1) * options_.epsilon);
}

double DirichletTarget::concentration_elsewhere() const {
  return kind_ == Kind::kFlat ? 1.0 : options_.alpha0 * options_.epsilon;
}

torch::Tensor DirichletTarget::concentrations(const torch::Tensor& logits) const {
  check_logits("concentrations", "logits", logits);
  check("concentrations", logits);
  if (kind_ == Kind::kTeacher) return values_ * options_.alpha0;
  auto alpha = torch::full_like(logits.detach(), concentration_elsewhere());
  if (kind_ == Kind::kSmoothedLabels) alpha.scatter_(1, values_.unsqueeze(1), concentration_on_label(logits.size(1)));
  return alpha;
}

}  // namespace priornet
