#include "learning/training/training_progress.h"

#include <fmt/format.h>

namespace priornet {
namespace {

std::string time_left(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02} left", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02} left", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

TrainingProgress::TrainingProgress(Progress& progress, const Plan& plan)
    : progress_(progress), plan_(plan), started_(Clock::now()) {}

std::string TrainingProgress::describe(int64_t steps, double rate, const std::optional<EpochReport>& losses) const {
  std::string text;
  if (losses) {
    text += fmt::format("loss {:.4g}", losses->loss);
    if (losses->outside != 0) text += fmt::format(" (in {:.4g}, out {:.4g})", losses->inside, losses->outside);
    text += ", ";
  }
  text += fmt::format("rate {:.3g}", rate);
  const std::chrono::duration<double> taken = Clock::now() - started_;
  const auto here = steps - plan_.first_step;
  if (here == 0 || taken.count() <= 0) return text;
  const auto steps_per_second = static_cast<double>(here) / taken.count();
  const auto rest = static_cast<double>(plan_.epochs * plan_.steps_per_epoch - steps);
  return text + fmt::format(", {:.0f} {}/s, {}", steps_per_second * static_cast<double>(plan_.inputs_per_step),
                            plan_.unit, time_left(rest / steps_per_second));
}

void TrainingProgress::report(int64_t steps, double rate, const std::optional<EpochReport>& losses) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  const bool finished = steps > plan_.first_step && steps % plan_.steps_per_epoch == 0;
  const auto now = Clock::now();
  if (finished ? !pace_.due() && steps < plan_.epochs * plan_.steps_per_epoch : now - told_ < kPause) return;
  told_ = now;
  const auto epoch = (finished ? steps - 1 : steps) / plan_.steps_per_epoch;
  progress_.detail(describe(steps, rate, losses));
  progress_.report(fmt::format("epoch {} of {}", epoch + 1, plan_.epochs), steps - epoch * plan_.steps_per_epoch,
                   plan_.steps_per_epoch);
}

}  // namespace priornet
