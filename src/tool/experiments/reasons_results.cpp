#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "tool/experiments/image_results.h"
#include "tool/experiments/reasons.h"
#include "tool/experiments/stored_images.h"

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

/// Over the seeds that have it; nothing if none has it.
std::optional<Estimate> over(const std::vector<Estimate>& seeds) {
  return seeds.empty() ? std::nullopt : std::optional(over_seeds(seeds));
}

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

Estimate share_of(const std::vector<ReasonsResult>& seeds, const std::string& model, const std::string& group,
                  size_t verdict) {
  std::vector<Estimate> shares;
  for (const auto* of_seed : of_model(seeds, model))
    for (const auto& verdicts : of_seed->verdicts)
      if (verdicts.group == group) shares.push_back(certain(verdicts.shares[verdict]));
  return over_seeds(shares);
}

/// One per model that some seed has, in the order of the plan: its numbers of the first seed that has it.
std::vector<const ReasonsOfModel*> models_of(const std::vector<ReasonsResult>& seeds) {
  std::vector<const ReasonsOfModel*> models;
  for (const auto& plan : seeds.front().plan.models.models)
    if (const auto found = of_model(seeds, plan.name); !found.empty()) models.push_back(found.front());
  return models;
}

std::vector<const AmountResult*> of_amount(const std::vector<ReasonsResult>& seeds, const PlannedAmount& amount) {
  std::vector<const AmountResult*> found;
  for (const auto& seed : seeds)
    for (const auto& row : seed.amounts)
      if (row.amount.model == amount.model && row.amount.images == amount.images) found.push_back(&row);
  return found;
}

/// Those that some seed has, in the order of the plan.
std::vector<PlannedAmount> amounts_of(const std::vector<ReasonsResult>& seeds) {
  std::vector<PlannedAmount> amounts;
  for (const auto& planned : seeds.front().plan.amounts_of)
    if (!of_amount(seeds, planned).empty()) amounts.push_back(planned);
  return amounts;
}

template <class Pick>
Estimate amount_over(const std::vector<ReasonsResult>& seeds, const PlannedAmount& amount, Pick&& pick) {
  std::vector<Estimate> estimates;
  for (const auto* row : of_amount(seeds, amount)) estimates.push_back(pick(*row));
  return over_seeds(estimates);
}

Estimate data_of(const AmountResult& amount) { return amount.data; }
Estimate knowledge_of(const AmountResult& amount) { return amount.knowledge; }
Estimate amount_error(const AmountResult& amount) { return certain(amount.error); }

Cell number_cell(const Estimate& estimate, double scale, int decimals) {
  const double margin = scale * estimate.margin();
  const auto value = fmt::format("{:.{}f}", scale * estimate.value, decimals);
  return Cell::number(scale * estimate.value,
                      margin > 0 ? fmt::format("{} ± {:.{}f}", value, margin, decimals) : value);
}

std::vector<ModelOrigin> origins_of_models(const std::vector<ReasonsResult>& seeds) {
  std::vector<ModelOrigin> origins;
  for (const auto* model : models_of(seeds))
    origins.push_back({model->model, of_model(seeds, model->model).size(), model->kept});
  return origins;
}

/// The name of a network on part of the data, as its plan has it.
std::string name_of(const PlannedAmount& amount) { return fmt::format("{}, {} images", amount.model, amount.images); }

std::vector<ModelOrigin> origins_of_amounts(const std::vector<ReasonsResult>& seeds) {
  std::vector<ModelOrigin> origins;
  for (const auto& amount : amounts_of(seeds)) {
    const auto rows = of_amount(seeds, amount);
    origins.push_back({name_of(amount), rows.size(), rows.front()->kept});
  }
  return origins;
}

std::string interval_note(const std::vector<ModelOrigin>& origins, const char* of_one) {
  const auto seeds = seeds_text(origins);
  if (seeds == "1 seed") return fmt::format("± half a 95 % interval: {}.", of_one);
  return fmt::format(
      "± half a 95 % interval: by Student's t, for the mean over {}; for a model that only the first seed has, {}.",
      seeds, of_one);
}

void add_origins(Table& table, const std::vector<ModelOrigin>& origins) {
  if (auto note = origins_note(origins); !note.empty()) table.notes.push_back(std::move(note));
}

