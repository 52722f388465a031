#pragma once

#include <cstdint>

namespace priornet {

/// Where the share of false alarms lies, once thresholds come from one calibration set.
struct FalseAlarmRange {
  double mean = 0.0;  ///< over calibration sets of this size
  double low = 0.0;   ///< below it in 2.5 % of them
  double high = 0.0;  ///< above it in 2.5 % of them
};

/// Of a rule that rejects at the conformal p-value `rate` out of `values` rarities. With k = floor(rate (values + 1))
/// it rejects what is above the k-th largest of them, so that the share has the law Beta(k, values + 1 - k) where no
/// two rarities are equal, and is smaller where some are. All 0 for k = 0, where nothing is rejected. ArgumentError
/// unless `values` is above 0 and `rate` between 0 and 1.
FalseAlarmRange false_alarm_range(int64_t values, double rate);

}  // namespace priornet
