#include "tool/experiments/image_results.h"

#include <fmt/format.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "learning/base/json_text.h"
#include "tool/experiments/image_tables.h"
#include "tool/experiments/stored_images.h"
#include "tool/report/model_report.h"
#include "tool/report/table.h"
#include "uncertainty/core/checks.h"

namespace priornet {

namespace {

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method; converges fast for
/// x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kPrecise = 1e-16;
  constexpr int kMost = 10'000;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0, d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < kMost; ++m) {
    const double n = m;
    const double even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n));
    const double odd = -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1));
    double step = 1.0;
    for (const double term : {even, odd}) {
      d = 1.0 / not_zero(1.0 + term * d);
      c = not_zero(1.0 + term / c);
      step = c * d;
      fraction *= step;
    }
    if (std::abs(step - 1.0) < kPrecise) break;
  }
  return fraction;
}

/// The regularised incomplete beta function I_x(a, b), y = 1 - x.
double incomplete_beta(double x, double y, double a, double b) {
  if (x <= 0.0) return 0.0;
  if (y <= 0.0) return 1.0;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * (x < 0.5 ? std::log(x) : std::log1p(-y)) + b * std::log(y));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a : 1.0 - front * beta_fraction(y, b, a) / b;
}

}  // namespace

double student_two_sided(double t, double degrees) {
  check_range("student_two_sided", "degrees", degrees >= 1, "at least 1", degrees);
  const double square = t * t;
  return incomplete_beta(degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5);
}

double student_t(double degrees) {
  check_range("student_t", "degrees", degrees >= 1, "at least 1", degrees);
  double low = 1.9, high = 12.8;  // the normal distribution has 1.96, one degree of freedom 12.71
  while (high - low > 1e-10 * low) {
    const double middle = (low + high) / 2;
    (student_two_sided(middle, degrees) > 0.05 ? low : high) = middle;
  }
  return (low + high) / 2;
}

namespace {

struct MeanOfValues {
  double mean = 0.0;
  double variance = 0.0;  ///< of the mean
  double degrees = 0.0;
};

MeanOfValues mean_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  MeanOfValues result;
  result.degrees = count - 1;
  // From the first one on, so that equal values have no variance.
  for (const double value : values) result.mean += (value - values[0]) / count;
  result.mean += values[0];
  for (const double value : values) result.variance += std::pow(value - result.mean, 2) / (count - 1) / count;
  return result;
}

}  // namespace

WelchTest welch_test(const std::vector<double>& first, const std::vector<double>& second) {
  const auto fewest = std::min(first.size(), second.size());
  check_range("welch_test", "values", fewest >= 2, "at least 2", static_cast<double>(fewest));
  const auto a = mean_of(first), b = mean_of(second);
  const double distance = a.mean - b.mean, variance = a.variance + b.variance;
  if (variance == 0.0) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    if (distance == 0.0) return {{0.0, 0.0, 0.0}, 0.0, 1.0};
    return {{distance, kUnknown, kUnknown}, 0.0, kUnknown};
  }
  WelchTest test;
  // At least the smaller of both degrees; rounding must not take it below 1.
  test.degrees =
      std::max(1.0, variance * variance / (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees));
  const double error = std::sqrt(variance), margin = student_t(test.degrees) * error;
  test.difference = {distance, distance - margin, distance + margin};
  test.p_value = student_two_sided(distance / error, test.degrees);
  return test;
}

namespace {

MeanOfValues mean_of_values(const std::vector<Estimate>& seeds) {
  std::vector<double> values;
  for (const auto& seed : seeds) values.push_back(seed.value);
  return mean_of(values);
}

}  // namespace

double error_over_seeds(const std::vector<Estimate>& seeds, double error_of_one) {
  return seeds.size() == 1 ? error_of_one : std::sqrt(mean_of_values(seeds).variance);
}

Estimate certain(double value) { return {value, value, value}; }

std::string label_of(std::string_view measure) { return std::string(find_measure_by_name(measure)->label); }

