#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/curves.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/rank_correlation.h>

#include <tuple>

#include "operator_support.h"

// Detection, calibration and rejection metrics: numbers about tensors, which are copied to the CPU.

namespace priornet::python {
namespace {

using Numbers = std::vector<double>;

/// A tensor as metrics take it; it must live as long as the span.
class Scores {
 public:
  explicit Scores(const Tensor& values) : values_(values.detach().to(torch::kCPU, torch::kFloat64).contiguous()) {}

  std::span<const double> span() const { return span_of(values_); }

 private:
  Tensor values_;
};

Tensor tensor_of(const Numbers& values) { return torch::tensor(values, torch::kFloat64); }

BootstrapOptions bootstrap_options(int64_t replicates, int64_t seed) {
  BootstrapOptions options;
  if (replicates != 0) options.replicates = replicates;
  options.seed = static_cast<uint64_t>(seed);
  return options;
}

/// Each metric with its interval; then positives, negatives, prevalence, replicates.
Numbers detect_sets(const Tensor& positive, const Tensor& negative, int64_t replicates, int64_t seed) {
  return guarded([&] {
    const Scores positives(positive), negatives(negative);
    const auto result = detect({positives.span(), negatives.span()}, bootstrap_options(replicates, seed));
    Numbers numbers;
    for (const auto& estimate : {result.auroc, result.aupr, result.average_precision, result.fpr95})
      numbers.insert(numbers.end(), {estimate.value, estimate.low, estimate.high});
    numbers.insert(numbers.end(), {static_cast<double>(result.positives), static_cast<double>(result.negatives),
                                   result.prevalence, static_cast<double>(result.replicates)});
    return numbers;
  });
}

/// Both AUROCs, their variances and covariance, the variance of their difference, z, p-value.
Numbers compare_scores(const Tensor& first_positive, const Tensor& first_negative, const Tensor& second_positive,
                       const Tensor& second_negative) {
  return guarded([&] {
    const Scores a(first_positive), b(first_negative), c(second_positive), d(second_negative);
    const auto result = delong_paired(PairedScores{{a.span(), b.span()}, {c.span(), d.span()}});
    return Numbers{result.first,
                   result.second,
                   result.first_variance,
                   result.second_variance,
                   result.covariance,
                   result.difference_variance,
                   result.z,
                   result.p_value};
  });
}

template <Curve (*curve_of)(const Ranking&)>
std::tuple<Tensor, Tensor> curve(const Tensor& positive, const Tensor& negative) {
  return guarded([&] {
    const Scores positives(positive), negatives(negative);
    const auto result = curve_of(Ranking({positives.span(), negatives.span()}));
    return std::tuple(tensor_of(result.x), tensor_of(result.y));
  });
}

template <double (*metric)(const Tensor&, const Tensor&)>
double of_probabilities(const Tensor& probabilities, const Tensor& labels) {
  return guarded([&] { return metric(probabilities.detach(), labels); });
}

Binning binning_of(bool equal_count) { return equal_count ? Binning::kEqualCount : Binning::kEqualWidth; }

double calibration_error_of(const Tensor& probabilities, const Tensor& labels, bool equal_count, int64_t bins) {
  return guarded([&] { return calibration_error(probabilities.detach(), labels, binning_of(equal_count), bins); });
}

/// Rows, mean confidence and accuracy of each bin.
std::tuple<Tensor, Tensor, Tensor> reliability_of(const Tensor& probabilities, const Tensor& labels, bool equal_count,
                                                  int64_t bins) {
  return guarded([&] {
    Numbers rows, confidence, accuracy;
    for (const auto& bin : reliability(probabilities.detach(), labels, binning_of(equal_count), bins)) {
      rows.push_back(static_cast<double>(bin.rows));
      confidence.push_back(bin.confidence);
      accuracy.push_back(bin.accuracy);
    }
    return std::tuple(tensor_of(rows).to(torch::kInt64), tensor_of(confidence), tensor_of(accuracy));
  });
}

std::tuple<Tensor, Tensor, double, double> risk_coverage_of(const Tensor& uncertainty, const Tensor& error) {
  return guarded([&] {
    const Scores uncertainties(uncertainty), errors(error);
    const auto result = risk_coverage(uncertainties.span(), errors.span());
    return std::tuple(tensor_of(result.coverage), tensor_of(result.risk), result.area, result.excess);
  });
}

double rejection_ratio(const Tensor& uncertainty, const Tensor& error) {
  return guarded([&] {
    const Scores uncertainties(uncertainty), errors(error);
    return prediction_rejection_ratio(uncertainties.span(), errors.span());
  });
}

Numbers spearman_of(const Tensor& first, const Tensor& second, int64_t replicates, int64_t seed) {
  return guarded([&] {
    const Scores a(first), b(second);
    const auto estimate = spearman_estimate(a.span(), b.span(), bootstrap_options(replicates, seed));
    return Numbers{estimate.value, estimate.low, estimate.high};
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(priornet, library) {
  library.def("detect", detect_sets);
  library.def("compare_scores", compare_scores);
  library.def("roc_curve", curve<roc_curve>);
  library.def("precision_recall_curve", curve<precision_recall_curve>);
  library.def("error_rate", of_probabilities<error_rate>);
  library.def("negative_log_likelihood", of_probabilities<negative_log_likelihood>);
  library.def("brier_score", of_probabilities<brier_score>);
  library.def("calibration_error", calibration_error_of);
  library.def("reliability", reliability_of);
  library.def("risk_coverage", risk_coverage_of);
  library.def("prediction_rejection_ratio", rejection_ratio);
  library.def("spearman", spearman_of);
}

}  // namespace priornet::python
