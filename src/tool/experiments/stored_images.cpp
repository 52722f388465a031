#include "tool/experiments/stored_images.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "tool/experiments/image_results.h"

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

double number(const Json& json, const char* key) { return json.contains(key) ? number_of(json.at(key)) : kAbsent; }

Estimate estimate(const Json& json, const char* key) {
  return json.contains(key) ? estimate_of(json.at(key)) : Estimate{kAbsent, kAbsent, kAbsent};
}

/// Where a file has no standard error of AUROC, its interval is AUROC +- 1.96 of them, cut at 0 and 1.
double error_of(const Estimate& auroc) {
  return std::max(auroc.value - auroc.low, auroc.high - auroc.value) / kNormal975;
}

std::vector<MeasureDetection> detection_of(const Json& json) {
  std::vector<MeasureDetection> rows;
  for (const auto& row : json) {
    MeasureDetection read{row.at("measure"), {}, number(row, "aupr_negatives")};
    auto& detection = read.detection;
    detection.positives = row.at("positives");
    detection.negatives = row.at("negatives");
    const auto inputs = static_cast<double>(detection.positives + detection.negatives);
    detection.prevalence = static_cast<double>(detection.positives) / inputs;
    detection.replicates = row.at("replicates");
    detection.auroc = estimate(row, "auroc");
    detection.auroc_error = row.contains("auroc_std_err") ? number(row, "auroc_std_err") : error_of(detection.auroc);
    detection.aupr = estimate(row, "aupr");
    detection.aupr_balanced = estimate(row, "aupr_balanced");
    // Version 0.1 did not write it; with as many inputs of each kind it is the same.
    if (!row.contains("aupr_balanced") && detection.positives == detection.negatives)
      detection.aupr_balanced = detection.aupr;
    detection.average_precision = estimate(row, "average_precision");
    detection.fpr95 = estimate(row, "fpr95");
    rows.push_back(std::move(read));
  }
  return rows;
}

InsideEvaluation inside_of(const Json& json) {
  InsideEvaluation inside;
  inside.name = json.at("set");
  inside.size = json.at("size");
  inside.errors = json.at("errors");
  inside.error = json.at("error");
  inside.negative_log_likelihood = number(json, "nll");
  inside.brier = number(json, "brier");
  inside.calibration_error = number(json, "ece");
  inside.adaptive_calibration_error = number(json, "adaptive_ece");
  inside.misclassification = detection_of(json.at("misclassification"));
  for (const auto& row : json.at("rejection"))
    inside.rejection.push_back({row.at("measure"), number(row, "aurc"), number(row, "e_aurc"), number(row, "prr")});
  return inside;
}

OutsideEvaluation outside_of(const Json& json) {
  return {json.at("set"),
          json.at("size"),
          detection_of(json.at("detection")),
          {json.at("trivial_statistic"), number(json, "trivial_auroc")}};
}

EvaluationReport report_of(const Json& json) {
  EvaluationReport report;
  report.run = json.at("run");
  report.method = json.at("method");
  report.members = json.at("members");
  report.checkpoint = json.at("checkpoint");
  report.weights = json.at("weights");
  auto& scoring = report.evaluation.scoring;
  scoring.dropout_samples = json.at("dropout_samples");
  scoring.noise = json.at("noise");
  scoring.seed = json.at("seed");
  report.evaluation.inside = inside_of(json.at("in_distribution"));
  return report;
}

UncertaintyParts absent_parts() {
  UncertaintyParts parts;
  parts.mean.fill(kAbsent);
  parts.auroc.fill({kAbsent, kAbsent, kAbsent});
  return parts;
}

PairedAuroc absent_pair() {
  PairedAuroc pair;
  pair.first = pair.second = kAbsent;
  return pair;
}

UncertaintyParts parts_of(const Json& json) {
  UncertaintyParts parts;
  for (size_t part = 0; part < kUncertaintyParts.size(); ++part) {
    const auto& entry = json.at(std::string(kUncertaintyParts[part]));
    parts.mean[part] = number(entry, "mean");
    if (entry.contains("auroc")) parts.auroc[part] = estimate_of(entry.at("auroc"));
  }
  return parts;
}