Estimate over_seeds(const std::vector<Estimate>& seeds) {
  check_range("over_seeds", "seeds", !seeds.empty(), "at least 1", 0.0);
  if (seeds.size() == 1) return seeds.front();
  const auto mean = mean_of_values(seeds);
  const double margin = student_t(mean.degrees) * std::sqrt(mean.variance);
  return {mean.mean, mean.mean - margin, mean.mean + margin};
}

const OutsideEvaluation* any_evaluation(const std::vector<ImageResult>& seeds, size_t set) {
  for (const auto& seed : seeds)
    for (const auto& model : seed.models)
      if (model.has_set(set)) return &model.report.evaluation.outside[set];
  return nullptr;
}

const char* name_of(CellMetric metric) {
  return metric == CellMetric::kError ? "error" : metric == CellMetric::kAuroc ? "AUROC" : "AUPR";
}

namespace {

Estimate in_percent(const Estimate& share) { return {100 * share.value, 100 * share.low, 100 * share.high}; }

class Cells {
 public:
  explicit Cells(const std::vector<ImageResult>& seeds) : seeds_(seeds), models_(models_of_seeds(seeds)) {}

  std::vector<ResultCell> all() {
    for (const auto& model : models_) {
      add_error(model);
      add_detection(
          model, nullptr,
          [](const ModelResult& result) -> const auto& { return result.report.evaluation.inside.misclassification; });
    }
    const auto& sets = seeds_.front().outside;
    for (size_t s = 0; s < sets.size(); ++s)
      for (const auto& model : models_)
        add_detection(
            model, &sets[s], [&](const ModelResult& result) -> const auto& {
              return result.report.evaluation.outside[s].detection;
            });
    return std::move(cells_);
  }

 private:
  static ResultCell blank(const ModelOfSeeds& model, const PlannedSet* set) {
    ResultCell cell;
    cell.outside = set == nullptr ? "" : set->title;
    cell.model = model.plan.name;
    cell.sigma = model.plan.config.noise;
    return cell;
  }

  const PublishedRow* published(const ModelOfSeeds& model, const PlannedSet* set) const {
    const auto& experiment = seeds_.front().experiment;
    if (set != nullptr && set->published.empty()) return nullptr;
    return find_published(experiment.published, {set == nullptr ? "" : std::string_view(set->published),
                                                 model.plan.name, model.plan.config.noise, experiment.is_noise_table});
  }

  void add(ResultCell cell, const std::vector<Estimate>& seeds, double published) {
    cell.ours = in_percent(over_seeds(seeds));
    if (!std::isnan(published)) cell.published = published;
    cell.counted_apart = cell.published && seeds_.front().experiment.paper_gives_entropy_as_information &&
                         cell.model == "DPN" && cell.metric != CellMetric::kError &&
                         kPaperMeasures[cell.measure] == "mutual_information";
    cells_.push_back(std::move(cell));
  }

  void add_error(const ModelOfSeeds& model) {
    auto cell = blank(model, nullptr);
    cell.metric = CellMetric::kError;
    std::vector<Estimate> errors;
    for (const auto* result : model.seeds)
      errors.push_back(share_of(result->report.evaluation.inside.errors, result->report.evaluation.inside.size));
    const auto* row = published(model, nullptr);
    add(cell, errors, row == nullptr ? kNoCell : row->error);
  }

  template <class RowsOf>
  void add_detection(const ModelOfSeeds& model, const PlannedSet* set, RowsOf&& rows_of) {
    const auto* row = published(model, set);
    for (const auto metric : {CellMetric::kAuroc, CellMetric::kAupr}) {
      for (size_t measure = 0; measure < kPaperMeasures.size(); ++measure) {
        std::vector<Estimate> estimates;
        for (const auto* result : model.seeds) {
          const auto* found = find_measure(rows_of(*result), kPaperMeasures[measure]);
          if (found == nullptr) continue;
          const auto& detection = found->detection;
          // The number of errors depends on the network.
          const auto& estimate = metric == CellMetric::kAuroc       ? detection.auroc
                                 : set == nullptr || !set->balanced ? detection.aupr
                                                                    : detection.aupr_balanced;
          if (!std::isnan(estimate.value)) estimates.push_back(estimate);  // older files lack some
        }
        // Not a cell of this model, a set that a kept row lacks, or a seed without a single error.
        if (estimates.size() < model.seeds.size()) continue;
        auto cell = blank(model, set);
        cell.metric = metric;
        cell.measure = measure;
        const auto& cells = row == nullptr ? kNoRow : metric == CellMetric::kAuroc ? row->auroc : row->aupr;
        add(cell, estimates, cells[measure]);
      }
    }
  }

