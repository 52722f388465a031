#include <fmt/format.h>
#include <priornet/experiments/further_tables.h>
#include <priornet/experiments/published.h>
#include <priornet/experiments/seed_statistics.h>

#include <algorithm>

namespace priornet {
namespace {

std::string half_interval(const Estimate& estimate, double scale) {
  return fmt::format("{:.2f} ± {:.2f}", scale * estimate.value, scale * (estimate.high - estimate.low) / 2);
}

/// The paper's name of a measure where it has one.
std::string shown_name(const std::string& measure) {
  for (size_t m = 0; m < kPaperMeasures.size(); ++m)
    if (kPaperMeasures[m] == measure) return std::string(kPaperMeasureNames[m]);
  return measure;
}

Table parts_table(const std::vector<ImageResult>& seeds, size_t model) {
  const auto& first = seeds.front();
  const auto results = results_of_model(seeds, model);
  Table table{fmt::format("{}: data, distributional and model uncertainty apart", first.models[model].plan.name),
              {"set"},
              {},
              {}};
  for (const auto part : kUncertaintyParts) table.columns.push_back(fmt::format("{}, nats", part));
  for (const auto part : kUncertaintyParts) table.columns.push_back(fmt::format("{}, AUROC in %", part));
  for (size_t set = 0; set <= first.outside.size(); ++set) {
    std::vector<Cell> row{set == 0 ? first.experiment.inside_title : first.outside[set - 1].title};
    for (size_t part = 0; part < kUncertaintyParts.size(); ++part) {
      double mean = 0.0;
      for (const auto* result : results)
        mean += result->uncertainties[set].mean[part] / static_cast<double>(results.size());
      row.push_back(Cell::number(mean, 4));
    }
    for (size_t part = 0; part < kUncertaintyParts.size(); ++part) {
      std::vector<Estimate> estimates;
      for (const auto* result : results) estimates.push_back(result->uncertainties[set].auroc[part]);
      const auto estimate = over_seeds(estimates);
      row.push_back(set == 0 ? Cell("-") : Cell::number(100 * estimate.value, half_interval(estimate, 100)));
    }
    table.add(std::move(row));
  }
  table.notes.emplace_back(
      "Mean over the inputs of a set. The three add up to the entropy of the ensemble's mean: expected entropy, E I[y, "
      "mu | theta], I[y, theta] (docs/math.md, section 4).");
  return table;
}

Table pair_table(const std::vector<ImageResult>& seeds, size_t comparison) {
  const auto& first = seeds.front();
  const auto& plan = first.comparisons[comparison].plan;
  std::vector<const ModelComparison*> found;
  for (const auto& seed : seeds)
    if (comparison < seed.comparisons.size()) found.push_back(&seed.comparisons[comparison]);
  const auto title = [](const std::string& model, const std::string& measure) {
    return fmt::format("{} by {}", model, shown_name(measure));
  };
  const auto name = title(plan.model, plan.measure), against = title(plan.against, plan.against_measure);
  const auto count = static_cast<double>(found.size());
  const bool is_one = found.size() == 1;
  Table table{fmt::format("{} against {}: AUROC in %", name, against),
              {"out of distribution", name, against, "difference", "95 % interval", is_one ? "p" : "largest p"},
              {},
              {}};
  for (size_t set = 0; set < first.outside.size(); ++set) {
    double of_first = 0.0, of_second = 0.0, p = 0.0;
    std::vector<Estimate> differences;
    for (const auto* of_seed : found) {
      const auto& pair = of_seed->sets[set];
      of_first += 100 * pair.first / count;
      of_second += 100 * pair.second / count;
      p = std::max(p, pair.p_value);
      differences.push_back(difference(pair));
    }
    const auto estimate = over_seeds(differences);
    table.add({first.outside[set].title, Cell::number(of_first, 2), Cell::number(of_second, 2),
               Cell::number(100 * estimate.value, fmt::format("{:+.2f}", 100 * estimate.value)),
               fmt::format("{:+.2f} to {:+.2f}", 100 * estimate.low, 100 * estimate.high),
               Cell::number(p, fmt::format("{:.2g}", p))});
  }
  table.notes.push_back(
      is_one ? std::string("DeLong's paired test on the same inputs: two-sided p that both AUROCs are equal. It knows "
                           "the chance of which inputs there are, not of training.")
             : fmt::format("Mean over {} seeds, the interval by Student's t over them; the p of DeLong's paired test "
                           "is that of the seed where it is largest.",
                           found.size()));
  return table;
}

}  // namespace

std::vector<Table> uncertainty_tables(const std::vector<ImageResult>& seeds) {
  std::vector<Table> tables;
  for (size_t m = 0; m < seeds.front().models.size(); ++m)
    if (!seeds.front().models[m].uncertainties.empty()) tables.push_back(parts_table(seeds, m));
  return tables;
}

std::vector<Table> comparison_tables(const std::vector<ImageResult>& seeds) {
  std::vector<Table> tables;
  for (size_t c = 0; c < seeds.front().comparisons.size(); ++c) tables.push_back(pair_table(seeds, c));
  return tables;
}

}  // namespace priornet
