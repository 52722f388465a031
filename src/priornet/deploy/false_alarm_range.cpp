#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/deploy/false_alarm_range.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

// P(Beta(k, n + 1 - k) <= x): that at least k of n uniform numbers are below x.
double beta_cdf(int64_t k, int64_t n, double x) {
  const auto count = static_cast<double>(n);
  const auto log_odds = std::log(x) - std::log1p(-x);
  double log_term = count * std::log1p(-x);
  double fewer = 0.0;
  for (int64_t j = 0; j < k; ++j) {
    fewer += std::exp(log_term);
    log_term += std::log((count - static_cast<double>(j)) / static_cast<double>(j + 1)) + log_odds;
  }
  return std::max(0.0, 1.0 - fewer);
}

double beta_quantile(int64_t k, int64_t n, double probability) {
  double low = 0.0;
  double high = 1.0;
  for (int i = 0; i < 50; ++i) {
    const auto middle = (low + high) / 2;
    (beta_cdf(k, n, middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

FalseAlarmRange false_alarm_range(int64_t values, double rate) {
  if (values < 1) throw ArgumentError(fmt::format("false_alarm_range: values should be above 0, found {}", values));
  if (!(rate > 0.0 && rate < 1.0))
    throw ArgumentError(fmt::format("false_alarm_range: rate should be between 0 and 1, found {}", rate));
  const auto k = static_cast<int64_t>(std::floor(rate * static_cast<double>(values + 1) + 1e-9));
  if (k == 0) return {};
  return {static_cast<double>(k) / static_cast<double>(values + 1), beta_quantile(k, values, 0.025),
          beta_quantile(k, values, 0.975)};
}

}  // namespace priornet
