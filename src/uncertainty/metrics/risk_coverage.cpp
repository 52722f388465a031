#include <priornet/uncertainty/risk_coverage.h>

#include <c10/util/StringUtil.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace priornet {
namespace {

void check(const char* function, std::span<const double> uncertainty, std::span<const double> error) {
  if (uncertainty.empty() || uncertainty.size() != error.size())
    throw ArgumentError(c10::str(function, ": uncertainty and error should be of one length, at least 1, found ",
                                 uncertainty.size(), " and ", error.size()));
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (std::any_of(uncertainty.begin(), uncertainty.end(), is_nan) || std::any_of(error.begin(), error.end(), is_nan))
    throw ArgumentError(c10::str(function, ": uncertainty and error should be numbers, found nan"));
}

// The errors from the most certain row to the least; rows that tie get the mean of their errors.
std::vector<double> ordered_errors(std::span<const double> uncertainty, std::span<const double> error) {
  std::vector<size_t> order(uncertainty.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return uncertainty[a] < uncertainty[b]; });
  std::vector<double> errors(order.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    double sum = 0.0;
    for (; end < order.size() && uncertainty[order[end]] == uncertainty[order[begin]]; ++end) sum += error[order[end]];
    std::fill(errors.begin() + static_cast<ptrdiff_t>(begin), errors.begin() + static_cast<ptrdiff_t>(end),
              sum / static_cast<double>(end - begin));
    begin = end;
  }
  return errors;
}

// Mean error of the first 1, 2, ..., N.
std::vector<double> risks(const std::vector<double>& errors) {
  std::vector<double> result(errors.size());
  double sum = 0.0;
  for (size_t i = 0; i < errors.size(); ++i) {
    sum += errors[i];
    result[i] = sum / static_cast<double>(i + 1);
  }
  return result;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> best_order(std::span<const double> error) {
  std::vector<double> sorted(error.begin(), error.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Area under the error that is left among all rows as they are rejected one after the other, the last first.
double rejection_area(const std::vector<double>& errors) {
  double left = 0.0;
  double area = 0.0;
  for (const auto error : errors) {
    area += left + 0.5 * error;
    left += error;
  }
  return area;
}

}  // namespace

RiskCoverage risk_coverage(std::span<const double> uncertainty, std::span<const double> error) {
  check("risk_coverage", uncertainty, error);
  RiskCoverage curve;
  curve.risk = risks(ordered_errors(uncertainty, error));
  for (size_t i = 1; i <= curve.risk.size(); ++i)
    curve.coverage.push_back(static_cast<double>(i) / static_cast<double>(curve.risk.size()));
  curve.area = mean(curve.risk);
  curve.excess = curve.area - mean(risks(best_order(error)));
  return curve;
}

double prediction_rejection_ratio(std::span<const double> uncertainty, std::span<const double> error) {
  check("prediction_rejection_ratio", uncertainty, error);
  const double total = std::accumulate(error.begin(), error.end(), 0.0);
  const double chance = 0.5 * total * static_cast<double>(error.size());
  const double best = rejection_area(best_order(error));
  if (!(chance > best)) return std::numeric_limits<double>::quiet_NaN();
  return (chance - rejection_area(ordered_errors(uncertainty, error))) / (chance - best);
}

}  // namespace priornet
