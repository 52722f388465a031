#include "tool/audit/set_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/class_overlap.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/transforms.h>
#include <priornet/learning/trivial_statistics.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "learning/base/names.h"

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
  throw DataError(fmt::format("{}: should have the features of {}: wanted {}; found {}", out.name, in.name,
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

const StatisticAuroc& named(const std::vector<StatisticAuroc>& statistics, std::string_view name) {
  return *std::find_if(statistics.begin(), statistics.end(), [&](const auto& s) { return s.name == name; });
}

// Objects stand out from their backgrounds in opposite directions, the backgrounds are a quarter of the grey scale
// apart, and both come four times closer after inverting. Photographs, whose borders have all greys, have no polarity.
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
    comparison.statistics =
        statistic_aurocs(feature_columns(in, in.feature_names), feature_columns(out, in.feature_names));
  comparison.out_classes_of_in = overlapping_classes(out.class_names, in.class_names);
  comparison.in_classes_of_out = overlapping_classes(in.class_names, out.class_names);
  return comparison;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kPairsShown = 10;

Json as_json(const ComparedSet& set) {
  return {{"name", set.name},
          {"size", set.size},
          {"shape", set.shape},
          {"means", set.means},
          {"deviations", set.deviations},
          {"classes", set.num_classes},
          {"repeated_inputs", set.repeated}};
}

Json as_json(const std::vector<StatisticAuroc>& statistics) {
  auto json = Json::array();
  for (const auto& [name, auroc, out_is_higher, in_median, out_median] : statistics)
    json.push_back({{"statistic", name},
                    {"auroc", auroc},
                    {"higher", out_is_higher ? "out" : "in"},
                    {"in_median", in_median},
                    {"out_median", out_median}});
  return json;
}

Json as_json(const std::vector<DuplicatePair>& pairs) {
  auto first = Json::array();
  for (size_t i = 0; i < std::min(pairs.size(), kPairsShown); ++i)
    first.push_back({{"out", pairs[i].out}, {"in", pairs[i].in}});
  return {{"count", pairs.size()}, {"first", std::move(first)}};
}

}  // namespace

std::string to_json(const SetComparison& comparison) {
  const auto& best = comparison.strongest_statistic();
  Json json = {{"in", as_json(comparison.in)},
               {"out", as_json(comparison.out)},
               {"prevalence", comparison.prevalence},
               {"matching", comparison.matching},
               {"out_was_inverted", comparison.out_was_inverted},
               {"trivial_auroc", best.auroc},
               {"trivial_statistic", best.name},
               {"statistics", as_json(comparison.statistics)},
               {"inverted_statistics", as_json(comparison.inverted_statistics)},
               {"opposite_polarity", comparison.opposite_polarity},
               {"exact_duplicates", as_json(comparison.exact_duplicates)},
               {"near_duplicates", as_json(comparison.near_duplicates)},
               {"out_classes_of_in", comparison.out_classes_of_in},
               {"in_classes_of_out", comparison.in_classes_of_out},
               {"verdict", verdict(comparison)}};
  return json_text(json, 2) + "\n";
}

namespace {

constexpr double kSeparable = 0.95;
constexpr double kHard = 0.7;
constexpr size_t kNamesShown = 8;

// 100.0 means all of them.
std::string percent(double auroc) { return fmt::format("{:.1f}", auroc < 1 ? std::min(100 * auroc, 99.9) : 100.0); }

std::string with_name(const StatisticAuroc& statistic) {
  return fmt::format("{} ({})", percent(statistic.auroc), statistic.name);
}

std::string trivial_sentence(const SetComparison& comparison) {
  const auto& best = comparison.strongest_statistic();
  if (best.auroc >= kSeparable) {
    const auto* advice = comparison.out_was_inverted ? "; leave --invert out" : "; try --invert";
    return fmt::format("separable by {} alone: {}{}", best.name, percent(best.auroc),
                       comparison.opposite_polarity ? advice : "");
  }
  if (best.auroc >= kHard)
    return fmt::format("{} alone partly tells the sets apart: {}; a detector should do much better", best.name,
                       percent(best.auroc));
  return "trivial statistics hardly tell the sets apart: at most " + with_name(best);
}

std::string polarity_sentence(const SetComparison& comparison) {
  const auto& border = named(comparison.statistics, "border brightness");
  const bool out_is_light = border.out_median > border.in_median;
  return fmt::format(
      "OUT has the opposite polarity: {}; if OUT is inverted, trivial statistics reach at most {}",
      out_is_light ? "dark on light where IN is light on dark" : "light on dark where IN is dark on light",
      with_name(strongest(comparison.inverted_statistics)));
}

std::string examples(const std::vector<DuplicatePair>& pairs) {
  return fmt::format("for example number {} of OUT and {} of IN, counted from 0", pairs[0].out, pairs[0].in);
}

// "tabby" of "n02123045 tabby, tabby cat".
std::string first_name(std::string_view class_name) {
  if (const auto id = wordnet_id(class_name).size(); id > 0 && class_name.size() > id + 1)
    class_name.remove_prefix(id + 1);
  return std::string(class_name.substr(0, class_name.find(',')));
}

std::string listed(const std::vector<std::string>& classes) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(classes.size(), kNamesShown); ++i) names.push_back(first_name(classes[i]));
  auto text = fmt::format("{}", fmt::join(names, ", "));
  if (classes.size() > kNamesShown) text += fmt::format(" and {} more", classes.size() - kNamesShown);
  return text;
}

