#include "prediction_rows.h"

#include <fmt/format.h>
#include <priornet/data/arrays/csv.h>
#include <priornet/deploy/calibrate.h>
#include <priornet/runs/scoring.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace priornet::tool {
namespace {

using Json = nlohmann::ordered_json;

const char* title_of(Verdict cause) {
  return cause == Verdict::kAmbiguous ? "data" : cause == Verdict::kUnfamiliar ? "distributional" : "model";
}

std::string place_of(const Input& input) {
  return input.row < 0 ? input.name : fmt::format("{}:{}", input.name, input.row);
}

std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json start_of(const Input& input) {
  Json json = {{"input", input.name}};
  if (input.row >= 0) json["row"] = input.row;
  return json;
}

}  // namespace

PredictionRows::PredictionRows(const ModelFile& model, std::string format) : model_(model), format_(std::move(format)) {
  const bool several = model.asks_several();
  const auto logits = several ? torch::zeros({2, 1, 2}) : torch::zeros({1, 2});
  for (const auto& column : scores_of_logits(logits, model.run.gives_dirichlet(), 0).columns)
    measures_.push_back(column.name);
  for (const auto& [cause, measure] : watched_measures(model.run.gives_dirichlet(), several))
    shown_.push_back({title_of(cause),
                      static_cast<size_t>(std::find(measures_.begin(), measures_.end(), measure) - measures_.begin())});
}

std::string PredictionRows::header() const {
  if (format_ == "jsonl") return "";
  if (format_ == "csv") {
    std::string text = "input,row,prediction,probability";
    for (const auto& measure : measures_) text += "," + measure;
    return text + (model_.points ? ",p_value,verdict,error\n" : ",error\n");
  }
  auto text = fmt::format("{:<32}  {:<16}  {:>11}", "input", "prediction", "probability");
  for (const auto& [title, measure] : shown_) text += fmt::format("  {:>14}", title);
  return text + (model_.points ? fmt::format("  {:>8}  verdict\n", "p-value") : "\n");
}

std::string PredictionRows::row(const Input& input, const Answers& answers, int64_t at) const {
  if (format_ == "jsonl") {
    auto json = start_of(input);
    json.update(answer_json({model_.run.class_names, measures_}, answers, at));
    return line(json);
  }
  const auto i = static_cast<size_t>(at);
  const auto& name = model_.run.class_names.at(static_cast<size_t>(answers.prediction[i]));
  const auto probability = answers.probability[i];
  const auto* decision = answers.decisions.empty() ? nullptr : &answers.decisions[i];
  const auto verdict = decision == nullptr ? "" : verdict_name(decision->verdict);
  if (format_ == "csv") {
    auto text = fmt::format("{},{},{},{}", csv_field(input.name), input.row < 0 ? "" : std::to_string(input.row),
                            csv_field(name), probability);
    for (const auto& values : answers.scores) text += fmt::format(",{}", values[i]);
    return text + (decision == nullptr ? ",\n" : fmt::format(",{},{},\n", decision->p_value, verdict));
  }
  auto text = fmt::format("{:<32}  {:<16}  {:>11.4f}", place_of(input), name, probability);
  for (const auto& [title, measure] : shown_) text += fmt::format("  {:>14.4g}", answers.scores.at(measure)[i]);
  return text + (decision == nullptr ? "\n" : fmt::format("  {:>8.4f}  {}\n", decision->p_value, verdict));
}

std::string PredictionRows::error(const Input& input) const {
  if (format_ == "jsonl") {
    auto json = start_of(input);
    json["error"] = input.error;
    return line(json);
  }
  if (format_ == "csv")
    return fmt::format("{},{},{}{}\n", csv_field(input.name), input.row < 0 ? "" : std::to_string(input.row),
                       std::string(measures_.size() + (model_.points ? 4 : 2), ','), csv_field(input.error));
  return fmt::format("{:<32}  error: {}\n", place_of(input), input.error);
}

}  // namespace priornet::tool
