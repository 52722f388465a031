#include "tool/experiments/image_tables.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tool/experiments/image_results.h"
#include "tool/experiments/published.h"
#include "tool/experiments/published_cells.h"

namespace priornet {
namespace {

std::string half_interval(const Estimate& estimate, double scale) {
  return fmt::format("{:.2f} ± {:.2f}", scale * estimate.value, scale * (estimate.high - estimate.low) / 2);
}

/// The paper's name of a measure if it has one.
std::string shown_name(const std::string& measure) {
  for (size_t m = 0; m < kPaperMeasures.size(); ++m)
    if (kPaperMeasures[m] == measure) return std::string(kPaperMeasureNames[m]);
  return measure;
}

Table parts_table(const std::vector<ImageResult>& seeds, size_t model) {
  const auto& first = seeds.front();
  const auto results = results_of_model(seeds, model);
  Table table{
      fmt::format("{}: data, distributional and model uncertainty", first.models[model].plan.name), {"set"}, {}, {}};
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
      "Mean over the inputs of a set. The three columns add up to the entropy of the ensemble's mean: expected "
      "entropy, E I[y, mu | theta], I[y, theta] (docs/math.md, section 4).");
  return table;
}

/// "One network against one", "Five networks against five".
std::string sides_of(const ImageResult& result, const PlannedComparison& plan) {
  constexpr std::array<const char*, 11> kNumbers = {"",    "one",   "two",   "three", "four", "five",
                                                    "six", "seven", "eight", "nine",  "ten"};
  const auto number = [&](const std::string& name) {
    for (const auto& model : result.models)
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
  Table table{fmt::format("{}: {} against {}, AUROC in %", sides_of(first, plan), name, against),
              {"out of distribution", name, against, "difference", "95 % interval", is_one ? "p" : "largest p"},
              {},
              {}};
  if (!is_one) table.columns.emplace_back("difference of each seed");
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
    std::vector<Cell> row{first.outside[set].title,
                          Cell::number(of_first, 2),
                          Cell::number(of_second, 2),
                          Cell::number(100 * estimate.value, fmt::format("{:+.2f}", 100 * estimate.value)),
                          fmt::format("{:+.2f} to {:+.2f}", 100 * estimate.low, 100 * estimate.high),
                          Cell::number(p, fmt::format("{:.2g}", p))};
    if (!is_one) {
      std::string each;
      for (const auto& of_seed : differences)
        each += fmt::format("{}{:+.2f}", each.empty() ? "" : ", ", 100 * of_seed.value);
      row.emplace_back(each);
    }
    table.add(std::move(row));
  }
  table.notes.push_back(
      is_one ? std::string("DeLong's paired test on the same inputs: two-sided p that both AUROCs are equal. It "
                           "accounts for the random choice of test inputs, not for the randomness of training.")
             : fmt::format("Mean over {} seeds; the interval is by Student's t over the seeds; p is that of DeLong's "
                           "paired test, for the seed where it is largest.",
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

namespace {

std::string beside(const std::string& ours, const std::optional<double>& published) {
  return published ? fmt::format("{} ({:.1f})", ours, *published) : ours;
}

std::string with_published(const ResultCell& cell) {
  return beside(fmt::format("{:.2f}", cell.ours.value), cell.published);
}

/// Two decimals tell numbers apart that one decimal would round to 100.0.
std::string ours_and_published(const ResultCell& cell) {
  return beside(fmt::format("{:.2f} ± {:.2f}", cell.ours.value, (cell.ours.high - cell.ours.low) / 2), cell.published);
}

Cell number_cell(const ResultCell& cell, const std::string& text) {
  return Cell::number(
      cell.ours.value, text,
      {cell.ours.low, cell.ours.high, cell.published, cell.metric == CellMetric::kError, cell.counted_apart});
}

class Tables {
 public:
  explicit Tables(const std::vector<ImageResult>& seeds)
      : seeds_(seeds), experiment_(seeds.front().experiment), cells_(result_cells(seeds)) {}

  Table errors() const {
    Table table{fmt::format("Error on {}, in %", experiment_.inside_title), model_columns(), {}, {}};
    for (const auto* column : {"error", "95 % interval", "published"}) table.columns.emplace_back(column);
    for (size_t m = 0; m < experiment_.models.size(); ++m) {
      auto row = model_cells(m);
      if (const auto* cell = find("", m, CellMetric::kError, 0)) {
        row.push_back(number_cell(*cell, fmt::format("{:.2f}", cell->ours.value)));
        row.push_back(fmt::format("{:.2f} to {:.2f}", cell->ours.low, cell->ours.high));
        row.push_back(cell->published ? Cell::number(*cell->published, 1) : Cell("-"));
      }
      table.add(std::move(row));
    }
    table.notes.push_back(interval_note());
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
      for (size_t m = 0; m < experiment_.models.size(); ++m) {
        auto row = model_cells(m, name_of(metric));
        add_cells(row, "", m, metric);
        const auto* error = find("", m, CellMetric::kError, 0);
        row.push_back(error == nullptr ? Cell("-") : Cell::number(error->ours.value, with_published(*error)));
        table.add(std::move(row));
      }
    }
    table.notes.push_back(reading_note());
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
    if (metric == CellMetric::kAuroc)
      table.notes.emplace_back(
          "trivial: what one number per image (mean brightness, edges, ...) reaches without any network; `priornet "
          "data compare` names the number.");
    else
      table.notes.emplace_back(
          "AUPR: by trapezoids; out-of-distribution inputs are the positives, counted as if there were as many inputs "
          "of each kind. AUPR rises with the share of positives, and the paper does not say how many inputs it used. "
          "results.json has the values for the sets in full.");
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
  /// The name of a row: `first`, if there is one, and the model; in an experiment on noise with its sigma.
  std::vector<std::string> model_columns(const std::string& first = "") const {
    std::vector<std::string> columns;
    if (!first.empty()) columns.push_back(first);
    if (experiment_.is_noise_table) columns.emplace_back("sigma");
    columns.emplace_back("model");
    return columns;
  }

  std::vector<Cell> model_cells(size_t model, const std::string& first = "") const {
    const auto& plan = experiment_.models[model];
    std::vector<Cell> cells;
    if (!first.empty()) cells.emplace_back(first);
    if (experiment_.is_noise_table) cells.emplace_back(fmt::format("{:g}", plan.config.noise));
    cells.emplace_back(plan.name);
    return cells;
  }

  static void add_measures(std::vector<std::string>& columns) {
    for (const auto name : kPaperMeasureNames) columns.emplace_back(name);
  }

  const ResultCell* find(const std::string& outside, size_t model, CellMetric metric, size_t measure) const {
    const auto& plan = experiment_.models[model];
    for (const auto& cell : cells_)
      if (cell.outside == outside && cell.model == plan.name && cell.sigma == plan.config.noise &&
          cell.metric == metric && cell.measure == measure)
        return &cell;
    return nullptr;
  }

  void add_cells(std::vector<Cell>& row, const std::string& outside, size_t model, CellMetric metric) const {
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
    for (size_t m = 0; m < experiment_.models.size(); ++m) {
      auto row = model_cells(m, plan.title);
      add_cells(row, plan.title, m, metric);
      const auto& set = seeds_.front().models[m].report.evaluation.outside[s];
      row.push_back(metric == CellMetric::kAuroc ? Cell::number(100 * set.trivial.auroc, 1)
                                                 : Cell::number(static_cast<double>(set.size), 0));
      table.add(std::move(row));
    }
  }

  static constexpr const char* kIntervalsOfOne = "DeLong's for AUROC, bootstrap for AUPR, Wilson's for the error.";

  /// For models that not every seed has.
  std::string of_one_note() const {
    std::string note;
    for (size_t m = 0; m < experiment_.models.size(); ++m)
      if (results_of_model(seeds_, m).size() < seeds_.size())
        note += fmt::format(" There is one {}; its intervals: {}", experiment_.models[m].name, kIntervalsOfOne);
    return note;
  }

  std::string interval_note() const {
    return seeds_.size() == 1 ? fmt::format("95 % intervals: {}", kIntervalsOfOne)
                              : fmt::format("Mean over {} seeds with its 95 % interval by Student's t.{}",
                                            seeds_.size(), of_one_note());
  }

  std::string reading_note() const {
    return fmt::format("± half a 95 % interval: {} In brackets: the paper's cell.",
                       seeds_.size() == 1 ? kIntervalsOfOne
                                          : fmt::format("by Student's t, for the mean over {} seeds.{}", seeds_.size(),
                                                        of_one_note()));
  }

  const std::vector<ImageResult>& seeds_;
  const ImageExperiment& experiment_;
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
