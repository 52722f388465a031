#include <priornet/uncertainty/calibration.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

void check(const char* function, const torch::Tensor& probabilities, const torch::Tensor& labels) {
  check_floating(function, "probabilities", probabilities);
  check_rank(function, "probabilities", probabilities, 2);
  check_range(function, "the rows of probabilities", probabilities.size(0) >= 1, "at least 1", 0);
  check_same_device(function, "labels", labels, "probabilities", probabilities);
  check_labels(function, "labels", labels, probabilities.size(0), probabilities.size(1));
  const auto sum = probabilities.sum().item<double>();
  check_range(function, "probabilities", std::isfinite(sum), "finite", sum);
}

torch::Tensor of_label(const torch::Tensor& probabilities, const torch::Tensor& labels) {
  return probabilities.gather(1, labels.unsqueeze(1)).squeeze(1);
}

struct Row {
  double confidence;
  double right;  ///< 1 or 0; of equal confidences their mean
};

// By confidence. A bin of equally many rows may end amid equal confidences, and which of these rows it holds would
// depend on the order of the inputs: so they share the mean of what they got right.
std::vector<Row> sorted_rows(const torch::Tensor& probabilities, const torch::Tensor& labels) {
  const auto [largest, predicted] = probabilities.max(1);
  const auto confidence = largest.to(torch::kCPU, torch::kFloat64).contiguous();
  const auto right = predicted.eq(labels).to(torch::kCPU).contiguous();
  std::vector<Row> rows(static_cast<size_t>(confidence.size(0)));
  for (size_t i = 0; i < rows.size(); ++i)
    rows[i] = {confidence.data_ptr<double>()[i], right.data_ptr<bool>()[i] ? 1.0 : 0.0};
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.confidence < b.confidence; });
  for (size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    double sum = 0.0;
    for (end = begin; end < rows.size() && rows[end].confidence == rows[begin].confidence; ++end)
      sum += rows[end].right;
    const double mean = sum / static_cast<double>(end - begin);
    for (size_t i = begin; i < end; ++i) rows[i].right = mean;
  }
  return rows;
}

ReliabilityBin bin_of(const Row* begin, const Row* end) {
  ReliabilityBin bin;
  for (const auto* row = begin; row != end; ++row) {
    bin.confidence += row->confidence;
    bin.accuracy += row->right;
  }
  bin.rows = end - begin;
  bin.confidence /= static_cast<double>(bin.rows);
  bin.accuracy /= static_cast<double>(bin.rows);
  return bin;
}

// Bins of equal width hold (low, high], as the usual definition has it.
int64_t end_of_bin(const std::vector<Row>& rows, int64_t bin, Binning binning, int64_t bins) {
  const auto count = static_cast<int64_t>(rows.size());
  if (bin + 1 == bins) return count;
  if (binning == Binning::kEqualCount) return (bin + 1) * count / bins;
  const double high = static_cast<double>(bin + 1) / static_cast<double>(bins);
  const auto end = std::upper_bound(rows.begin(), rows.end(), high,
                                    [](double value, const Row& row) { return value < row.confidence; });
  return end - rows.begin();
}

}  // namespace

double error_rate(const torch::Tensor& probabilities, const torch::Tensor& labels) {
  check("error_rate", probabilities, labels);
  return probabilities.argmax(1).ne(labels).to(torch::kFloat64).mean().item<double>();
}

double negative_log_likelihood(const torch::Tensor& probabilities, const torch::Tensor& labels) {
  check("negative_log_likelihood", probabilities, labels);
  const double least = probabilities.scalar_type() == torch::kFloat64 ? std::numeric_limits<double>::min()
                                                                      : std::numeric_limits<float>::min();
  return 0.0 - of_label(probabilities, labels).to(torch::kFloat64).clamp_min(least).log().mean().item<double>();
}

double brier_score(const torch::Tensor& probabilities, const torch::Tensor& labels) {
  check("brier_score", probabilities, labels);
  // sum (p - y)^2 = sum p^2 - 2 p_label + 1
  const auto p = probabilities.to(torch::kFloat64);
  return (p.square().sum(1) - 2.0 * of_label(p, labels) + 1.0).mean().item<double>();
}

std::vector<ReliabilityBin> reliability(const torch::Tensor& probabilities, const torch::Tensor& labels,
                                        Binning binning, int64_t bins) {
  check("reliability", probabilities, labels);
  check_range("reliability", "bins", bins >= 1, "at least 1", static_cast<double>(bins));
  const auto rows = sorted_rows(probabilities, labels);
  std::vector<ReliabilityBin> result;
  int64_t begin = 0;
  for (int64_t bin = 0; bin < bins; ++bin) {
    const auto end = end_of_bin(rows, bin, binning, bins);
    if (end > begin) result.push_back(bin_of(rows.data() + begin, rows.data() + end));
    begin = std::max(begin, end);
  }
  return result;
}

double calibration_error(const torch::Tensor& probabilities, const torch::Tensor& labels, Binning binning,
                         int64_t bins) {
  double error = 0.0;
  for (const auto& bin : reliability(probabilities, labels, binning, bins))
    error += static_cast<double>(bin.rows) * std::abs(bin.confidence - bin.accuracy);
  return error / static_cast<double>(labels.size(0));
}

}  // namespace priornet