/// Older files lack the variance of the difference, which comes from its interval. Those of version 0.1 have that
/// alone.
PairedAuroc pair_of(const Json& json) {
  PairedAuroc pair;
  pair.first = number(json, "auroc");
  pair.second = number(json, "auroc_against");
  pair.p_value = number(json, "p_value");
  const auto difference = estimate(json, "difference");
  const double error = difference.margin() / kNormal975;
  pair.difference_variance =
      json.contains("variance_of_difference") ? number(json, "variance_of_difference") : error * error;
  if (json.contains("variance")) {
    pair.first_variance = number(json, "variance");
    pair.second_variance = number(json, "variance_against");
    pair.covariance = number(json, "covariance");
    pair.z = number(json, "z");
  } else {
    pair.first_variance = error * error;
    pair.z = error > 0 ? (pair.first - pair.second) / error : 0.0;
  }
  return pair;
}

/// The settings of a configuration: "training.epochs" to "120".
std::map<std::string, std::string> settings_of(const std::string& toml) {
  std::map<std::string, std::string> settings;
  std::string section;
  std::istringstream lines(toml);
  const auto trimmed = [](const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(' ') - first + 1);
  };
  for (std::string line; std::getline(lines, line);) {
    const auto text = trimmed(line.substr(0, line.find(" #")));  // no value holds that
    if (text.starts_with('['))
      section = text.substr(1, text.find(']') - 1);
    else if (const auto equals = text.find(" = "); equals != std::string::npos)
      settings[section + "." + trimmed(text.substr(0, equals))] = trimmed(text.substr(equals + 3));
  }
  return settings;
}

bool is_same_value(const std::string& first, const std::string& second) {
  char *end_first = nullptr, *end_second = nullptr;
  const double a = std::strtod(first.c_str(), &end_first), b = std::strtod(second.c_str(), &end_second);
  const bool are_numbers = *end_first == 0 && *end_second == 0 && !first.empty() && !second.empty();
  return first == second || (are_numbers && a == b);
}

class ImagesReader {
 public:
  ImagesReader(const std::filesystem::path& folder, const PlanOfSeed& plan, uint64_t first_seed)
      : file_(folder / "results.json"), plan_(plan), first_(plan(first_seed)) {}

  StoredImages read() {
    try {
      json_ = parse_json(InputFile(file_).read_rest());
      refuse_other_experiment();
      runs_ = parse_stored_runs(json_text(json_.at("run")));
      stored_.record = runs_.record;
      for (const auto& seed : json_.at("seeds")) add(seed);
    } catch (const Json::exception& error) {
      throw DataError(fmt::format("{}: should be what priornet reproduce writes, to keep its rows: {}", file_.string(),
                                  error.what()));
    }
    if (!stored_.seeds.empty())
      stored_.seeds.front().preparation_seconds = json_.at("run").value("preparation_seconds", 0.0);
    return std::move(stored_);
  }

 private:
  void refuse_other_experiment() const {
    const bool is_kin = json_.at("experiment") == first_.kin_name;
    if (!is_kin) refuse_other_results(file_, "the experiment", json_.at("experiment"), first_.name);
    refuse_other_results(file_, "the title", json_.at("title"), is_kin ? first_.kin_title : first_.title);
    refuse_other_results(file_, "the in-distribution set", json_.at("options").at("in_distribution"), first_.inside);
    refuse_other_results(file_, "the first seed", json_text(json_.at("seeds").at(0).at("seed")),
                         fmt::format("{}", first_.seed));
  }

  /// Titles of the sets of a model's rows: version 0.1 gave none, and evaluated every set that was there.
  std::vector<std::string> titles_of(const Json& seed, const Json& sets) const {
    std::vector<std::string> titles, missing;
    if (sets.empty()) return titles;
    for (const auto& set : seed.at("missing")) missing.push_back(set.at("title"));
    for (const auto& set : json_.at("options").at("out_of_distribution")) {
      const std::string title = set.at("title");
      if (std::find(missing.begin(), missing.end(), title) == missing.end()) titles.push_back(title);
    }
    for (size_t s = 0; s < sets.size(); ++s)
      if (sets[s].contains("title")) {
        titles.resize(sets.size());
        titles[s] = sets[s].at("title");
      }
    if (titles.size() != sets.size())
      throw DataError(fmt::format("{}: has {} sets, but names {}", file_.string(), sets.size(), titles.size()));
    return titles;
  }

