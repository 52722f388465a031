#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/core/errors.h>
#include <priornet/data/catalogue/class_overlap.h>
#include <priornet/data/channel_statistics.h>
#include <priornet/data/transforms/pixels.h>
#include <priornet/eval/set_comparison.h>
#include <priornet/eval/trivial_statistics.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace priornet {
namespace {

std::string describe_shape(const Dataset& set) {
  return set.has_images() ? fmt::format("images of {} channels", set.inputs.size(1))
                          : fmt::format("rows of {} numbers", set.inputs.size(1));
}

void check_pair(const Dataset& in, const Dataset& out) {
  for (const auto* set : {&in, &out}) {
    check_dataset(*set);
    if (set->inputs.numel() == 0) throw DataError(fmt::format("{}: is empty: there is nothing to compare", set->name));
  }
  if (in.has_images() != out.has_images() || (!in.has_images() && in.inputs.size(1) != out.inputs.size(1)))
    throw DataError(fmt::format("{}: holds {}, which cannot be compared with {}: {}", out.name, describe_shape(out),
                                in.name, describe_shape(in)));
  if (in.feature_names.empty() || out.feature_names.empty() || in.feature_names == out.feature_names) return;
  throw DataError(fmt::format("{}: its features should be those of {}: wanted {}; found {}", out.name, in.name,
                              fmt::join(in.feature_names, ", "), fmt::join(out.feature_names, ", ")));
}

ComparedSet summary(const Dataset& set, const Dataset& matched) {
  ComparedSet summary;
  summary.name = set.name;
  summary.size = set.size();
  summary.shape = set.inputs.sizes().slice(1).vec();
  summary.num_classes = set.num_classes();
  summary.repeated = static_cast<int64_t>(repeated_inputs(matched.inputs).size());
  const double unit = set.has_images() ? 255 : 1;
  for (const auto& channel : channel_statistics(matched)) {
    summary.means.push_back(channel.mean / unit);
    summary.deviations.push_back(channel.standard_deviation / unit);
  }
  return summary;
}

std::string describe_matching(const ImageShape& from, const ImageShape& to, const FitOptions& fit) {
  const std::string channels = from.channels == to.channels ? "" : to.channels == 1 ? "colour to grey" : "grey to RGB";
  if (from.height == to.height && from.width == to.width) return channels;
  const bool widened = fit.antialias && fit.resampling != Resampling::kNearest;
  return fmt::format("{}{}{}x{} to {}x{}, {}{}", channels, channels.empty() ? "" : "; ", from.height, from.width,
                     to.height, to.width, name_of(fit.resampling),
                     widened ? " with antialiasing" : " without antialiasing");
}

std::vector<NamedTensor> features(const Dataset& set, const std::vector<std::string>& names) {
  std::vector<NamedTensor> columns;
  for (int64_t i = 0; i < set.inputs.size(1); ++i)
    columns.push_back({names.empty() ? fmt::format("feature {}", i) : names[i],
                       set.inputs.select(1, i).to(torch::kFloat64).contiguous()});
  return columns;
}

const StatisticAuroc& named(const std::vector<StatisticAuroc>& statistics, std::string_view name) {
  return *std::find_if(statistics.begin(), statistics.end(), [&](const auto& s) { return s.name == name; });
}

// Objects stand out from their background to opposite sides, the backgrounds are a quarter of the grey scale apart, and
// all comes four times closer once inverted. Photographs, whose borders are of all greys, are no polarity.
bool has_opposite_polarity(const std::vector<StatisticAuroc>& as_is, const std::vector<StatisticAuroc>& inverted) {
  constexpr double kStandsOut = 0.02;
  const auto& border = named(as_is, "border brightness");
  const auto& mean = named(as_is, "mean brightness");
  const double in_background = border.in_median - mean.in_median;
  const double out_background = border.out_median - mean.out_median;
  const auto apart = [](const StatisticAuroc& statistic) {
    return std::abs(statistic.out_median - statistic.in_median);
  };
  return std::min(in_background, out_background) < -kStandsOut &&
         std::max(in_background, out_background) > kStandsOut && apart(border) >= 0.25 &&
         apart(named(inverted, "border brightness")) <= apart(border) / 4 &&
         apart(named(inverted, "mean brightness")) <= apart(mean) / 4;
}

void compare_images(const Dataset& in, const Dataset& out, SetComparison& to) {
  const auto of_in = trivial_statistics(in.inputs);
  const auto of_out = trivial_statistics(out.inputs);
  to.statistics = statistic_aurocs(of_in, of_out);
  to.inverted_statistics = statistic_aurocs(of_in, inverted_statistics(of_out));
  to.opposite_polarity = has_opposite_polarity(to.statistics, to.inverted_statistics);
  const auto near = near_duplicates(in.inputs, out.inputs);
  // Both are in the order of OUT.
  std::set_difference(near.begin(), near.end(), to.exact_duplicates.begin(), to.exact_duplicates.end(),
                      std::back_inserter(to.near_duplicates),
                      [](const auto& a, const auto& b) { return a.out < b.out; });
}

}  // namespace

std::vector<NamedTensor> input_statistics(const Dataset& set) {
  return set.has_images() ? trivial_statistics(set.inputs) : features(set, set.feature_names);
}

SetComparison compare_sets(const Dataset& in, const Dataset& out, const ComparisonOptions& options) {
  check_pair(in, out);
  SetComparison comparison;
  auto matched = out;
  if (in.has_images()) {
    matched = fit_to(out, image_shape(in), options.fit);
    comparison.matching = describe_matching(image_shape(out), image_shape(in), options.fit);
    comparison.out_was_inverted = options.invert_out;
    if (options.invert_out) matched.inputs = invert(matched.inputs);
  } else if (options.invert_out) {
    throw DataError(fmt::format("{}: holds {}, which cannot be inverted", out.name, describe_shape(out)));
  }
  comparison.in = summary(in, in);
  comparison.out = summary(out, matched);
  comparison.prevalence = static_cast<double>(out.size()) / static_cast<double>(in.size() + out.size());
  comparison.exact_duplicates = exact_duplicates(in.inputs, matched.inputs);
  if (in.has_images())
    compare_images(in, matched, comparison);
  else
    comparison.statistics = statistic_aurocs(features(in, in.feature_names), features(out, in.feature_names));
  comparison.out_classes_of_in = overlapping_classes(out.class_names, in.class_names);
  comparison.in_classes_of_out = overlapping_classes(in.class_names, out.class_names);
  return comparison;
}

}  // namespace priornet
