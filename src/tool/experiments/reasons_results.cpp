#include <fmt/format.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "learning/base/json_text.h"
#include "tool/experiments/image_results.h"
#include "tool/experiments/reasons.h"

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

std::string label_of(std::string_view measure) { return std::string(find_measure_by_name(measure)->label); }

/// Over the seeds that have it; nothing if none has it.
std::optional<Estimate> over(const std::vector<Estimate>& seeds) {
  return seeds.empty() ? std::nullopt : std::optional(over_seeds(seeds));
}

Estimate certain(double value) { return {value, value, value}; }

/// The numbers of one model in all seeds that have it.
std::vector<const ReasonsOfModel*> of_model(const std::vector<ReasonsResult>& seeds, const std::string& model) {
  std::vector<const ReasonsOfModel*> found;
  for (const auto& seed : seeds)
    for (const auto& of_seed : seed.models)
      if (of_seed.model == model) found.push_back(&of_seed);
  return found;
}

std::optional<Estimate> correlation_of(const std::vector<ReasonsResult>& seeds, const std::string& model,
                                       std::string_view measure) {
  std::vector<Estimate> estimates;
  for (const auto* of_seed : of_model(seeds, model))
    for (const auto& correlation : of_seed->people)
      if (correlation.measure == measure) estimates.push_back(correlation.spearman);
  return over(estimates);
}

Estimate error_of(const std::vector<ReasonsResult>& seeds, const std::string& model) {
  std::vector<Estimate> errors;
  for (const auto* of_seed : of_model(seeds, model)) errors.push_back(certain(of_seed->error));
  return over_seeds(errors);
}

Estimate share_of(const std::vector<ReasonsResult>& seeds, const std::string& model, size_t group, size_t verdict) {
  std::vector<Estimate> shares;
  for (const auto* of_seed : of_model(seeds, model))
    shares.push_back(certain(of_seed->verdicts.at(group).shares[verdict]));
  return over_seeds(shares);
}

template <class Pick>
Estimate amount_over(const std::vector<ReasonsResult>& seeds, size_t amount, Pick&& pick) {
  std::vector<Estimate> estimates;
  for (const auto& seed : seeds) estimates.push_back(pick(seed.amounts.at(amount)));
  return over_seeds(estimates);
}

Estimate data_of(const AmountResult& amount) { return amount.data; }
Estimate knowledge_of(const AmountResult& amount) { return amount.knowledge; }
Estimate amount_error(const AmountResult& amount) { return certain(amount.error); }

Cell number_cell(const Estimate& estimate, double scale, int decimals) {
  const double margin = scale * (estimate.high - estimate.low) / 2;
  const auto value = fmt::format("{:.{}f}", scale * estimate.value, decimals);
  return Cell::number(scale * estimate.value,
                      margin > 0 ? fmt::format("{} ± {:.{}f}", value, margin, decimals) : value);
}

std::string interval_note(const std::vector<ReasonsResult>& seeds, const char* of_one) {
  if (seeds.size() == 1) return fmt::format("± half a 95 % interval: {}.", of_one);
  return fmt::format(
      "± half a 95 % interval: by Student's t, for the mean over {} seeds; for a model that only the first seed has, "
      "{}.",
      seeds.size(), of_one);
}

Table people_table(const std::vector<ReasonsResult>& seeds) {
  Table table{"Data uncertainty against people: rank correlation with the entropy of their labels", {"model"}, {}, {}};
  for (const auto measure : kReasonMeasures) table.columns.push_back(label_of(measure));
  table.columns.emplace_back("error, %");
  for (const auto& model : seeds.front().models) {
    std::vector<Cell> row{model.model};
    for (const auto measure : kReasonMeasures) {
      const auto found = correlation_of(seeds, model.model, measure);
      row.push_back(found ? number_cell(*found, 1, 3) : Cell("-"));
    }
    row.push_back(number_cell(error_of(seeds, model.model), 100, 2));
    table.add(std::move(row));
  }
  table.notes = {
      "Spearman's correlation over CIFAR-10's test images; people: CIFAR-10H, 47 to 63 labels per image "
      "(Peterson et al., 2019).",
      interval_note(seeds, "by bootstrap over the images"),
      "Expected entropy is a model's data uncertainty; for a single softmax it is the entropy. Mutual information is "
      "distributional uncertainty for a DPN, model uncertainty for an ensemble of DNNs, and both together for an "
      "ensemble of DPNs: it need not agree with people."};
  return table;
}

