#include "tool/experiments/image_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "tool/experiments/image_results.h"
#include "tool/experiments/published.h"
#include "tool/experiments/published_cells.h"
#include "tool/experiments/stored_images.h"

namespace priornet {
namespace {

std::string half_interval(const Estimate& estimate, double scale) {
  return fmt::format("{:.2f} ± {:.2f}", scale * estimate.value, scale * estimate.margin());
}

/// The paper's name of a measure if it has one.
std::string shown_name(const std::string& measure) {
  for (size_t m = 0; m < kPaperMeasures.size(); ++m)
    if (kPaperMeasures[m] == measure) return std::string(kPaperMeasureNames[m]);
  return measure;
}

Table parts_table(const ImageResult& first, const ModelOfSeeds& model) {
  const auto& results = model.seeds;
  Table table{fmt::format("{}: data, distributional and model uncertainty", model.plan.name), {"set"}, {}, {}};
  for (const auto part : kUncertaintyParts) table.columns.push_back(fmt::format("{}, nats", part));
  for (const auto part : kUncertaintyParts) table.columns.push_back(fmt::format("{}, AUROC in %", part));
  for (size_t set = 0; set <= first.outside.size(); ++set) {
    std::vector<Cell> row{set == 0 ? first.experiment.inside_title : first.outside[set - 1].title};
    if (set > 0 && !results.front()->has_set(set - 1)) {
      row.resize(table.columns.size(), Cell("-"));
      table.add(std::move(row));
      continue;
    }
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
      "Mean over the inputs of a set. The three columns add up to the entropy of the ensemble's mean: expected "
      "entropy, E I[y, mu | theta], I[y, theta] (docs/math.md, section 4).");
  return table;
}

/// "One network against one", "Five networks against five".
std::string sides_of(const std::vector<ModelOfSeeds>& models, const PlannedComparison& plan) {
  constexpr std::array<const char*, 11> kNumbers = {"",    "one",   "two",   "three", "four", "five",
                                                    "six", "seven", "eight", "nine",  "ten"};
  const auto number = [&](const std::string& name) {
    for (const auto& model : models)
      if (model.plan.name == name) {
        const auto members = static_cast<size_t>(model.plan.config.members);
        return members < kNumbers.size() ? std::string(kNumbers[members]) : fmt::format("{}", members);
      }
    throw ArgumentError(fmt::format("comparison_tables: no model {}", name));
  };
  auto of_model = number(plan.model);
  of_model[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(of_model[0])));
  return fmt::format("{} {} against {}", of_model, of_model == "One" ? "network" : "networks", number(plan.against));
}

/// The comparison in every seed that has it.
std::vector<const ModelComparison*> comparisons_of(const std::vector<ImageResult>& seeds,
                                                   const PlannedComparison& plan) {
  std::vector<const ModelComparison*> found;
  for (const auto& seed : seeds)
    for (const auto& comparison : seed.comparisons)
      if (comparison.plan.model == plan.model && comparison.plan.against == plan.against) found.push_back(&comparison);
  return found;
}

/// Two models, by means over their seeds and, where the scores of both were at hand, by paired tests.
class ComparedModels {
 public:
  ComparedModels(const std::vector<ImageResult>& seeds, const PlannedComparison& plan)
      : sets_(seeds.front().outside),
        plan_(plan),
        models_(models_of_seeds(seeds)),
        pairs_(comparisons_of(seeds, plan)) {
    first_ = results_of(plan.model);
    second_ = results_of(plan.against);
  }

  bool has_both() const { return !first_.empty() && !second_.empty(); }

  Table table() const {
    const auto title = [](const std::string& model, const std::string& measure) {
      return fmt::format("{} by {}", model, shown_name(measure));
    };
    const auto name = title(plan_.model, plan_.measure), against = title(plan_.against, plan_.against_measure);
    Table table{fmt::format("{}: {} against {}, AUROC in %", sides_of(models_, plan_), name, against),
                {"out of distribution", name, against, "difference", "95 % interval", "p"},
                {},
                {}};
    if (has_several() && !pairs_.empty()) {
      table.columns.emplace_back("largest p by DeLong");
      table.columns.emplace_back("difference of each seed");
    }
    for (size_t set = 0; set < sets_.size(); ++set) add_set(table, set);
    add_notes(table);
    return table;
  }

