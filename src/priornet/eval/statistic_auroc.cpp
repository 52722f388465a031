#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/eval/roc.h>
#include <priornet/eval/statistic_auroc.h>
#include <priornet/eval/tensor_span.h>

#include <algorithm>
#include <limits>
#include <span>

namespace priornet {
namespace {

torch::Tensor prepared(const torch::Tensor& values) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  return torch::where(values.isnan(), torch::full_like(values, kLowest), values).contiguous();
}

StatisticAuroc of(const NamedTensor& in_statistic, const NamedTensor& out_statistic) {
  const auto in = prepared(in_statistic.values);
  const auto out = prepared(out_statistic.values);
  const double for_out = auroc(Ranking({.positive = span_of(out), .negative = span_of(in)}));
  return {in_statistic.name, std::max(for_out, 1 - for_out), for_out >= 0.5, in.median().item<double>(),
          out.median().item<double>()};
}

}  // namespace

std::vector<StatisticAuroc> statistic_aurocs(const std::vector<NamedTensor>& in, const std::vector<NamedTensor>& out) {
  if (in.size() != out.size())
    throw ArgumentError(fmt::format("statistic_aurocs: {} statistics of IN but {} of OUT", in.size(), out.size()));
  std::vector<StatisticAuroc> aurocs;
  for (size_t s = 0; s < in.size(); ++s) {
    if (in[s].name != out[s].name)
      throw ArgumentError(
          fmt::format("statistic_aurocs: {} of IN cannot be held against {} of OUT", in[s].name, out[s].name));
    aurocs.push_back(of(in[s], out[s]));
  }
  return aurocs;
}

const StatisticAuroc& strongest(const std::vector<StatisticAuroc>& statistics) {
  if (statistics.empty()) throw ArgumentError("strongest: there are no statistics");
  return *std::max_element(statistics.begin(), statistics.end(),
                           [](const auto& a, const auto& b) { return a.auroc < b.auroc; });
}

}  // namespace priornet
