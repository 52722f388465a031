#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace priornet {

/// How the learning rate goes over a run.
struct ScheduleOptions {
  enum class Kind {
    kConstant,
    kExponential,  ///< times `decay` each epoch
    kCosine,       ///< from `rate` to `last` by half a cosine, after a linear rise over the first `warm_up` of the run
    kOneCycle,     ///< the paper's: linearly from rate to 10 rate and back in `cycle` epochs, then to `last`
    kOneCyclePeak  ///< the authors' code: linearly from rate / 10 to rate and back in `cycle` epochs, then to `last`
  };
  Kind kind = Kind::kConstant;
  double rate = 1e-3;     ///< > 0
  double decay = 0.95;    ///< of kExponential, > 0
  double cycle = 30;      ///< of the one-cycle kinds: epochs, in (0, epochs]
  double warm_up = 0.0;   ///< of kCosine: share of the run, in [0, 1)
  double last = 1e-6;     ///< of kCosine and the one-cycle kinds, >= 0
  bool each_step = true;  ///< else it changes only between epochs; kExponential never changes within one
};

struct RunLength {
  int64_t epochs = 0;
  int64_t steps_an_epoch = 0;
};

/// The learning rate of every step. ArgumentError for a value out of its range.
std::vector<double> learning_rates(const ScheduleOptions& options, const RunLength& length);

constexpr std::array<std::pair<std::string_view, ScheduleOptions::Kind>, 5> kScheduleNames = {
    {{"constant", ScheduleOptions::Kind::kConstant},
     {"exponential", ScheduleOptions::Kind::kExponential},
     {"cosine", ScheduleOptions::Kind::kCosine},
     {"one-cycle", ScheduleOptions::Kind::kOneCycle},
     {"one-cycle-peak", ScheduleOptions::Kind::kOneCyclePeak}}};

}  // namespace priornet