  /// Whether the set of that title is today what it was.
  bool is_set_of_today(const PlannedSet& planned) const {
    for (const auto& set : json_.at("options").at("out_of_distribution"))
      if (set.at("title") == planned.title) {
        for (const auto& of_first : first_.outside)
          if (of_first.title == planned.title) return set.at("set") == of_first.set;
      }
    return false;
  }

  /// The entry of "options" about a model.
  const Json* options_of(const Json& row) const {
    for (const auto& model : json_.at("options").at("models"))
      if (model.at("model") == row.at("model") && noise_of(model) == row.at("sigma").get<double>()) return &model;
    return nullptr;
  }

  static double noise_of(const Json& model) {
    const auto settings = settings_of(model.at("config"));
    const auto found = settings.find("data.noise");
    return found == settings.end() ? 0.0 : std::strtod(found->second.c_str(), nullptr);
  }

  void add(const Json& seed) {
    ImageResult result;
    result.experiment = plan_(seed.at("seed"));
    for (const auto& set : result.experiment.outside)
      if (is_set_of_today(set)) result.outside.push_back(set);
    std::erase_if(result.outside, [&](const PlannedSet& set) {
      return std::any_of(seed.at("missing").begin(), seed.at("missing").end(),
                         [&](const Json& missing) { return missing.at("title") == set.title; });
    });
    for (const auto& missing : seed.at("missing"))
      for (const auto& set : result.experiment.outside)
        if (missing.at("title") == set.title) result.missing.push_back({set, missing.at("remedy")});
    for (const auto& row : seed.at("models")) add_model(result, seed, row);
    for (const auto& row : seed.value("comparisons", Json::array())) add_comparison(result, row);
    stored_.seeds.push_back(std::move(result));
  }

  void add_model(ImageResult& result, const Json& seed, const Json& row) {
    const std::string name = row.at("model");
    const double noise = row.at("sigma");
    const auto& models = result.experiment.models;
    const auto plan = std::find_if(models.begin(), models.end(), [&](const PlannedModel& model) {
      return model.name == name && model.config.noise == noise;
    });
    if (plan == models.end())
      return leave_out(stored_.remarks, name, runs_.record, "the experiment has no such model today");
    ModelResult model;
    model.plan = *plan;
    if (const auto* options = options_of(row)) {
      model.recorded_config = options->at("config");
      if (const auto changed = recorded_difference(model.recorded_config, to_toml(plan->config)); !changed.empty())
        return leave_out(stored_.remarks, name, runs_.record, changed);
      if (result.experiment.seed == first_.seed) model.plan.run = options->at("run");
    }
    model.report = report_of(row.at("evaluation"));
    const auto& sets = row.at("evaluation").at("out_of_distribution");
    const auto titles = titles_of(seed, sets);
    for (const auto& set : result.outside) {
      const auto at = static_cast<size_t>(std::find(titles.begin(), titles.end(), set.title) - titles.begin());
      model.report.evaluation.outside.push_back(at < sets.size() ? outside_of(sets[at])
                                                                 : OutsideEvaluation{set.set, 0, {}, {}});
    }
    if (row.contains("uncertainties")) add_parts(model, result, row.at("uncertainties"));
    const auto validation = row.value("validation", Json::object());
    for (const auto& [measure, auroc] : validation.items()) model.validation.push_back({measure, auroc});
    if (row.contains("kept")) model.kept = runs_.kept.at(static_cast<size_t>(whole_number_of(row.at("kept"))));
    for (const auto& times : json_.at("run").value("training", Json::array()))
      if (times.at("model") == name && times.at("run") == model.report.run) {
        model.training_seconds = number(times, "seconds");
        model.evaluation_seconds = number(times, "evaluation_seconds");
        model.restarts = whole_number_of(times, "restarts", 0);
      }
    result.models.push_back(std::move(model));
  }

  static void add_parts(ModelResult& model, const ImageResult& result, const Json& rows) {
    model.uncertainties.push_back(parts_of(rows.at(0)));
    for (const auto& set : result.outside) {
      model.uncertainties.push_back(absent_parts());
      for (const auto& row : rows)
        if (row.at("title") == set.title) model.uncertainties.back() = parts_of(row);
    }
  }