 private:
  std::vector<const ModelResult*> results_of(const std::string& name) const {
    for (const auto& model : models_)
      if (model.plan.name == name) return model.seeds;
    return {};
  }

  bool has_several() const { return first_.size() > 1 && second_.size() > 1; }

  static std::vector<Estimate> aurocs(const std::vector<const ModelResult*>& results, size_t set,
                                      const std::string& measure) {
    std::vector<Estimate> estimates;
    for (const auto* result : results)
      if (const auto* row = find_measure(result->report.evaluation.outside[set].detection, measure))
        estimates.push_back(row->detection.auroc);
    return estimates;
  }

  static std::vector<double> values_of(const std::vector<Estimate>& estimates) {
    std::vector<double> values;
    for (const auto& estimate : estimates) values.push_back(estimate.value);
    return values;
  }

  /// The standard error of the mean of aurocs().
  static double error_of(const std::vector<const ModelResult*>& results, size_t set, const std::string& measure) {
    const auto estimates = aurocs(results, set, measure);
    double own = kUntestable;
    for (const auto* result : results)
      if (const auto* row = find_measure(result->report.evaluation.outside[set].detection, measure))
        own = row->detection.auroc_error;
    return error_over_seeds(estimates, own);
  }

  /// From the standard errors of both, as if their inputs were not the same.
  static WelchTest unpaired(double distance, double first_error, double second_error) {
    const double error = std::hypot(first_error, second_error);
    if (!(error > 0)) {
      if (distance == 0) return {{0.0, 0.0, 0.0}, 0.0, 1.0};
      return {{distance, kUntestable, kUntestable}, 0.0, kUntestable};
    }
    return {normal_estimate(distance, error), 0.0, std::erfc(std::abs(distance) / error / std::sqrt(2.0))};
  }

  void add_set(Table& table, size_t set) const {
    const auto of_first = aurocs(first_, set, plan_.measure), of_second = aurocs(second_, set, plan_.against_measure);
    if (of_first.empty() || of_second.empty()) return;  // a kept row lacks it
    const auto a = over_seeds(of_first), b = over_seeds(of_second);
    WelchTest test;
    if (of_first.size() > 1 && of_second.size() > 1)
      test = welch_test(values_of(of_first), values_of(of_second));
    else if (!pairs_.empty())
      test = {difference(pairs_.front()->sets[set]), 0.0, pairs_.front()->sets[set].p_value};
    else
      test = unpaired(a.value - b.value, error_of(first_, set, plan_.measure),
                      error_of(second_, set, plan_.against_measure));
    const auto signed_number = [](double share) { return fmt::format("{:+.2f}", 100 * share); };
    const auto small = [](double p) { return Cell::number(p, std::isnan(p) ? "-" : fmt::format("{:.2g}", p)); };
    std::vector<Cell> row{sets_[set].title,
                          Cell::number(100 * a.value, 2),
                          Cell::number(100 * b.value, 2),
                          Cell::number(100 * test.difference.value, signed_number(test.difference.value)),
                          std::isnan(test.difference.low) ? "-"
                                                          : fmt::format("{} to {}", signed_number(test.difference.low),
                                                                        signed_number(test.difference.high)),
                          small(test.p_value)};
    if (row.size() < table.columns.size()) {
      double largest = kUntestable;
      std::string each;
      for (const auto* pair : pairs_) {
        largest = std::fmax(largest, pair->sets[set].p_value);  // of those that can be tested
        each += fmt::format("{}{}", each.empty() ? "" : ", ", signed_number(difference(pair->sets[set]).value));
      }
      row.push_back(small(largest));
      row.emplace_back(each);
    }
    table.add(std::move(row));
  }