Table people_table(const std::vector<ReasonsResult>& seeds) {
  Table table{"Data uncertainty against people: rank correlation with the entropy of their labels", {"model"}, {}, {}};
  for (const auto measure : kReasonMeasures) table.columns.push_back(label_of(measure));
  table.columns.emplace_back("error, %");
  for (const auto* model : models_of(seeds)) {
    std::vector<Cell> row{model->model};
    for (const auto measure : kReasonMeasures) {
      const auto found = correlation_of(seeds, model->model, measure);
      row.push_back(found ? number_cell(*found, 1, 3) : Cell("-"));
    }
    row.push_back(number_cell(error_of(seeds, model->model), 100, 2));
    table.add(std::move(row));
  }
  table.notes = {
      "Spearman's correlation over CIFAR-10's test images; people: CIFAR-10H, 47 to 63 labels per image "
      "(Peterson et al., 2019).",
      interval_note(origins_of_models(seeds), "by bootstrap over the images"),
      "Expected entropy is a model's data uncertainty; for a single softmax it is the entropy. Mutual information is "
      "distributional uncertainty for a DPN, model uncertainty for an ensemble of DNNs, and both together for an "
      "ensemble of DPNs: it need not agree with people."};
  add_origins(table, origins_of_models(seeds));
  return table;
}