Table verdict_table(const std::vector<ReasonsResult>& seeds) {
  Table table{"Which cause verdicts name, at 5 % false alarms: share of images, in %",
              {"model", "images", "number", "sure", "ambiguous", "unfamiliar", "undecided"},
              {},
              {}};
  for (const auto& model : seeds.front().models)
    for (size_t g = 0; g < model.verdicts.size(); ++g) {
      std::vector<Cell> row{model.model, model.verdicts[g].group,
                            Cell::number(static_cast<double>(model.verdicts[g].images), 0)};
      for (size_t v = 0; v < kVerdictNames.size(); ++v)
        row.push_back(number_cell(share_of(seeds, model.model, g, v), 100, 1));
      table.add(std::move(row));
    }
  table.notes = {
      "Test images by the entropy of people's labels: 0, between, above ln 2 (as if people were torn between at least "
      "two labels). The last rows of a model are sets of other things.",
      "Thresholds are set as `priornet calibrate` does, and no image is judged by thresholds that it helped to set: "
      "there are five folds, and each is judged by thresholds from the other four. Sure: the prediction is accepted.",
      "A softmax alone cannot tell ambiguous from unfamiliar: its energy is watched for the second. Undecided, the "
      "disagreement of members, is watched for ensembles only."};
  for (const auto& missing : seeds.front().missing)
    table.notes.push_back(fmt::format("{} is missing: {}", missing.plan.title, missing.remedy));
  return table;
}

Table amount_table(const std::vector<ReasonsResult>& seeds) {
  Table table{"Uncertainty on CIFAR-10's test images and the amount of training data",
              {"model", "images", "error, %", "expected entropy, nats", "M.I., nats", "M.I. of the total, %"},
              {},
              {}};
  // A model's sizes stand together.
  std::vector<size_t> order(seeds.front().amounts.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return seeds.front().amounts[a].amount.model < seeds.front().amounts[b].amount.model;
  });
  for (const auto i : order) {
    const auto& amount = seeds.front().amounts[i].amount;
    const auto data = amount_over(seeds, i, data_of), knowledge = amount_over(seeds, i, knowledge_of);
    table.add({amount.model, Cell::number(static_cast<double>(amount.images), 0),
               number_cell(amount_over(seeds, i, amount_error), 100, 2), number_cell(data, 1, 4),
               number_cell(knowledge, 1, 4), Cell::number(100 * knowledge.value / (knowledge.value + data.value), 1)});
  }
  table.notes = {
      "Mean over the test images. Expected entropy is data uncertainty, which more data should not change; mutual "
      "information is what more data should reduce: distributional uncertainty for the DPN, model uncertainty for the "
      "ensemble.",
      interval_note(seeds, "over the images, not over trainings"),
      "Every network takes the same number of steps with the same schedule: the images are repeated until an epoch is "
      "as long as that of the largest set. With the same number of epochs, smaller sets would mean shorter training, "
      "and undertrained networks are uncertain for another reason. The out-of-distribution images for the DPN are the "
      "same in every row."};
  return table;
}

