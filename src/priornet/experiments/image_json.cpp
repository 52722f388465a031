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

Json uncertainty_json(const ImageResult& seed, const ModelResult& model) {
  auto json = Json::array();
  for (size_t s = 0; s < model.uncertainties.size(); ++s) {
    Json row = {{"title", s == 0 ? seed.experiment.inside_title : seed.outside[s - 1].title}};
    for (size_t part = 0; part < kUncertaintyParts.size(); ++part) {
      const auto& auroc = model.uncertainties[s].auroc[part];
      Json entry = {{"mean", model.uncertainties[s].mean[part]}};
      if (s > 0) entry["auroc"] = {{"value", auroc.value}, {"low", auroc.low}, {"high", auroc.high}};
      row[std::string(kUncertaintyParts[part])] = entry;
    }
    json.push_back(row);
  }
  return json;
}

/// Of what is detected only where the paper has that cell.
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
    const auto distance = difference(pair);
    json["sets"].push_back({{"title", seed.outside[s].title},
                            {"auroc", pair.first},
                            {"auroc_against", pair.second},
                            {"difference", {{"value", distance.value}, {"low", distance.low}, {"high", distance.high}}},
                            {"p_value", pair.p_value}});
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
  for (const auto& model : seed.models) {
    json["models"].push_back({{"model", model.plan.name},
                              {"sigma", model.plan.config.noise},
                              {"evaluation", Json::parse(to_json(model.report))}});
    if (!model.uncertainties.empty()) json["models"].back()["uncertainties"] = uncertainty_json(seed, model);
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
                      {"evaluation_seconds", model.evaluation_seconds}});
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
  Json json = {{"experiment", experiment.name},    {"title", experiment.title},
               {"lead", experiment.lead},          {"headlines", headlines_json(seeds)},
               {"tables", Json::array()},          {"trivial", trivial_json(seeds.front())},
               {"options", plan_json(experiment)}, {"seeds", Json::array()}};
  for (const auto& table : image_tables(seeds)) json["tables"].push_back(Json::parse(store_table(table)));
  for (const auto& seed : seeds) json["seeds"].push_back(seed_json(seed));
  json["cells"] = Json::parse(to_json(cell_table(seeds)))["rows"];
  json["run"] = Json::parse(to_json(record));
  json["run"]["preparation_seconds"] = preparation_time(seeds);
  json["run"]["training"] = training_times(seeds);
  return json.dump(2) + "\n";
}

}  // namespace priornet
