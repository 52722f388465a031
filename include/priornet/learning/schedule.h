#pragma once

#include <priornet/learning/settings.h>

#include <cstdint>
#include <string>
#include <vector>

namespace priornet {

/// How the learning rate goes over a run.
struct ScheduleOptions {
  std::string name = "constant";  ///< of schedules()
  double rate = 1e-3;             ///< > 0
  bool each_step = true;          ///< else it changes only between epochs
  SettingValues settings;         ///< of that schedule; those of other schedules are left alone
};

/// A moment of a run, as a schedule sees it.
struct ScheduleMoment {
  double rate;    ///< of the options
  double epoch;   ///< from 0 on; it may lie within one
  double epochs;  ///< of the whole run
};

/// A row of the table of schedules.
struct ScheduleInfo {
  const char* name;
  const char* summary;
  std::vector<Setting> settings;
  double (*rate_at)(const ScheduleMoment& now, const SettingValues& settings);
};

/// All schedules.
const std::vector<ScheduleInfo>& schedules();

struct RunLength {
  int64_t epochs = 0;
  int64_t steps_per_epoch = 0;
};

/// The learning rate of every step. ArgumentError for an unknown schedule or setting, or a value out of its range.
std::vector<double> learning_rates(const ScheduleOptions& options, const RunLength& length);

}  // namespace priornet
