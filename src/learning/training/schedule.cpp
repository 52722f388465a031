#include <priornet/learning/schedule.h>

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <cmath>
#include <numbers>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

using Kind = ScheduleOptions::Kind;

double between(double from, double to, double share) { return from + (to - from) * share; }

double one_cycle(double low, double high, const ScheduleOptions& options, double epoch, double epochs) {
  const double half = options.cycle / 2.0;
  if (epoch < half) return between(low, high, epoch / half);
  if (epoch < options.cycle) return between(high, low, (epoch - half) / half);
  return between(low, options.last, (epoch - options.cycle) / (epochs - options.cycle));
}

double cosine(const ScheduleOptions& options, double share) {
  if (share < options.warm_up) return options.rate * share / options.warm_up;
  const double left = (share - options.warm_up) / (1.0 - options.warm_up);
  return between(options.last, options.rate, 0.5 * (1.0 + std::cos(std::numbers::pi * left)));
}

// `epoch` may lie within one.
double rate_at(const ScheduleOptions& options, double epoch, double epochs) {
  switch (options.kind) {
    case Kind::kConstant:
      return options.rate;
    case Kind::kExponential:
      return options.rate * std::pow(options.decay, std::floor(epoch));
    case Kind::kCosine:
      return cosine(options, epoch / epochs);
    case Kind::kOneCycle:
      return one_cycle(options.rate, 10.0 * options.rate, options, epoch, epochs);
    case Kind::kOneCyclePeak:
      return one_cycle(options.rate / 10.0, options.rate, options, epoch, epochs);
  }
  throw ArgumentError("learning_rates: kind should be one of ScheduleOptions::Kind");
}

}  // namespace

std::vector<double> learning_rates(const ScheduleOptions& options, const RunLength& length) {
  const auto epochs = static_cast<double>(length.epochs);
  check_range("learning_rates", "rate", options.rate > 0.0, "above 0", options.rate);
  check_range("learning_rates", "decay", options.decay > 0.0, "above 0", options.decay);
  check_range("learning_rates", "last", options.last >= 0.0, "at least 0", options.last);
  check_range("learning_rates", "warm_up", options.warm_up >= 0.0 && options.warm_up < 1.0, "in [0, 1)",
              options.warm_up);
  if (options.kind == Kind::kOneCycle || options.kind == Kind::kOneCyclePeak)
    check_range("learning_rates", "cycle", options.cycle > 0.0 && options.cycle <= epochs,
                fmt::format("in (0, {}], the epochs", length.epochs), options.cycle);
  std::vector<double> rates;
  rates.reserve(static_cast<size_t>(length.epochs * length.steps_an_epoch));
  for (int64_t epoch = 0; epoch < length.epochs; ++epoch)
    for (int64_t step = 0; step < length.steps_an_epoch; ++step) {
      // A step stands for its middle: the first rate is not 0, the last not yet the end.
      const double within = (static_cast<double>(step) + 0.5) / static_cast<double>(length.steps_an_epoch);
      rates.push_back(rate_at(options, static_cast<double>(epoch) + (options.each_step ? within : 0.5), epochs));
    }
  return rates;
}

}  // namespace priornet
