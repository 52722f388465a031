#include <priornet/eval/set_comparison.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace priornet {
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
  // A file's name need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace priornet