  void add_notes(Table& table) const {
    if (has_several()) {
      table.notes.push_back(fmt::format(
          "Means over {} and {} seeds; interval and p by Welch's t over the seeds: two-sided p that both means are "
          "equal.",
          first_.size(), second_.size()));
      table.notes.emplace_back(
          pairs_.empty() ? "No paired test: the rows of the two models were made by different runs, without the scores "
                           "of the other."
                         : "DeLong: the paired test on the same inputs, for the seed where its p is largest. It "
                           "accounts for the random choice of test inputs, not for the randomness of training.");
    } else if (!pairs_.empty()) {
      table.notes.emplace_back(
          "DeLong's paired test on the same inputs: two-sided p that both AUROCs are equal. It accounts for the random "
          "choice of test inputs, not for the randomness of training.");
    } else {
      table.notes.emplace_back(
          "No paired test: the rows of the two models were made by different runs, without the scores of the other. "
          "Interval and p are from the standard errors of both, as if their inputs were not the same, so they are "
          "wider and larger than those of a paired test.");
    }
  }

  static constexpr double kUntestable = std::numeric_limits<double>::quiet_NaN();
  const std::vector<PlannedSet>& sets_;
  const PlannedComparison& plan_;
  std::vector<ModelOfSeeds> models_;
  std::vector<const ModelComparison*> pairs_;
  std::vector<const ModelResult*> first_, second_;
};

}  // namespace

std::vector<Table> uncertainty_tables(const std::vector<ImageResult>& seeds) {
  std::vector<Table> tables;
  for (const auto& model : models_of_seeds(seeds))
    if (!model.seeds.front()->uncertainties.empty()) tables.push_back(parts_table(seeds.front(), model));
  return tables;
}

std::vector<Table> comparison_tables(const std::vector<ImageResult>& seeds) {
  std::vector<Table> tables;
  for (const auto& plan : seeds.front().experiment.comparisons)
    if (const ComparedModels models(seeds, plan); models.has_both()) tables.push_back(models.table());
  return tables;
}

namespace {

std::string beside(const std::string& ours, const std::optional<double>& published) {
  return published ? fmt::format("{} ({:.1f})", ours, *published) : ours;
}

std::string with_published(const ResultCell& cell) {
  return beside(fmt::format("{:.2f}", cell.ours.value), cell.published);
}

/// Two decimals tell numbers apart that one decimal would round to 100.0.
std::string ours_and_published(const ResultCell& cell) {
  return beside(fmt::format("{:.2f} ± {:.2f}", cell.ours.value, cell.ours.margin()), cell.published);
}

Cell number_cell(const ResultCell& cell, const std::string& text) {
  return Cell::number(
      cell.ours.value, text,
      {cell.ours.low, cell.ours.high, cell.published, cell.metric == CellMetric::kError, cell.counted_apart});
}

class Tables {
 public:
  explicit Tables(const std::vector<ImageResult>& seeds)
      : seeds_(seeds),
        experiment_(seeds.front().experiment),
        models_(models_of_seeds(seeds)),
        cells_(result_cells(seeds)) {}

  Table errors() const {
    Table table{fmt::format("Error on {}, in %", experiment_.inside_title), model_columns(), {}, {}};
    for (const auto* column : {"error", "95 % interval", "published"}) table.columns.emplace_back(column);
    for (const auto& model : models_) {
      auto row = model_cells(model);
      if (const auto* cell = find("", model, CellMetric::kError, 0)) {
        row.push_back(number_cell(*cell, fmt::format("{:.2f}", cell->ours.value)));
        row.push_back(fmt::format("{:.2f} to {:.2f}", cell->ours.low, cell->ours.high));
        row.push_back(cell->published ? Cell::number(*cell->published, 1) : Cell("-"));
      }
      table.add(std::move(row));
    }
    table.notes.push_back(interval_note());
    add_origins(table);
    return table;
  }

