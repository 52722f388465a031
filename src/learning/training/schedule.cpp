#include <priornet/learning/schedule.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

using Values = const SettingValues&;
using Moment = const ScheduleMoment&;

constexpr const char* kTable = "schedule";
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
      {"exponential", "times decay each epoch, never within one", {kDecay}, exponential},
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
  const auto place = place_of(table, kTable, options.name);
  const auto settings = settings_of(table, kTable, place, options.settings);
  check_range("learning_rates", "rate", options.rate > 0.0, "above 0", options.rate);
  std::vector<double> rates;
  rates.reserve(static_cast<size_t>(length.epochs * length.steps_per_epoch));
  for (int64_t epoch = 0; epoch < length.epochs; ++epoch)
    for (int64_t step = 0; step < length.steps_per_epoch; ++step) {
      // A step stands for its middle: the first rate is not 0, the last not yet the end.
      const double within = (static_cast<double>(step) + 0.5) / static_cast<double>(length.steps_per_epoch);
      const double now = static_cast<double>(epoch) + (options.each_step ? within : 0.5);
      rates.push_back(schedules()[place].rate_at({options.rate, now, static_cast<double>(length.epochs)}, settings));
    }
  return rates;
}

}  // namespace priornet
