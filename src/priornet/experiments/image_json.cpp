#include <fmt/format.h>
#include <priornet/experiments/image_tables.h>
#include <priornet/report/stored_table.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

Json plan_json(const ImageExperiment& experiment) {
  Json json = {{"in_distribution", experiment.inside},
               {"out_of_distribution", Json::array()},
               {"models", Json::array()},
               {"remarks", experiment.remarks}};
  for (const auto& set : experiment.outside)
    json["out_of_distribution"].push_back({{"title", set.title}, {"set", set.set}});
  for (const auto& model : experiment.models)
    json["models"].push_back({{"model", model.name},
                              {"run", model.run},
                              {"dropout_samples", model.dropout_samples},
                              {"config", to_toml(model.config)}});
  return json;
}

/// Errors, and what the differential entropy detects where the paper has that cell.
Json headlines_json(const std::vector<ImageResult>& seeds) {
  const bool with_sigma = seeds.front().experiment.is_noise_table;
  auto json = Json::array();
  for (const auto& cell : result_cells(seeds)) {
    const auto model = with_sigma ? fmt::format("{}, σ = {:g}", cell.model, cell.sigma) : cell.model;
    const bool is_error = cell.metric == CellMetric::kError;
    const bool is_detection = cell.metric == CellMetric::kAuroc && !cell.outside.empty() && cell.published &&
                              kPaperMeasures[cell.measure] == "differential_entropy";
    if (!is_error && !is_detection) continue;
    json.push_back({{"text", fmt::format("{:.2f}{}", cell.ours.value, is_error ? " %" : "")},
                    {"label", is_error ? fmt::format("error of the {}", model)
                                       : fmt::format("AUROC, {}’s differential entropy, {}", model, cell.outside)}});
    if (cell.published) json.back()["published"] = fmt::format("{:.1f}", *cell.published);
  }
  return json;
}

/// What tells each set apart before any network; the same for every model and seed.
Json trivial_json(const ImageResult& result) {
  auto json = Json::array();
  for (size_t s = 0; s < result.outside.size(); ++s) {
    const auto& trivial = result.models.front().report.evaluation.outside[s].trivial;
    json.push_back({{"set", result.outside[s].title}, {"statistic", trivial.name}, {"auroc", trivial.auroc}});
  }
  return json;
}

Json seed_json(const ImageResult& seed) {
  Json json = {{"seed", seed.experiment.seed}, {"models", Json::array()}, {"missing", Json::array()}};
  for (const auto& model : seed.models)
    json["models"].push_back({{"model", model.plan.name},
                              {"sigma", model.plan.config.noise},
                              {"evaluation", Json::parse(to_json(model.report))}});
  for (const auto& missing : seed.missing)
    json["missing"].push_back({{"title", missing.plan.title}, {"reason", missing.reason}});
  return json;
}

Json training_times(const std::vector<ImageResult>& seeds) {
  auto json = Json::array();
  for (const auto& seed : seeds)
    for (const auto& model : seed.models)
      json.push_back({{"run", model.report.run}, {"seconds", model.training_seconds}});
  return json;
}

}  // namespace

std::string to_json(const std::vector<ImageResult>& seeds, const RunRecord& record) {
  const auto& experiment = seeds.front().experiment;
  Json json = {{"experiment", experiment.name},    {"title", experiment.title},
               {"lead", experiment.lead},          {"headlines", headlines_json(seeds)},
               {"tables", Json::array()},          {"trivial", trivial_json(seeds.front())},
               {"options", plan_json(experiment)}, {"seeds", Json::array()}};
  for (const auto& table : image_tables(seeds)) json["tables"].push_back(Json::parse(store_table(table)));
  for (const auto& seed : seeds) json["seeds"].push_back(seed_json(seed));
  json["cells"] = Json::parse(to_json(cell_table(seeds)))["rows"];
  json["run"] = Json::parse(to_json(record));
  json["run"]["training"] = training_times(seeds);
  return json.dump(2) + "\n";
}

}  // namespace priornet