Table verdict_table(const std::vector<ReasonsResult>& seeds) {
  Table table{"Which cause verdicts name, at 5 % false alarms: share of images, in %",
              {"model", "images", "number", "sure", "ambiguous", "unfamiliar", "undecided"},
              {},
              {}};
  for (const auto* model : models_of(seeds))
    for (const auto& verdicts : model->verdicts) {
      std::vector<Cell> row{model->model, verdicts.group, Cell::number(static_cast<double>(verdicts.images), 0)};
      for (size_t v = 0; v < kVerdictNames.size(); ++v)
        row.push_back(number_cell(share_of(seeds, model->model, verdicts.group, v), 100, 1));
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
  add_origins(table, origins_of_models(seeds));
  return table;
}

Table amount_table(const std::vector<ReasonsResult>& seeds) {
  Table table{"Uncertainty on CIFAR-10's test images and the amount of training data",
              {"model", "images", "error, %", "expected entropy, nats", "M.I., nats", "M.I. of the total, %"},
              {},
              {}};
  // A model's sizes stand together.
  auto amounts = amounts_of(seeds);
  std::stable_sort(amounts.begin(), amounts.end(),
                   [](const PlannedAmount& a, const PlannedAmount& b) { return a.model < b.model; });
  for (const auto& amount : amounts) {
    const auto data = amount_over(seeds, amount, data_of), knowledge = amount_over(seeds, amount, knowledge_of);
    table.add({amount.model, Cell::number(static_cast<double>(amount.images), 0),
               number_cell(amount_over(seeds, amount, amount_error), 100, 2), number_cell(data, 1, 4),
               number_cell(knowledge, 1, 4), Cell::number(100 * knowledge.value / (knowledge.value + data.value), 1)});
  }
  table.notes = {
      "Mean over the test images. Expected entropy is data uncertainty, which more data should not change; mutual "
      "information is what more data should reduce: distributional uncertainty for the DPN, model uncertainty for the "
      "ensemble.",
      interval_note(origins_of_amounts(seeds), "over the images, not over trainings"),
      "Every network takes the same number of steps with the same schedule: the images are repeated until an epoch is "
      "as long as that of the largest set. With the same number of epochs, smaller sets would mean shorter training, "
      "and undertrained networks are uncertain for another reason. The out-of-distribution images for the DPN are the "
      "same in every row."};
  add_origins(table, origins_of_amounts(seeds));
  return table;
}

Json shares_json(const VerdictShares& shares) {
  Json json = {{"group", shares.group}, {"images", shares.images}};
  for (size_t v = 0; v < kVerdictNames.size(); ++v) json[std::string(kVerdictNames[v])] = shares.shares[v];
  return json;
}

VerdictShares shares_of(const Json& json) {
  VerdictShares shares{json.at("group"), json.at("images"), {}};
  for (size_t v = 0; v < kVerdictNames.size(); ++v) shares.shares[v] = json.at(std::string(kVerdictNames[v]));
  return shares;
}

Json drawn_json(const ReasonsMeans& means) {
  Json people = Json::array(), verdicts = Json::array(), amounts = Json::array();
  for (const auto& row : means.people) {
    people.push_back(estimate_json(row.spearman));
    people.back().update({{"model", row.model}, {"measure", row.measure}, {"label", row.label}});
  }
  for (const auto& row : means.verdicts) {
    verdicts.push_back({{"model", row.model}});
    verdicts.back().update(shares_json(row.shares));
  }
  for (const auto& row : means.amounts)
    amounts.push_back({{"model", row.amount.model},
                       {"images", row.amount.images},
                       {"error", row.error},
                       {"data", estimate_json(row.data)},
                       {"knowledge", estimate_json(row.knowledge)}});
  return {{"people", people}, {"verdicts", verdicts}, {"amounts", amounts}};
}

using Runs = std::vector<std::shared_ptr<const RunRecord>>;

void add_kept(Json& row, const Runs& runs, const std::shared_ptr<const RunRecord>& kept) {
  if (kept) row["kept"] = place_of(runs, *kept);
}

Json seed_json(const ReasonsResult& seed, const Runs& runs) {
  Json json = {{"seed", seed.seed}, {"models", Json::array()}, {"amounts", Json::array()}, {"missing", Json::array()}};
  for (const auto& model : seed.models) {
    Json row = {{"model", model.model}, {"run", model.run}, {"error", model.error}, {"people", Json::object()}};
    for (const auto& correlation : model.people)
      row["people"][correlation.measure] = estimate_json(correlation.spearman);
    for (const auto& group : model.verdicts) row["verdicts"].push_back(shares_json(group));
    add_kept(row, runs, model.kept);
    json["models"].push_back(row);
  }
  for (const auto& amount : seed.amounts) {
    json["amounts"].push_back({{"model", amount.amount.model},
                               {"images", amount.amount.images},
                               {"error", amount.error},
                               {"expected_entropy", estimate_json(amount.data)},
                               {"mutual_information", estimate_json(amount.knowledge)}});
    add_kept(json["amounts"].back(), runs, amount.kept);
  }
  for (const auto& missing : seed.missing)
    json["missing"].push_back({{"title", missing.plan.title}, {"remedy", missing.remedy}});
  return json;
}

/// The models that there are results of.
Json plan_json(const std::vector<ReasonsResult>& seeds) {
  const auto& plan = seeds.front().plan;
  Json json = {{"in_distribution", plan.models.inside}, {"people", plan.people}, {"models", Json::array()}};
  const auto add = [&](const PlannedModel& model, const std::string& recorded) {
    json["models"].push_back({{"model", model.name},
                              {"run", model.run},
                              {"dropout_samples", model.dropout_samples},
                              {"config", recorded.empty() ? to_toml(model.config) : recorded}});
  };
  for (const auto& model : plan.models.models)
    if (const auto rows = of_model(seeds, model.name); !rows.empty()) add(model, rows.front()->recorded_config);
  for (size_t i = 0; i < plan.amounts_of.size(); ++i)
    if (const auto rows = of_amount(seeds, plan.amounts_of[i]); !rows.empty())
      add(plan.amounts.models[i], rows.front()->recorded_config);
  return json;
}

Json headlines_json(const std::vector<ReasonsResult>& seeds) {
  auto json = Json::array();
  for (const auto* model : models_of(seeds)) {
    const auto found = correlation_of(seeds, model->model, "expected_entropy");
    if (found)
      json.push_back(
          {{"text", fmt::format("{:.2f}", found->value)},
           {"label", fmt::format("rank correlation of the {}’s expected entropy with people", model->model)}});
  }
  return json;
}

}  // namespace