  static constexpr std::array<double, 4> kNoRow = {kNoCell, kNoCell, kNoCell, kNoCell};
  const std::vector<ImageResult>& seeds_;
  std::vector<ModelOfSeeds> models_;
  std::vector<ResultCell> cells_;
};

}  // namespace

std::vector<ResultCell> result_cells(const std::vector<ImageResult>& seeds) { return Cells(seeds).all(); }

std::vector<ResultCell> headline_cells(const std::vector<ImageResult>& seeds) {
  auto cells = result_cells(seeds);
  std::erase_if(cells, [](const ResultCell& cell) {
    return cell.metric != CellMetric::kError && (cell.metric != CellMetric::kAuroc || cell.outside.empty() ||
                                                 kPaperMeasures[cell.measure] != "differential_entropy");
  });
  return cells;
}

namespace {

using Json = nlohmann::ordered_json;

std::string config_text(const ModelResult& model) {
  return model.recorded_config.empty() ? to_toml(model.plan.config) : model.recorded_config;
}

Json plan_json(const std::vector<ImageResult>& seeds) {
  const auto& experiment = seeds.front().experiment;
  Json json = {{"in_distribution", experiment.inside},
               {"out_of_distribution", Json::array()},
               {"models", Json::array()},
               {"remarks", experiment.remarks}};
  for (const auto& set : experiment.outside)
    json["out_of_distribution"].push_back({{"title", set.title}, {"set", set.set}});
  for (const auto& model : models_of_seeds(seeds))
    json["models"].push_back({{"model", model.plan.name},
                              {"run", model.plan.run},
                              {"dropout_samples", model.plan.dropout_samples},
                              {"config", config_text(*model.seeds.front())}});
  return json;
}

Json uncertainty_json(const ImageResult& seed, const ModelResult& model) {
  auto json = Json::array();
  for (size_t s = 0; s < model.uncertainties.size(); ++s) {
    if (s > 0 && !model.has_set(s - 1)) continue;
    Json row = {{"title", s == 0 ? seed.experiment.inside_title : seed.outside[s - 1].title}};
    for (size_t part = 0; part < kUncertaintyParts.size(); ++part) {
      const auto& auroc = model.uncertainties[s].auroc[part];
      Json entry = {{"mean", model.uncertainties[s].mean[part]}};
      if (s > 0) entry["auroc"] = estimate_json(auroc);
      row[std::string(kUncertaintyParts[part])] = entry;
    }
    json.push_back(row);
  }
  return json;
}

/// Detection cells only if the paper has them.
Json headlines_json(const std::vector<ImageResult>& seeds) {
  const bool with_sigma = seeds.front().experiment.is_noise_table;
  auto json = Json::array();
  for (const auto& cell : headline_cells(seeds)) {
    const auto model = with_sigma ? fmt::format("{}, σ = {:g}", cell.model, cell.sigma) : cell.model;
    const bool is_error = cell.metric == CellMetric::kError;
    if (!is_error && !cell.published) continue;
    json.push_back({{"text", fmt::format("{:.2f}{}", cell.ours.value, is_error ? " %" : "")},
                    {"label", is_error ? fmt::format("error of the {}", model)
                                       : fmt::format("AUROC, {}’s differential entropy, {}", model, cell.outside)}});
    if (cell.published) json.back()["published"] = fmt::format("{:.1f}", *cell.published);
  }
  return json;
}

Json comparison_json(const ImageResult& seed, const ModelComparison& comparison) {
  const auto& plan = comparison.plan;
  Json json = {{"model", plan.model},
               {"measure", plan.measure},
               {"against", plan.against},
               {"against_measure", plan.against_measure},
               {"sets", Json::array()}};
  for (size_t s = 0; s < comparison.sets.size(); ++s) {
    const auto& pair = comparison.sets[s];
    if (std::isnan(pair.first)) continue;
    const auto distance = difference(pair);
    json["sets"].push_back({{"title", seed.outside[s].title},
                            {"auroc", pair.first},
                            {"auroc_against", pair.second},
                            {"difference", estimate_json(distance)},
                            {"variance", pair.first_variance},
                            {"variance_against", pair.second_variance},
                            {"covariance", pair.covariance},
                            {"variance_of_difference", pair.difference_variance},
                            {"z", pair.z},
                            {"p_value", pair.p_value}});
  }
  return json;
}

/// What tells each set apart without any network; the same for every model and seed.
Json trivial_json(const std::vector<ImageResult>& seeds) {
  auto json = Json::array();
  const auto& sets = seeds.front().outside;
  for (size_t s = 0; s < sets.size(); ++s)
    if (const auto* found = any_evaluation(seeds, s))
      json.push_back({{"set", sets[s].title}, {"statistic", found->trivial.name}, {"auroc", found->trivial.auroc}});
  return json;
}

/// Only the sets that the model was evaluated on, with their titles.
Json evaluation_json(const ImageResult& seed, const ModelResult& model) {
  auto json = parse_json(to_json(model.report));
  auto sets = Json::array();
  for (size_t s = 0; s < seed.outside.size(); ++s) {
    if (!model.has_set(s)) continue;
    sets.push_back(json["out_of_distribution"][s]);
    sets.back()["title"] = seed.outside[s].title;
  }
  json["out_of_distribution"] = sets;
  return json;
}

Json seed_json(const ImageResult& seed, const std::vector<std::shared_ptr<const RunRecord>>& runs) {
  Json json = {{"seed", seed.experiment.seed}, {"models", Json::array()}, {"missing", Json::array()}};
  for (const auto& model : seed.models) {
    Json row = {
        {"model", model.plan.name}, {"sigma", model.plan.config.noise}, {"evaluation", evaluation_json(seed, model)}};
    if (!model.uncertainties.empty()) row["uncertainties"] = uncertainty_json(seed, model);
    for (const auto& validation : model.validation) row["validation"][validation.measure] = validation.auroc;
    if (model.kept) row["kept"] = place_of(runs, *model.kept);
    json["models"].push_back(row);
  }
  for (const auto& comparison : seed.comparisons) json["comparisons"].push_back(comparison_json(seed, comparison));
  for (const auto& missing : seed.missing)
    json["missing"].push_back({{"title", missing.plan.title}, {"remedy", missing.remedy}});
  return json;
}

Json training_times(const std::vector<ImageResult>& seeds) {
  auto json = Json::array();
  for (const auto& seed : seeds)
    for (const auto& model : seed.models)
      json.push_back({{"run", model.report.run},
                      {"model", model.plan.name},
                      {"seconds", model.training_seconds},
                      {"evaluation_seconds", model.evaluation_seconds},
                      {"restarts", model.restarts}});
  return json;
}

double preparation_time(const std::vector<ImageResult>& seeds) {
  double seconds = 0.0;
  for (const auto& seed : seeds) seconds += seed.preparation_seconds;
  return seconds;
}

}  // namespace

std::string to_json(const std::vector<ImageResult>& seeds, const RunRecord& record) {
  const auto& experiment = seeds.front().experiment;
  Json json = {{"experiment", experiment.name},      {"title", experiment.title}, {"lead", experiment.lead},
               {"headlines", headlines_json(seeds)}, {"tables", Json::array()},   {"trivial", trivial_json(seeds)},
               {"options", plan_json(seeds)},        {"seeds", Json::array()}};
  for (const auto& table : image_tables(seeds)) json["tables"].push_back(parse_json(store_table(table)));
  const auto origins = origins_of(seeds);
  for (const auto& seed : seeds) json["seeds"].push_back(seed_json(seed, kept_runs(origins)));
  json["cells"] = parse_json(to_json(cell_table(seeds)))["rows"];
  json["run"] = parse_json(to_json(record));
  json["run"]["preparation_seconds"] = preparation_time(seeds);
  json["run"]["training"] = training_times(seeds);
  if (!kept_runs(origins).empty()) json["run"]["kept"] = parse_json(kept_json(origins));
  return json_text(json) + "\n";
}

}  // namespace priornet
