#include <priornet/learning/optimiser.h>

#include <ATen/Dispatch.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "learning/training/flat_update.h"
#include "uncertainty/core/checks.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

template <class T>
double norm_of(const T* values, int64_t size) {
  constexpr int64_t kPart = 16384;
  std::vector<double> parts(static_cast<size_t>((size + kPart - 1) / kPart));
  parallel_rows(static_cast<int64_t>(parts.size()), kPart, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      // Eight sums side by side: the compiler must keep the order of additions written here.
      constexpr int64_t kLanes = 8;
      std::array<double, kLanes> sums{};
      const T* const from = values + part * kPart;
      const int64_t count = std::min(size - part * kPart, kPart);
      const auto square = [](T value) { return static_cast<double>(value) * static_cast<double>(value); };
      for (int64_t i = 0; i + kLanes <= count; i += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) sums[static_cast<size_t>(lane)] += square(from[i + lane]);
      for (int64_t i = count / kLanes * kLanes; i < count; ++i) sums[0] += square(from[i]);
      parts[static_cast<size_t>(part)] = std::accumulate(sums.begin(), sums.end(), 0.0);
    }
  });
  return std::sqrt(std::accumulate(parts.begin(), parts.end(), 0.0));
}

// One step of a rule for every weight; the arrays do not overlap.
template <class T, class Update>
void update_weights(const Update step, T scale, int64_t size, T* __restrict values, const T* __restrict gradients,
                    T* __restrict first, T* __restrict second) {
  for (int64_t i = 0; i < size; ++i) {
    T none = 0;
    if (second != nullptr)
      step(values[i], gradients[i] * scale, first[i], second[i]);
    else
      step(values[i], gradients[i] * scale, first[i], none);
  }
}

template <class T>
struct UpdateOnCpu {
  const FlatUpdate<T>& update;

  template <class Rule>
  void operator()(const Rule& rule) const {
    using Update = typename Rule::template Update<T>;
    *update.norm = norm_of(update.gradients, update.size);
    const Update step(rule, row_of(update, (*update.counter)++, Rule::kCoefficients));
    const auto factor = static_cast<T>(clip_factor(*update.norm, update.clip));
    T* const second = Rule::kMoments.size() == 2 ? update.moments[1] : nullptr;
    parallel_rows(update.size, 1, [&](int64_t begin, int64_t end) {
      update_weights(step, factor, end - begin, update.values + begin, update.gradients + begin,
                     update.moments[0] + begin, second == nullptr ? nullptr : second + begin);
    });
  }
};

template <class T>
void update_on_cpu(const FlatUpdate<T>& update, const RuleChoice& choice) {
  with_rule(choice, UpdateOnCpu<T>{update});
}

constexpr int64_t kAlignment = 64;  // elements: a cache line and more, for any dtype