std::string are_of(std::string_view set, const std::vector<std::string>& classes) {
  return classes.size() == 1 ? fmt::format("is a class of {}, or a kind of one", set)
                             : fmt::format("are classes of {}, or kinds of them", set);
}

// "cifar10" of "cifar10:test,grey": what the modifier without= takes. A path may hold a colon.
std::string set_of(const std::string& name) {
  const auto set = name.substr(0, name.find(','));
  return set.find_first_of("/.") == std::string::npos ? set.substr(0, set.find(':')) : set;
}

void add_class_sentences(const SetComparison& comparison, std::vector<std::string>& to) {
  const auto& in = comparison.in;
  const auto& out = comparison.out;
  if (in.num_classes == 0 || out.num_classes == 0) {
    to.push_back(fmt::format("{} no class names, so nobody can see whether the sets share classes",
                             in.num_classes + out.num_classes == 0 ? "the sets have"
                             : out.num_classes == 0                ? "OUT has"
                                                                   : "IN has"));
    return;
  }
  const auto& shared = comparison.out_classes_of_in;
  const auto& covered = comparison.in_classes_of_out;
  if (static_cast<int64_t>(shared.size()) == out.num_classes)
    to.push_back(fmt::format(
        "every class of OUT ({}) is a class of IN: the sets have the same classes, at most in another domain",
        listed(shared)));
  else if (!shared.empty())
    to.push_back(fmt::format("{} of OUT's {} classes {}: {}; {},without={} leaves {} out", shared.size(),
                             out.num_classes, are_of("IN", shared), listed(shared), out.name, set_of(in.name),
                             shared.size() == 1 ? "it" : "them"));
  if (covered.size() > shared.size())
    to.push_back(fmt::format("{} of IN's {} classes {}: {}", covered.size(), in.num_classes, are_of("OUT", covered),
                             listed(covered)));
}

}  // namespace

std::vector<std::string> verdict(const SetComparison& comparison) {
  std::vector<std::string> sentences{trivial_sentence(comparison)};
  if (comparison.opposite_polarity) sentences.push_back(polarity_sentence(comparison));
  const auto& exact = comparison.exact_duplicates;
  const auto& near = comparison.near_duplicates;
  if (!exact.empty())
    sentences.push_back(fmt::format("{} of OUT {} also in IN ({})",
                                    count_of(static_cast<int64_t>(exact.size()), "input"),
                                    exact.size() == 1 ? "is" : "are", examples(exact)));
  if (!near.empty())
    sentences.push_back(fmt::format("{}{} of OUT nearly {} one of IN ({})", exact.empty() ? "" : "a further ",
                                    count_of(static_cast<int64_t>(near.size()), "image"),
                                    near.size() == 1 ? "repeats" : "repeat", examples(near)));
  for (const auto& [set, name] : {std::pair(&comparison.in, "IN"), std::pair(&comparison.out, "OUT")})
    if (set->repeated > 0)
      sentences.push_back(fmt::format("{} holds {} more than once", name, count_of(set->repeated, "input")));
  add_class_sentences(comparison, sentences);
  if (!comparison.matching.empty())
    sentences.push_back(
        fmt::format("OUT was changed to match IN ({}); this affects every number", comparison.matching));
  return sentences;
}

}  // namespace priornet