ReasonsMeans means_over_seeds(const std::vector<ReasonsResult>& seeds) {
  ReasonsMeans means;
  for (const auto* model : models_of(seeds)) {
    for (const auto measure : kReasonMeasures)
      if (const auto found = correlation_of(seeds, model->model, measure))
        means.people.push_back({model->model, std::string(measure), label_of(measure), *found});
    for (auto shares : model->verdicts) {
      for (size_t v = 0; v < kVerdictNames.size(); ++v)
        shares.shares[v] = share_of(seeds, model->model, shares.group, v).value;
      means.verdicts.push_back({model->model, shares});
    }
  }
  for (const auto& amount : amounts_of(seeds))
    means.amounts.push_back({amount, amount_over(seeds, amount, amount_error).value,
                             amount_over(seeds, amount, data_of), amount_over(seeds, amount, knowledge_of)});
  return means;
}

std::optional<ReasonsMeans> stored_means(std::string_view json) {
  const auto results = parse_json(json);
  if (!results.contains("reasons")) return std::nullopt;
  try {
    const auto& drawn = results.at("reasons");
    ReasonsMeans means;
    for (const auto& row : drawn.at("people"))
      means.people.push_back({row.at("model"), row.at("measure"), row.at("label"), estimate_of(row)});
    for (const auto& row : drawn.at("verdicts")) means.verdicts.push_back({row.at("model"), shares_of(row)});
    for (const auto& row : drawn.at("amounts"))
      means.amounts.push_back({{row.at("model"), row.at("images")},
                               row.at("error"),
                               estimate_of(row.at("data")),
                               estimate_of(row.at("knowledge"))});
    return means;
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("results of reasons: should be as priornet reproduce writes them: {}", error.what()));
  }
}

std::vector<Table> reasons_tables(const std::vector<ReasonsResult>& seeds) {
  std::vector<Table> tables = {people_table(seeds), verdict_table(seeds), amount_table(seeds)};
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  return tables;
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
      {"options", plan_json(seeds)},
      {"seeds", Json::array()}};
  for (const auto& table : reasons_tables(seeds)) json["tables"].push_back(parse_json(store_table(table)));
  auto origins = origins_of_models(seeds);
  for (auto& origin : origins_of_amounts(seeds)) origins.push_back(std::move(origin));
  const auto runs = kept_runs(origins);
  for (const auto& seed : seeds) json["seeds"].push_back(seed_json(seed, runs));
  json["run"] = parse_json(to_json(record));
  if (!runs.empty()) json["run"]["kept"] = parse_json(kept_json(origins));
  return json_text(json) + "\n";
}

namespace {

class ReasonsReader {
 public:
  ReasonsReader(const std::filesystem::path& folder, const ReasonsPlanOfSeed& plan, uint64_t first_seed)
      : file_(folder / "results.json"), plan_(plan), first_(plan(first_seed)) {}

  StoredReasons read() {
    try {
      json_ = parse_json(InputFile(file_).read_rest());
      refuse_other_results(file_, "the experiment", json_.at("experiment"), "reasons");
      refuse_other_results(file_, "the in-distribution set", json_.at("options").at("in_distribution"),
                           first_.models.inside);
      refuse_other_results(file_, "the first seed", json_text(json_.at("seeds").at(0).at("seed")),
                           fmt::format("{}", first_.models.seed));
      runs_ = parse_stored_runs(json_text(json_.at("run")));
      stored_.record = runs_.record;
      for (const auto& seed : json_.at("seeds")) add(seed);
    } catch (const Json::exception& error) {
      throw DataError(fmt::format("{}: should be what priornet reproduce writes, to keep its rows: {}", file_.string(),
                                  error.what()));
    }
    return std::move(stored_);
  }

 private:
  void add(const Json& seed) {
    ReasonsResult result;
    result.seed = seed.at("seed");
    result.plan = plan_(result.seed);
    for (const auto& row : seed.at("models")) {
      const auto config = agreed_config(result.plan.models, row.at("model"));
      if (!config) continue;
      ReasonsOfModel model{row.at("model"), row.at("run"), row.at("error"), {}, {}, origin(row), *config};
      for (const auto& [measure, spearman] : row.at("people").items())
        model.people.push_back({measure, estimate_of(spearman)});
      for (const auto& group : row.at("verdicts")) model.verdicts.push_back(shares_of(group));
      result.models.push_back(std::move(model));
    }
    for (const auto& row : seed.at("amounts")) {
      const PlannedAmount amount{row.at("model"), row.at("images")};
      if (const auto config = agreed_config(result.plan.amounts, name_of(amount)))
        result.amounts.push_back({amount, row.at("error"), estimate_of(row.at("expected_entropy")),
                                  estimate_of(row.at("mutual_information")), origin(row), *config});
    }
    for (const auto& missing : seed.value("missing", Json::array()))
      for (const auto& set : result.plan.models.outside)
        if (missing.at("title") == set.title) result.missing.push_back({set, missing.at("remedy")});
    stored_.seeds.push_back(std::move(result));
  }