  Table misclassification() const {
    Table table{fmt::format("Misclassification detection on {}, in %", experiment_.inside_title),
                model_columns("metric"),
                {},
                {}};
    add_measures(table.columns);
    table.columns.emplace_back("error");
    for (const auto metric : {CellMetric::kAuroc, CellMetric::kAupr}) {
      for (const auto& model : models_) {
        auto row = model_cells(model, name_of(metric));
        add_cells(row, "", model, metric);
        const auto* error = find("", model, CellMetric::kError, 0);
        row.push_back(error == nullptr ? Cell("-") : Cell::number(error->ours.value, with_published(*error)));
        table.add(std::move(row));
      }
    }
    table.notes.push_back(reading_note());
    add_origins(table);
    table.notes.emplace_back(
        "Positives: misclassified inputs. AUPR falls as a classifier gets better, because there are fewer positives: "
        "compare it only at a similar error. It cannot tell what a run with a smaller error would reach at the paper's "
        "error.");
    return table;
  }

  Table detection(CellMetric metric) const {
    Table table{
        fmt::format("Out-of-distribution detection against {}: {}, in %", experiment_.inside_title, name_of(metric)),
        model_columns("out of distribution"),
        {},
        {}};
    add_measures(table.columns);
    table.columns.emplace_back(metric == CellMetric::kAuroc ? "trivial" : "inputs");
    for (const auto& plan : experiment_.outside) add_set(table, plan, metric);
    table.notes.push_back(reading_note());
    add_origins(table);
    if (metric == CellMetric::kAuroc)
      table.notes.emplace_back(
          "trivial: what one number per image (mean brightness, edges, ...) reaches without any network; `priornet "
          "data compare` names the number.");
    else
      table.notes.push_back(aupr_note());
    for (const auto& missing : seeds_.front().missing)
      table.notes.push_back(fmt::format("{} is missing: {}", missing.plan.title, missing.remedy));
    for (const auto& remark : experiment_.remarks) table.notes.push_back(remark);
    return table;
  }

  Table each_cell() const {
    Table table{"Every cell, in %",
                {"out of distribution", "model", "sigma", "metric", "measure", "ours", "low", "high", "published",
                 "difference"},
                {},
                {}};
    for (const auto& cell : cells_) {
      const auto number = [](double value) { return Cell::number(value, 2); };
      table.add({cell.outside.empty() ? Cell("misclassification") : Cell(cell.outside), cell.model,
                 Cell::number(cell.sigma, fmt::format("{:g}", cell.sigma)), name_of(cell.metric),
                 cell.metric == CellMetric::kError ? Cell("") : Cell(std::string(kPaperMeasureNames[cell.measure])),
                 number(cell.ours.value), number(cell.ours.low), number(cell.ours.high),
                 cell.published ? Cell::number(*cell.published, 1) : Cell(""),
                 cell.published ? number(cell.ours.value - *cell.published) : Cell("")});
    }
    table.notes.push_back(interval_note());
    return table;
  }

 private:
  std::string aupr_note() const {
    std::string note =
        "AUPR: by trapezoids; out-of-distribution inputs are the positives, counted as if there were as many inputs of "
        "each kind. AUPR rises with the share of positives, and the paper took balanced sets.";
    for (const auto& plan : experiment_.outside)
      if (!plan.balanced)
        note += fmt::format(" {} was too small for that, in the paper too: its row counts the inputs as they are.",
                            plan.title);
    return note + " results.json has the values for the sets in full.";
  }

  /// The name of a row: `first`, if there is one, and the model; in an experiment on noise with its sigma.
  std::vector<std::string> model_columns(const std::string& first = "") const {
    std::vector<std::string> columns;
    if (!first.empty()) columns.push_back(first);
    if (experiment_.is_noise_table) columns.emplace_back("sigma");
    columns.emplace_back("model");
    return columns;
  }

  std::vector<Cell> model_cells(const ModelOfSeeds& model, const std::string& first = "") const {
    std::vector<Cell> cells;
    if (!first.empty()) cells.emplace_back(first);
    if (experiment_.is_noise_table) cells.emplace_back(fmt::format("{:g}", model.plan.config.noise));
    cells.emplace_back(model.plan.name);
    return cells;
  }

  static void add_measures(std::vector<std::string>& columns) {
    for (const auto name : kPaperMeasureNames) columns.emplace_back(name);
  }