  static void add_comparison(ImageResult& result, const Json& row) {
    ModelComparison comparison{{row.at("model"), row.at("measure"), row.at("against"), row.at("against_measure")}, {}};
    const auto& planned = result.experiment.comparisons;
    if (std::find(planned.begin(), planned.end(), comparison.plan) == planned.end()) return;
    for (const auto& set : result.outside) {
      comparison.sets.push_back(absent_pair());
      for (const auto& pair : row.at("sets"))
        if (pair.at("title") == set.title) comparison.sets.back() = pair_of(pair);
    }
    const auto has = [&](const std::string& name) {
      return std::any_of(result.models.begin(), result.models.end(),
                         [&](const ModelResult& model) { return model.plan.name == name; });
    };
    if (has(comparison.plan.model) && has(comparison.plan.against)) result.comparisons.push_back(std::move(comparison));
  }

  std::filesystem::path file_;
  const PlanOfSeed& plan_;
  ImageExperiment first_;
  Json json_;
  StoredRuns runs_;
  StoredImages stored_;
};

bool has_title(const std::vector<PlannedSet>& sets, const std::string& title) {
  return std::any_of(sets.begin(), sets.end(), [&](const PlannedSet& set) { return set.title == title; });
}

/// Gives the result these sets, in this order; those that a row lacks are marked as absent.
void align_sets(ImageResult& result, const std::vector<PlannedSet>& sets) {
  std::vector<size_t> places;  // of the sets among those of the result; its number of sets: absent
  for (const auto& set : sets)
    places.push_back(
        static_cast<size_t>(std::find_if(result.outside.begin(), result.outside.end(),
                                         [&](const PlannedSet& there) { return there.title == set.title; }) -
                            result.outside.begin()));
  const auto count = result.outside.size();
  for (auto& model : result.models) {
    auto& evaluation = model.report.evaluation;
    const auto before = std::exchange(evaluation.outside, {});
    const auto parts = std::exchange(model.uncertainties, {});
    if (!parts.empty()) model.uncertainties.push_back(parts.front());
    for (size_t s = 0; s < sets.size(); ++s) {
      const bool is_there = places[s] < count;
      evaluation.outside.push_back(is_there ? before[places[s]] : OutsideEvaluation{sets[s].set, 0, {}, {}});
      if (!parts.empty()) model.uncertainties.push_back(is_there ? parts[places[s] + 1] : absent_parts());
    }
  }
  for (auto& comparison : result.comparisons) {
    const auto before = std::exchange(comparison.sets, {});
    for (const auto place : places) comparison.sets.push_back(place < count ? before[place] : absent_pair());
  }
  result.outside = sets;
  std::erase_if(result.missing, [&](const MissingSet& missing) { return has_title(sets, missing.plan.title); });
}

void sort_by_plan(ImageResult& result) {
  const auto& planned = result.experiment.models;
  const auto place = [&](const ModelResult& model) {
    size_t at = 0;
    while (at < planned.size() &&
           (planned[at].name != model.plan.name || planned[at].config.noise != model.plan.config.noise))
      ++at;
    return at;
  };
  std::stable_sort(result.models.begin(), result.models.end(),
                   [&](const ModelResult& a, const ModelResult& b) { return place(a) < place(b); });
}

/// The curves of a model, for other sets: in the order of `places`, which are those among its own; none: -1.
Json rearranged(Json model, const std::vector<int64_t>& places) {
  for (auto& measure : model.at("measures")) {
    const auto histograms = std::exchange(measure.at("histograms").at("sets"), Json::array());
    const auto tasks = std::exchange(measure.at("tasks"), Json::array());
    const std::vector<int64_t> none(histograms.at(0).size(), 0);
    for (const auto place : places) {
      const auto at = static_cast<size_t>(place);
      measure["histograms"]["sets"].push_back(place < 0 ? Json(none) : histograms.at(at));
      measure["tasks"].push_back(place < 0 ? Json(nullptr) : tasks.at(at));
    }
  }
  return model;
}