  std::shared_ptr<const RunRecord> origin(const Json& row) const {
    return row.contains("kept") ? runs_.kept.at(static_cast<size_t>(whole_number_of(row.at("kept")))) : nullptr;
  }

  /// The recorded configuration of a model if it is that of the plan; else a remark.
  std::optional<std::string> agreed_config(const ImageExperiment& experiment, const std::string& name) {
    const auto refuse = [&](const std::string& why) {
      leave_out(stored_.remarks, name, runs_.record, why);
      return std::nullopt;
    };
    const auto plan = std::find_if(experiment.models.begin(), experiment.models.end(),
                                   [&](const PlannedModel& model) { return model.name == name; });
    if (plan == experiment.models.end()) return refuse("the experiment has no such model today");
    for (const auto& model : json_.at("options").at("models")) {
      if (model.at("model") != name) continue;
      const std::string recorded = model.at("config");
      const auto changed = recorded_difference(recorded, to_toml(plan->config));
      if (!changed.empty()) return refuse(changed);
      return recorded;
    }
    return std::string();
  }

  std::filesystem::path file_;
  const ReasonsPlanOfSeed& plan_;
  ReasonsPlan first_;
  Json json_;
  StoredRuns runs_;
  StoredReasons stored_;
};

}  // namespace

StoredReasons read_reasons(const std::filesystem::path& folder, const ReasonsPlanOfSeed& plan, uint64_t first_seed) {
  return ReasonsReader(folder, plan, first_seed).read();
}

std::vector<ReasonsResult> with_kept_rows(std::vector<ReasonsResult> results, StoredReasons stored) {
  const auto first = results.front().plan.models;  // which names amounts too
  const auto own = std::make_shared<const RunRecord>(stored.record);
  for (auto& before : stored.seeds) {
    std::erase_if(before.models, [&](const ReasonsOfModel& row) { return is_chosen(first, row.model); });
    std::erase_if(before.amounts, [&](const AmountResult& row) { return is_chosen(first, name_of(row.amount)); });
    for (auto& row : before.models)
      if (!row.kept) row.kept = own;
    for (auto& row : before.amounts)
      if (!row.kept) row.kept = own;
    if (before.models.empty() && before.amounts.empty()) continue;
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const ReasonsResult& result) { return result.seed == before.seed; });
    if (found == results.end()) {
      results.push_back(std::move(before));
      continue;
    }
    if (found->models.empty()) found->missing = before.missing;
    std::move(before.models.begin(), before.models.end(), std::back_inserter(found->models));
    std::move(before.amounts.begin(), before.amounts.end(), std::back_inserter(found->amounts));
  }
  std::sort(results.begin(), results.end(),
            [](const ReasonsResult& a, const ReasonsResult& b) { return a.seed < b.seed; });
  for (auto& result : results) {
    const auto place_of_model = [&](const std::string& name) {
      size_t place = 0;
      while (place < result.plan.models.models.size() && result.plan.models.models[place].name != name) ++place;
      return place;
    };
    const auto place_of_amount = [&](const PlannedAmount& amount) {
      size_t place = 0;
      while (place < result.plan.amounts_of.size() && name_of(result.plan.amounts_of[place]) != name_of(amount))
        ++place;
      return place;
    };
    std::stable_sort(result.models.begin(), result.models.end(), [&](const ReasonsOfModel& a, const ReasonsOfModel& b) {
      return place_of_model(a.model) < place_of_model(b.model);
    });
    std::stable_sort(result.amounts.begin(), result.amounts.end(), [&](const AmountResult& a, const AmountResult& b) {
      return place_of_amount(a.amount) < place_of_amount(b.amount);
    });
  }
  return results;
}

}  // namespace priornet