Json estimate_json(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

Json drawn_json(const ReasonsMeans& means) {
  Json people = Json::array(), verdicts = Json::array(), amounts = Json::array();
  for (const auto& row : means.people) {
    people.push_back(estimate_json(row.spearman));
    people.back().update({{"model", row.model}, {"measure", row.measure}, {"label", row.label}});
  }
  for (const auto& row : means.verdicts) {
    verdicts.push_back({{"model", row.model}, {"group", row.shares.group}, {"images", row.shares.images}});
    for (size_t v = 0; v < kVerdictNames.size(); ++v)
      verdicts.back()[std::string(kVerdictNames[v])] = row.shares.shares[v];
  }
  for (const auto& row : means.amounts)
    amounts.push_back({{"model", row.amount.model},
                       {"images", row.amount.images},
                       {"error", row.error},
                       {"data", estimate_json(row.data)},
                       {"knowledge", estimate_json(row.knowledge)}});
  return {{"people", people}, {"verdicts", verdicts}, {"amounts", amounts}};
}

Json seed_json(const ReasonsResult& seed) {
  Json json = {{"seed", seed.seed}, {"models", Json::array()}, {"amounts", Json::array()}};
  for (const auto& model : seed.models) {
    Json row = {{"model", model.model}, {"run", model.run}, {"error", model.error}, {"people", Json::object()}};
    for (const auto& correlation : model.people)
      row["people"][correlation.measure] = estimate_json(correlation.spearman);
    for (const auto& group : model.verdicts) {
      Json shares = {{"group", group.group}, {"images", group.images}};
      for (size_t v = 0; v < kVerdictNames.size(); ++v) shares[std::string(kVerdictNames[v])] = group.shares[v];
      row["verdicts"].push_back(shares);
    }
    json["models"].push_back(row);
  }
  for (const auto& amount : seed.amounts)
    json["amounts"].push_back({{"model", amount.amount.model},
                               {"images", amount.amount.images},
                               {"error", amount.error},
                               {"expected_entropy", estimate_json(amount.data)},
                               {"mutual_information", estimate_json(amount.knowledge)}});
  return json;
}

Json plan_json(const ReasonsPlan& plan) {
  Json json = {{"in_distribution", plan.models.inside}, {"people", plan.people}, {"models", Json::array()}};
  for (const auto* experiment : {&plan.models, &plan.amounts})
    for (const auto& model : experiment->models)
      json["models"].push_back({{"model", model.name},
                                {"run", model.run},
                                {"dropout_samples", model.dropout_samples},
                                {"config", to_toml(model.config)}});
  return json;
}

Json headlines_json(const std::vector<ReasonsResult>& seeds) {
  auto json = Json::array();
  for (const auto& model : seeds.front().models) {
    const auto found = correlation_of(seeds, model.model, "expected_entropy");
    if (found)
      json.push_back(
          {{"text", fmt::format("{:.2f}", found->value)},
           {"label", fmt::format("rank correlation of the {}’s expected entropy with people", model.model)}});
  }
  return json;
}

}  // namespace

ReasonsMeans means_over_seeds(const std::vector<ReasonsResult>& seeds) {
  ReasonsMeans means;
  for (const auto& model : seeds.front().models) {
    for (const auto measure : kReasonMeasures)
      if (const auto found = correlation_of(seeds, model.model, measure))
        means.people.push_back({model.model, std::string(measure), label_of(measure), *found});
    for (size_t g = 0; g < model.verdicts.size(); ++g) {
      auto shares = model.verdicts[g];
      for (size_t v = 0; v < kVerdictNames.size(); ++v) shares.shares[v] = share_of(seeds, model.model, g, v).value;
      means.verdicts.push_back({model.model, shares});
    }
  }
  for (size_t i = 0; i < seeds.front().amounts.size(); ++i)
    means.amounts.push_back({seeds.front().amounts[i].amount, amount_over(seeds, i, amount_error).value,
                             amount_over(seeds, i, data_of), amount_over(seeds, i, knowledge_of)});
  return means;
}

std::vector<Table> reasons_tables(const std::vector<ReasonsResult>& seeds) {
  return {people_table(seeds), verdict_table(seeds), amount_table(seeds)};
}

std::string to_json(const std::vector<ReasonsResult>& seeds, const RunRecord& record) {
  Json json = {
      {"experiment", "reasons"},
      {"title", "Is the reason right?"},
      {"lead",
       "A prediction may be uncertain because the image is ambiguous, because it is unfamiliar, or because the "
       "model is undecided. Three tests of whether priornet's networks name the right reason: against people, "
       "against images whose reason is known, and against the amount of training data."},
      {"headlines", headlines_json(seeds)},
      {"tables", Json::array()},
      {"reasons", drawn_json(means_over_seeds(seeds))},
      {"options", plan_json(seeds.front().plan)},
      {"seeds", Json::array()}};
  for (const auto& table : reasons_tables(seeds)) json["tables"].push_back(parse_json(store_table(table)));
  for (const auto& seed : seeds) json["seeds"].push_back(seed_json(seed));
  json["run"] = parse_json(to_json(record));
  return json_text(json) + "\n";
}

}  // namespace priornet