/// The curves of one model in a curves.json, if it has them.
std::optional<Json> curves_of_model(const Json& curves, const PlannedModel& plan,
                                    const std::vector<std::string>& sets) {
  const std::vector<std::string> there = curves.at("sets");
  std::vector<int64_t> places;
  for (const auto& set : sets) {
    const auto found = std::find(there.begin(), there.end(), set);
    places.push_back(found == there.end() ? -1 : found - there.begin());
  }
  for (const auto& model : curves.at("models"))
    if (model.at("model") == plan.name && model.at("sigma") == plan.config.noise) return rearranged(model, places);
  return std::nullopt;
}

}  // namespace

void refuse_other_results(const std::filesystem::path& file, const char* what, const std::string& there,
                          const std::string& here) {
  if (there != here)
    throw DataError(fmt::format("{}: its rows cannot be kept: {} is {} there, {} here; choose another --out",
                                file.string(), what, there, here));
}

std::string with_kept_curves(const std::string& fresh, const std::filesystem::path& folder,
                             const std::vector<ImageResult>& results) {
  const auto file = folder / "curves.json";
  if (!std::filesystem::exists(file)) return fresh;
  const auto stored = parse_json(InputFile(file).read_rest());
  auto json = parse_json(fresh);
  const auto& first = results.front();
  if (stored.at("seed") != json.at("seed") || stored.at("sets").at(0) != json.at("sets").at(0)) return fresh;
  std::vector<std::string> sets{first.experiment.inside_title};
  for (const auto& set : first.outside) sets.push_back(set.title);
  auto models = Json::array();
  for (const auto& model : first.models)
    if (const auto curves = curves_of_model(model.kept ? stored : json, model.plan, sets)) models.push_back(*curves);
  json["sets"] = sets;
  json["models"] = models;
  return json_text(json) + "\n";
}

std::string recorded_difference(const std::string& there, const std::string& here) {
  static const std::vector<std::string> kFree = {"training.seed", "training.checkpoint_every",
                                                 "training.keep_checkpoints", "method.teacher"};
  const auto before = settings_of(there), today = settings_of(here);
  std::vector<std::string> changed;
  for (const auto& [key, value] : today) {
    const auto found = before.find(key);
    if (found == before.end() || std::find(kFree.begin(), kFree.end(), key) != kFree.end()) continue;
    if (!is_same_value(found->second, value))
      changed.push_back(fmt::format("{}: {} there, {} here", key, found->second, value));
  }
  return fmt::format("{}", fmt::join(changed, "; "));
}

StoredImages read_images(const std::filesystem::path& folder, const PlanOfSeed& plan, uint64_t first_seed) {
  return ImagesReader(folder, plan, first_seed).read();
}

std::optional<StoredImages> stored_rows(const PlanOfSeed& plan, const ExperimentOptions& options) {
  if (options.only.empty() || !std::filesystem::exists(options.out / "results.json")) return std::nullopt;
  return read_images(options.out, plan, options.seed);
}

std::vector<ImageResult> with_kept_rows(std::vector<ImageResult> results, StoredImages stored) {
  const auto first = results.front().experiment;
  const auto own = std::make_shared<const RunRecord>(stored.record);
  for (auto& before : stored.seeds) {
    std::erase_if(before.models, [&](const ModelResult& model) { return is_chosen(first, model.plan.name); });
    std::erase_if(before.comparisons, [&](const ModelComparison& comparison) {
      return is_chosen(first, comparison.plan.model) || is_chosen(first, comparison.plan.against);
    });
    for (auto& model : before.models)
      if (!model.kept) model.kept = own;
    before.preparation_seconds = 0.0;
  }
  std::erase_if(stored.seeds, [](const ImageResult& before) { return before.models.empty(); });
  std::vector<PlannedSet> sets;  // that some seed has
  for (const auto& set : first.outside) {
    const auto has_set = [&](const ImageResult& result) { return has_title(result.outside, set.title); };
    if (std::any_of(results.begin(), results.end(), has_set) ||
        std::any_of(stored.seeds.begin(), stored.seeds.end(), has_set))
      sets.push_back(set);
  }
  for (auto* seeds : {&results, &stored.seeds})
    for (auto& result : *seeds) align_sets(result, sets);
  for (auto& before : stored.seeds) {
    const auto found = std::find_if(results.begin(), results.end(), [&](const ImageResult& result) {
      return result.experiment.seed == before.experiment.seed;
    });
    if (found == results.end()) {
      results.push_back(std::move(before));
      continue;
    }
    std::move(before.models.begin(), before.models.end(), std::back_inserter(found->models));
    std::move(before.comparisons.begin(), before.comparisons.end(), std::back_inserter(found->comparisons));
  }
  std::sort(results.begin(), results.end(),
            [](const ImageResult& a, const ImageResult& b) { return a.experiment.seed < b.experiment.seed; });
  for (auto& result : results) sort_by_plan(result);
  return results;
}