  const ResultCell* find(const std::string& outside, const ModelOfSeeds& model, CellMetric metric,
                         size_t measure) const {
    const auto& plan = model.plan;
    for (const auto& cell : cells_)
      if (cell.outside == outside && cell.model == plan.name && cell.sigma == plan.config.noise &&
          cell.metric == metric && cell.measure == measure)
        return &cell;
    return nullptr;
  }

  void add_cells(std::vector<Cell>& row, const std::string& outside, const ModelOfSeeds& model,
                 CellMetric metric) const {
    for (size_t measure = 0; measure < kPaperMeasures.size(); ++measure) {
      const auto* cell = find(outside, model, metric, measure);
      row.push_back(cell == nullptr ? Cell("-") : number_cell(*cell, ours_and_published(*cell)));
    }
  }

  void add_set(Table& table, const PlannedSet& plan, CellMetric metric) const {
    const auto& there = seeds_.front().outside;
    size_t s = 0;
    while (s < there.size() && there[s].title != plan.title) ++s;
    if (s == there.size()) {
      std::vector<Cell> row(table.columns.size(), Cell("-"));
      row[0] = plan.title;
      row[1] = "missing: see the note";
      table.add(std::move(row));
      return;
    }
    for (const auto& model : models_) {
      auto row = model_cells(model, plan.title);
      add_cells(row, plan.title, model, metric);
      const auto* set = any_evaluation(seeds_, s);
      row.push_back(set == nullptr                 ? Cell("-")
                    : metric == CellMetric::kAuroc ? Cell::number(100 * set->trivial.auroc, 1)
                                                   : Cell::number(static_cast<double>(set->size), 0));
      table.add(std::move(row));
    }
  }

  static constexpr const char* kIntervalsOfOne = "DeLong's for AUROC, bootstrap for AUPR, Wilson's for the error.";

  /// For models that only one seed has.
  std::string of_one_note() const {
    std::vector<std::string> names;
    for (const auto& model : models_)
      if (model.seeds.size() == 1) names.push_back(model.plan.name);
    return names.empty() ? ""
                         : fmt::format(" There is one {}; {} intervals: {}", fmt::join(names, ", one "),
                                       names.size() == 1 ? "its" : "their", kIntervalsOfOne);
  }

  std::string interval_note() const {
    const auto numbers = seeds_text(origins_of(seeds_));
    return numbers == "1 seed"
               ? fmt::format("95 % intervals: {}", kIntervalsOfOne)
               : fmt::format("Mean over {} with its 95 % interval by Student's t.{}", numbers, of_one_note());
  }

  std::string reading_note() const {
    const auto numbers = seeds_text(origins_of(seeds_));
    return fmt::format("± half a 95 % interval: {} In brackets: the paper's cell.",
                       numbers == "1 seed"
                           ? kIntervalsOfOne
                           : fmt::format("by Student's t, for the mean over {}.{}", numbers, of_one_note()));
  }

  void add_origins(Table& table) const {
    if (auto note = origins_note(origins_of(seeds_)); !note.empty()) table.notes.push_back(std::move(note));
  }

  const std::vector<ImageResult>& seeds_;
  const ImageExperiment& experiment_;
  std::vector<ModelOfSeeds> models_;
  std::vector<ResultCell> cells_;
};

}  // namespace

std::vector<Table> image_tables(const std::vector<ImageResult>& seeds) {
  if (seeds.front().experiment.tables) return seeds.front().experiment.tables(seeds);
  const Tables tables(seeds);
  const bool is_noise = seeds.front().experiment.is_noise_table;
  std::vector<Table> all = {tables.errors()};
  if (!is_noise) all.push_back(tables.misclassification());
  all.push_back(tables.detection(CellMetric::kAuroc));
  if (!is_noise) all.push_back(tables.detection(CellMetric::kAupr));
  for (const auto& further : {comparison_tables(seeds), uncertainty_tables(seeds)})
    all.insert(all.end(), further.begin(), further.end());
  const auto cells = result_cells(seeds);
  for (auto& standing : {published_count(cells), published_misses(cells, is_noise)})
    if (!standing.rows.empty()) all.push_back(standing);
  return all;
}

Table cell_table(const std::vector<ImageResult>& seeds) { return Tables(seeds).each_cell(); }

}  // namespace priornet
