#include <priornet/learning/optimiser.h>

#include <ATen/Dispatch.h>
#include <priornet/uncertainty/errors.h>

#include "learning/training/flat_update.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

constexpr int64_t kAlignment = 64;  // elements: a cache line and more, for any dtype

int64_t aligned(int64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

FlatParameters::FlatParameters(std::vector<torch::Tensor> parameters) : views(std::move(parameters)) {
  if (views.empty()) throw ArgumentError("FlatParameters: parameters should be at least one, found none");
  int64_t size = 0;
  for (const auto& parameter : views) {
    if (parameter.dtype() != views[0].dtype() || parameter.device() != views[0].device())
      throw ArgumentError("FlatParameters: parameters should share dtype and device, found several");
    offsets.push_back(size);
    size += aligned(parameter.numel());
  }
  const torch::NoGradGuard no_gradient;
  const auto options = views[0].options().requires_grad(false);
  values = torch::zeros({size}, options);
  gradients = torch::zeros({size}, options);
  for (size_t i = 0; i < views.size(); ++i) {
    auto& parameter = views[i];
    // A dense layout, such as channels-last, is kept.
    const auto strides = parameter.is_non_overlapping_and_dense()
                             ? parameter.strides().vec()
                             : torch::empty(parameter.sizes(), options).strides().vec();
    const auto view = values.as_strided(parameter.sizes(), strides, offsets[i]);
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradients.as_strided(parameter.sizes(), strides, offsets[i]);
  }
}

void FlatParameters::clear_gradients() { gradients.zero_(); }

namespace {

template <class... Rules>
std::vector<OptimiserInfo> infos_of(const std::tuple<Rules...>*) {
  return {{Rules::kName,
           Rules::kSummary,
           {Rules::kSettings.begin(), Rules::kSettings.end()},
           {Rules::kMoments.begin(), Rules::kMoments.end()}}...};
}

constexpr const char* kTable = "optimiser";

// In the rule's order.
std::vector<double> values_of(size_t rule, const SettingValues& given) {
  const auto values = settings_of(choices_of(optimisers()), kTable, rule, given);
  std::vector<double> ordered;
  for (const auto& setting : optimisers()[rule].settings) ordered.push_back(values.at(setting.key));
  return ordered;
}

struct Coefficients {
  const std::vector<double>& rates;
  std::vector<double>& table;

  template <class Rule>
  void operator()(const Rule& rule) const {
    table = rule.coefficients(rates);
  }
};

template <class T>
void run_update(const FlatUpdate<T>& update, const RuleChoice& choice, bool on_cuda) {
#if defined(PRIORNET_CUDA)
  if (on_cuda) return launch_update<T>(update, choice, current_cuda_stream());
#endif
  static_cast<void>(on_cuda);
  update_on_cpu<T>(update, choice);
}

}  // namespace

const std::vector<OptimiserInfo>& optimisers() {
  static const auto all = infos_of(static_cast<const OptimiserRules*>(nullptr));
  return all;
}

std::unique_ptr<Optimiser> Optimiser::make(FlatParameters& parameters, const OptimiserOptions& options,
                                           const std::vector<double>& rates) {
  return std::make_unique<Optimiser>(parameters, options, rates);
}

Optimiser::Optimiser(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates)
    : parameters_(parameters),
      rule_(place_of(choices_of(optimisers()), kTable, options.name)),
      settings_(values_of(rule_, options.settings)),
      weight_decay_(options.weight_decay),
      clip_(options.clip) {
  check_range(kTable, "weight_decay", options.weight_decay >= 0.0, "at least 0", options.weight_decay);
  check_range(kTable, "clip", options.clip >= 0.0, "at least 0", options.clip);
  check_range(kTable, "the number of steps", !rates.empty(), "at least 1", 0);
  is_on_cuda("optimiser", parameters.values);
  const auto there = torch::TensorOptions(parameters.values.device());
  std::vector<double> table;
  with_rule({rule_, settings_.data(), weight_decay_}, Coefficients{rates, table});
  table_ = torch::tensor(table, torch::kFloat64)
               .view({static_cast<int64_t>(rates.size()), -1})
               .to(parameters.values.device());
  counter_ = torch::zeros({1}, there.dtype(torch::kInt64));
  current_ = torch::zeros({1}, there.dtype(torch::kInt64));
  norm_ = torch::zeros({}, there.dtype(torch::kFloat64));
  partials_ = torch::zeros({kNormParts}, there.dtype(torch::kFloat64));
  for (const auto* name : optimisers()[rule_].moments) moments_.push_back({name, torch::zeros_like(parameters.values)});
}

void Optimiser::step() {
  const bool on_cuda = parameters_.values.is_cuda();
  AT_DISPATCH_FLOATING_TYPES(parameters_.values.scalar_type(), "optimiser", [&] {
    const FlatUpdate<scalar_t> update{parameters_.values.data_ptr<scalar_t>(),
                                      parameters_.gradients.data_ptr<scalar_t>(),
                                      {moments_[0].values.data_ptr<scalar_t>(),
                                       moments_.size() == 1 ? nullptr : moments_[1].values.data_ptr<scalar_t>()},
                                      parameters_.values.numel(),
                                      clip_,
                                      table_.data_ptr<double>(),
                                      table_.size(0),
                                      counter_.data_ptr<int64_t>(),
                                      norm_.data_ptr<double>(),
                                      partials_.data_ptr<double>(),
                                      current_.data_ptr<int64_t>()};
    run_update(update, {rule_, settings_.data(), weight_decay_}, on_cuda);
  });
}

std::vector<NamedTensor> Optimiser::state() const {
  auto state = moments_;
  state.push_back({"steps", counter_});
  return state;
}

}  // namespace priornet