std::vector<ModelOrigin> origins_of(const std::vector<ImageResult>& seeds) {
  std::vector<ModelOrigin> origins;
  const bool has_sigma = seeds.front().experiment.is_noise_table;
  for (const auto& model : models_of_seeds(seeds))
    origins.push_back(
        {has_sigma ? fmt::format("{} (sigma {:g})", model.plan.name, model.plan.config.noise) : model.plan.name,
         model.seeds.size(), model.seeds.front()->kept});
  return origins;
}

std::vector<std::shared_ptr<const RunRecord>> kept_runs(const std::vector<ModelOrigin>& models) {
  std::vector<std::shared_ptr<const RunRecord>> runs;
  for (const auto& model : models)
    if (model.kept &&
        std::none_of(runs.begin(), runs.end(), [&](const auto& run) { return to_json(*run) == to_json(*model.kept); }))
      runs.push_back(model.kept);
  return runs;
}

size_t place_of(const std::vector<std::shared_ptr<const RunRecord>>& runs, const RunRecord& record) {
  size_t place = 0;
  while (to_json(*runs.at(place)) != to_json(record)) ++place;
  return place;
}

StoredRuns parse_stored_runs(std::string_view text) {
  StoredRuns runs{parse_run_record(text), {}};
  for (const auto& record : parse_json(text).value("kept", Json::array()))
    runs.kept.push_back(std::make_shared<const RunRecord>(parse_run_record(json_text(record))));
  return runs;
}

void leave_out(std::vector<std::string>& remarks, const std::string& model, const RunRecord& record,
               const std::string& why) {
  const auto remark = fmt::format("{}: its rows of commit {} are left out: {}.", model, record.commit, why);
  if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.push_back(remark);
}

std::string kept_json(const std::vector<ModelOrigin>& models) {
  auto json = Json::array();
  for (const auto& run : kept_runs(models)) {
    json.push_back(parse_json(to_json(*run)));
    for (const auto& model : models)
      if (model.kept && to_json(*model.kept) == to_json(*run)) json.back()["models"].push_back(model.model);
  }
  return json_text(json);
}

std::string seeds_text(const std::vector<ModelOrigin>& models) {
  size_t least = 0, most = 0;
  for (const auto& model : models) {
    if (model.seeds == 1) continue;
    least = least == 0 ? model.seeds : std::min(least, model.seeds);
    most = std::max(most, model.seeds);
  }
  if (most == 0) return "1 seed";
  return least == most ? fmt::format("{} seeds", most) : fmt::format("{} to {} seeds", least, most);
}

std::string origins_note(const std::vector<ModelOrigin>& models) {
  size_t most = 0;
  for (const auto& model : models) most = std::max(most, model.seeds);
  const bool says_nothing = std::all_of(models.begin(), models.end(), [&](const ModelOrigin& model) {
    return !model.kept && (model.seeds == 1 || model.seeds == most);
  });
  if (says_nothing) return "";
  // Models of one kind stand together.
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  bool any_kept = false;
  for (const auto& model : models) {
    auto text = fmt::format("{} seed{}", model.seeds, model.seeds == 1 ? "" : "s");
    if (model.kept) text += fmt::format(", kept from commit {}", model.kept->commit);
    any_kept = any_kept || model.kept;
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == text; });
    if (found == groups.end()) found = groups.insert(groups.end(), {text, {}});
    found->second.push_back(model.model);
  }
  std::string note;
  for (const auto& [text, names] : groups)
    note += fmt::format("{}{}: {}.", note.empty() ? "" : " ", fmt::join(names, ", "), text);
  if (any_kept) note += " Rows are kept only if their recorded settings are those of today.";
  return note;
}

}  // namespace priornet