int64_t aligned(int64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

FlatParameters::FlatParameters(std::vector<torch::Tensor> parameters) : views(std::move(parameters)) {
  if (views.empty()) throw ArgumentError("FlatParameters: should be given at least one parameter, found none");
  int64_t size = 0;
  for (const auto& parameter : views) {
    if (parameter.dtype() != views[0].dtype() || parameter.device() != views[0].device())
      throw ArgumentError("FlatParameters: parameters should have one dtype and device, found several");
    offsets.push_back(size);
    size += aligned(parameter.numel());
  }
  const torch::NoGradGuard no_gradient;
  const auto options = views[0].options().requires_grad(false);
  values = torch::zeros({size}, options);
  gradients = torch::zeros({size}, options);
  for (size_t i = 0; i < views.size(); ++i) {
    auto& parameter = views[i];
    // Keeps a dense layout, such as channels-last.
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

constexpr const char* kOptimiserTable = "optimiser";

// In the rule's order.
std::vector<double> values_of(size_t rule, const SettingValues& given) {
  const auto values = settings_of(choices_of(optimisers()), kOptimiserTable, rule, given);
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
  return std::unique_ptr<Optimiser>(new Optimiser(parameters, options, rates));  // its constructor is private
}

Optimiser::Optimiser(FlatParameters& parameters, const OptimiserOptions& options, const std::vector<double>& rates)
    : parameters_(parameters),
      rule_(place_of(choices_of(optimisers()), kOptimiserTable, options.name)),
      settings_(values_of(rule_, options.settings)),
      weight_decay_(options.weight_decay),
      clip_(options.clip) {
  check_range(kOptimiserTable, "weight_decay", options.weight_decay >= 0.0, "at least 0", options.weight_decay);
  check_range(kOptimiserTable, "clip", options.clip >= 0.0, "at least 0", options.clip);
  check_range(kOptimiserTable, "the number of steps", !rates.empty(), "at least 1", 0);
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
  // The kernels write to memory that LibTorch does not watch.
  for (const auto& parameter : parameters_.views) parameter.unsafeGetTensorImpl()->bump_version();
}

std::vector<NamedTensor> Optimiser::state() const {
  auto state = moments_;
  state.push_back({"steps", counter_});
  return state;
}

namespace {

using Values = const SettingValues&;
using Moment = const ScheduleMoment&;

constexpr const char* kScheduleTable = "schedule";
constexpr Setting kDecay = {"decay", 0.95, above(0), "factor per epoch"};
constexpr Setting kCycle = {"cycle", 30, above(0), "epochs up and down"};
constexpr Setting kWarmUp = {"warm_up", 0.0, {0, 1, true, false}, "share of the run in which the rate rises"};
constexpr Setting kLast = {"last_rate", 1e-6, at_least(0), "where it ends"};

double between(double from, double to, double share) { return from + (to - from) * share; }

double constant(Moment now, Values) { return now.rate; }

double exponential(Moment now, Values settings) {
  return now.rate * std::pow(settings.at(kDecay.key), std::floor(now.epoch));
}

double cosine(Moment now, Values settings) {
  const double warm_up = settings.at(kWarmUp.key);
  const double share = now.epoch / now.epochs;
  if (share < warm_up) return now.rate * share / warm_up;
  const double left = (share - warm_up) / (1.0 - warm_up);
  return between(settings.at(kLast.key), now.rate, 0.5 * (1.0 + std::cos(std::numbers::pi * left)));
}

double up_and_down(double low, double high, Moment now, Values settings) {
  const double cycle = settings.at(kCycle.key);
  check_range("learning_rates", kCycle.key, cycle <= now.epochs, fmt::format("in (0, {:g}], the epochs", now.epochs),
              cycle);
  const double half = cycle / 2.0;
  if (now.epoch < half) return between(low, high, now.epoch / half);
  if (now.epoch < cycle) return between(high, low, (now.epoch - half) / half);
  return between(low, settings.at(kLast.key), (now.epoch - cycle) / (now.epochs - cycle));
}

double one_cycle(Moment now, Values settings) { return up_and_down(now.rate, 10.0 * now.rate, now, settings); }

double one_cycle_peak(Moment now, Values settings) { return up_and_down(now.rate / 10.0, now.rate, now, settings); }

}  // namespace

// A new schedule is a function and a row.
const std::vector<ScheduleInfo>& schedules() {
  static const std::vector<ScheduleInfo> all = {
      {"constant", "the rate stays", {}, constant},
      {"exponential", "multiplied by decay each epoch, never within one", {kDecay}, exponential},
      {"cosine",
       "from rate to last_rate by half a cosine, after a linear rise over the first warm_up of the run",
       {kWarmUp, kLast},
       cosine},
      {"one-cycle",
       "the paper's: linearly from rate to 10 rate and back in cycle epochs, then to last_rate",
       {kCycle, kLast},
       one_cycle},
      {"one-cycle-peak",
       "the authors' code: linearly from rate / 10 to rate and back in cycle epochs, then to last_rate",
       {kCycle, kLast},
       one_cycle_peak}};
  return all;
}

std::vector<double> learning_rates(const ScheduleOptions& options, const RunLength& length) {
  const auto table = choices_of(schedules());
  const auto place = place_of(table, kScheduleTable, options.name);
  const auto settings = settings_of(table, kScheduleTable, place, options.settings);
  check_range("learning_rates", "rate", options.rate > 0.0, "above 0", options.rate);
  std::vector<double> rates;
  rates.reserve(static_cast<size_t>(length.epochs * length.steps_per_epoch));
  for (int64_t epoch = 0; epoch < length.epochs; ++epoch)
    for (int64_t step = 0; step < length.steps_per_epoch; ++step) {
      // A step counts at its middle: the first rate is not 0, the last is not yet the end.
      const double within = (static_cast<double>(step) + 0.5) / static_cast<double>(length.steps_per_epoch);
      const double now = static_cast<double>(epoch) + (options.each_step ? within : 0.5);
      rates.push_back(schedules()[place].rate_at({options.rate, now, static_cast<double>(length.epochs)}, settings));
    }
  return rates;
}

}  // namespace priornet
