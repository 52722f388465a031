#include "learning/training/weight_average.h"

#include <fmt/format.h>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

void swap_values(torch::Tensor& a, torch::Tensor& b) {
  const auto kept = a.clone();
  a.copy_(b);
  b.copy_(kept);
}

}  // namespace

WeightAverage::WeightAverage(const Classifier& network, FlatParameters& parameters, double decay)
    : parameters_(parameters),
      mean_(parameters.values.detach().clone()),
      decay_(decay),
      steps_(torch::zeros({1}, parameters.values.options().dtype(torch::kFloat64))) {
  check_range("WeightAverage", "decay", 0.0 < decay && decay < 1.0, "between 0 and 1", decay);
  for (const auto& buffer : network.buffers()) {
    if (!buffer.is_floating_point()) continue;
    buffers_.push_back(buffer);
    buffer_means_.push_back(buffer.detach().clone());
  }
}

void WeightAverage::update() {
  const torch::NoGradGuard no_gradient;
  steps_.add_(1.0);
  const auto share = steps_.reciprocal().clamp_min(1.0 - decay_).to(mean_.dtype());
  mean_.lerp_(parameters_.values, share);
  for (size_t i = 0; i < buffers_.size(); ++i) buffer_means_[i].lerp_(buffers_[i], share.to(buffers_[i].dtype()));
}

void WeightAverage::exchange() {
  const torch::NoGradGuard no_gradient;
  auto values = parameters_.values.detach();
  swap_values(values, mean_);
  for (size_t i = 0; i < buffers_.size(); ++i) swap_values(buffers_[i], buffer_means_[i]);
}

std::vector<NamedTensor> WeightAverage::state() const {
  std::vector<NamedTensor> state = {{"steps", steps_}, {"weights", mean_}};
  for (size_t i = 0; i < buffer_means_.size(); ++i) state.push_back({fmt::format("buffer.{}", i), buffer_means_[i]});
  return state;
}

}  // namespace priornet
