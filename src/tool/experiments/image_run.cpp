#include "tool/experiments/image_run.h"

#include <fmt/format.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/run_folder.h>
#include <priornet/learning/trained_run.h>
#include <priornet/learning/training.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/detection.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "learning/base/file_io.h"
#include "learning/sets/path_set.h"
#include "tool/experiments/experiment.h"
#include "tool/experiments/image_tables.h"
#include "tool/experiments/stored_images.h"
#include "tool/report/evaluation_curves.h"
#include "tool/report/image_sheets.h"
#include "uncertainty/core/checks.h"

namespace priornet {
namespace {

constexpr const char* kModelPart = "mutual_information_y_theta";

using PartScores = std::array<torch::Tensor, 3>;

PartScores split_scores(const SetScores& scores) {
  const auto* data = scores.find("expected_entropy");
  const auto* both = scores.find("mutual_information");
  const auto* model = scores.find(kModelPart);
  if (data == nullptr || both == nullptr || model == nullptr)
    throw ArgumentError("uncertainty_parts: the scores should come from an ensemble of Dirichlets");
  return {data->contiguous(), (*both - *model).contiguous(), model->contiguous()};
}

}  // namespace

bool has_uncertainty_parts(const SetScores& scores) { return scores.find(kModelPart) != nullptr; }

std::vector<UncertaintyParts> uncertainty_parts(const SetScores& inside, const std::vector<SetScores>& outside) {
  const auto inside_scores = split_scores(inside);
  std::vector<UncertaintyParts> sets(1);
  for (size_t part = 0; part < 3; ++part) sets[0].mean[part] = inside_scores[part].mean().item<double>();
  for (const auto& scores : outside) {
    const auto outside_scores = split_scores(scores);
    auto& set = sets.emplace_back();
    for (size_t part = 0; part < 3; ++part) {
      const Ranking ranking({span_of(outside_scores[part]), span_of(inside_scores[part])});
      const auto interval = delong_interval(ranking);
      set.mean[part] = outside_scores[part].mean().item<double>();
      set.auroc[part] = {roc_metrics(ranking).auroc, interval.low, interval.high};
    }
  }
  return sets;
}

namespace {

torch::Tensor uncertainty_column(const SetScores& scores, std::string_view measure) {
  const auto* values = scores.find(measure);
  if (values == nullptr) throw ArgumentError(fmt::format("compare_detection: a model has no measure {}", measure));
  return uncertainty(measure, *values);
}

}  // namespace

std::vector<PairedAuroc> compare_detection(const Evaluation& first, std::string_view first_measure,
                                           const Evaluation& second, std::string_view second_measure) {
  const auto first_inside = uncertainty_column(first.inside_scores, first_measure);
  const auto second_inside = uncertainty_column(second.inside_scores, second_measure);
  std::vector<PairedAuroc> sets;
  for (size_t s = 0; s < first.outside_scores.size(); ++s) {
    const auto first_outside = uncertainty_column(first.outside_scores[s], first_measure);
    const auto second_outside = uncertainty_column(second.outside_scores.at(s), second_measure);
    sets.push_back(delong_paired(PairedScores{{span_of(first_outside), span_of(first_inside)},
                                              {span_of(second_outside), span_of(second_inside)}}));
  }
  return sets;
}

Estimate difference(const PairedAuroc& pair) {
  return normal_estimate(pair.first - pair.second,
                         std::isnan(pair.p_value) ? pair.p_value : std::sqrt(pair.difference_variance));
}

namespace {

/// Says which network the progress is of.
class NamedProgress final : public Progress {
 public:
  NamedProgress(std::string name, Progress& progress) : name_(std::move(name)), progress_(progress) {}

  void report(std::string_view task, int64_t done, int64_t total) override {
    progress_.report(fmt::format("{}: {}", name_, task), done, total);
  }
  void detail(std::string_view text) override { progress_.detail(text); }

 private:
  std::string name_;
  Progress& progress_;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class SeedRun {
 public:
  SeedRun(const ImageExperiment& experiment, const ImageRunOptions& options, Progress& progress)
      : experiment_(experiment), options_(options), progress_(progress) {
    for (const auto& plan : experiment.models)
      if (is_chosen(experiment, plan.name)) chosen_.push_back(plan);
    check_range("run_image_experiment", "models", !chosen_.empty(), "at least 1", 0.0);
  }

  ImageResult run() {
    const auto start = Clock::now();
    load_sets();
    result_.preparation_seconds = seconds_since(start);
    for (const auto& plan : chosen_) result_.models.push_back(result_of(plan));
    for (const auto& plan : experiment_.comparisons) compare(plan);
    return std::move(result_);
  }

 private:
  Dataset load(const std::string& name) const {
    if (options_.load) return options_.load(name);
    LoadOptions options;
    options.progress = &progress_;
    return load_set(name, options);
  }

  Dataset load(const PlannedSet& set) const {
    const LoadOptions options;
    if (!options_.load && !set.by_hand.empty() && !is_own_set(parse_set_name(set.set).set, options))
      throw AbsentSet(fmt::format("{} is not in {}: put {} into a folder with that name there", set.set,
                                  options.root.string(), set.by_hand),
                      fmt::format("put {} into a folder {} in the data root", set.by_hand, set.set));
    return load(set.set);
  }

  // All of them before hours of training.
  void load_sets() {
    result_.experiment = experiment_;
    result_.inside = load(experiment_.inside);
    for (const auto& model : chosen_) load_sets_of(model);
    // Every network takes the shape of its training set, so the sets are fitted once for all of them.
    const auto shape = image_shape(sets_.at(chosen_.front().config.train));
    result_.inside = fit_to(result_.inside, shape);
    for (const auto& set : experiment_.outside) {
      try {
        result_.outside_sets.push_back(fit_to(load(set), shape));
        result_.outside.push_back(set);
      } catch (const AbsentSet& error) {
        result_.missing.push_back({set, error.remedy()});
      }
    }
    trivial_ = trivial_detection(result_.inside, result_.outside_sets);
  }

  void load_sets_of(const PlannedModel& model) {
    for (const auto& name : {model.config.train, model.config.validation})
      if (!name.empty() && !sets_.contains(name)) sets_.emplace(name, load(name));
    if (model.teacher) load_sets_of(*model.teacher);
  }

  ModelResult result_of(const PlannedModel& plan) {
    const auto name = fmt::format("{}{}, seed {}", plan.name, sigma_of(plan), experiment_.seed);
    const auto folder = trained(plan, name);
    NamedProgress progress(name, progress_);
    const auto start = Clock::now();
    auto run = load_run(folder, options_.device);
    ModelResult result;
    result.plan = plan;
    for (const auto& network : networks_of(plan, folder)) {
      result.training_seconds += training_seconds(network);
      result.restarts += restarts_of(network);
    }
    result.report.run = folder.lexically_relative(options_.runs.parent_path()).generic_string();
    result.report.method = plan.config.method.name;
    result.report.members = plan.config.members;
    result.report.checkpoint = "last";
    result.report.weights = run.identity;
    auto& evaluation = result.report.evaluation;
    evaluation = evaluate(run, result_.inside, result_.outside_sets, evaluation_options(plan), progress);
    if (has_uncertainty_parts(evaluation.inside_scores))
      result.uncertainties = uncertainty_parts(evaluation.inside_scores, evaluation.outside_scores);
    if (const auto found = experiment_.validation.find(plan.name); found != experiment_.validation.end())
      result.validation = found->second;
    result.evaluation_seconds = seconds_since(start);
    return result;
  }

  void compare(const PlannedComparison& plan) {
    const auto evaluation_of = [&](const std::string& model) -> const Evaluation* {
      for (const auto& result : result_.models)
        if (result.plan.name == model) return &result.report.evaluation;
      return nullptr;
    };
    const auto* first = evaluation_of(plan.model);
    const auto* second = evaluation_of(plan.against);
    if (first == nullptr || second == nullptr) return;  // not chosen
    result_.comparisons.push_back({plan, compare_detection(*first, plan.measure, *second, plan.against_measure)});
  }

  std::string sigma_of(const PlannedModel& plan) const {
    return experiment_.is_noise_table ? fmt::format(", sigma {:g}", plan.config.noise) : "";
  }

  EvaluationOptions evaluation_options(const PlannedModel& plan) const {
    EvaluationOptions options;
    options.scoring.dropout_samples = plan.dropout_samples;
    options.scoring.noise = plan.config.noise;
    options.scoring.seed = derive_seed(experiment_.seed, "evaluation");
    options.scoring.bfloat16 = plan.config.precision == Precision::kBFloat16;
    options.bootstrap = experiment_.bootstrap;
    options.trivial = trivial_;
    return options;
  }

  /// The folder of the run, after any training that is left; a teacher comes before its student.
  std::filesystem::path trained(const PlannedModel& plan, const std::string& name) {
    if (const auto found = folders_.finished(plan)) return *found;
    std::filesystem::path teacher;
    if (plan.teacher) teacher = trained(*plan.teacher, plan.teacher->name);
    const auto own = options_.runs / plan.run;
    if (plan.config.members == 1) {
      train_network(plan, own, teacher, name);
      return own;
    }
    // Members are compared with their configurations one by one: there may be more of them than last time.
    const RunFolder folder(own, RunFolder::Start::kResume);
    int64_t member = 0;
    for (const auto& network : folders_.networks(plan))
      train_network(network.plan, network.folder, teacher, fmt::format("{}, member {}", name, ++member));
    folder.write_config(to_toml(config_on_disk(plan, own, teacher)));
    return own;
  }

  void train_network(const PlannedModel& plan, const std::filesystem::path& folder,
                     const std::filesystem::path& teacher, const std::string& name) {
    const auto& train_set = sets_.at(plan.config.train);
    refuse_other_run(folder, plan.config);
    if (is_finished_run(folder, plan.config, train_set.size())) return;
    TrainingSets sets{train_set, {}, {}};
    if (!plan.config.validation.empty()) sets.validation = sets_.at(plan.config.validation);
    const auto config = config_on_disk(plan, folder, teacher);
    if (plan.teacher) {
      auto today = config;  // the run may have been begun with another path
      today.teacher = teacher.generic_string();
      add_teacher(sets, today, options_.device);
    }
    TrainerOptions options;
    options.device = options_.device;
    options.resume = true;
    options.stop = options_.stop;
    NamedProgress progress(name, progress_);
    train(config, sets, RunFolder(folder, RunFolder::Start::kResume), options, progress);
  }

  static std::vector<std::filesystem::path> networks_of(const PlannedModel& plan, const std::filesystem::path& folder) {
    if (plan.config.members == 1) return {folder};
    std::vector<std::filesystem::path> folders;
    for (int64_t member = 1; member <= plan.config.members; ++member) folders.push_back(member_folder(folder, member));
    return folders;
  }

  const ImageExperiment& experiment_;
  const ImageRunOptions& options_;
  Progress& progress_;
  std::vector<PlannedModel> chosen_;
  std::map<std::string, Dataset> sets_;
  NetworkFolders folders_{options_.runs, options_.other_runs,
                          [this](const std::string& set) { return sets_.at(set).size(); }};
  std::vector<StatisticAuroc> trivial_;
  ImageResult result_;
};

}  // namespace

std::vector<ModelOfSeeds> models_of_seeds(const std::vector<ImageResult>& seeds) {
  std::vector<ModelOfSeeds> models;
  for (const auto& plan : seeds.front().experiment.models) {
    ModelOfSeeds model{plan, {}};
    for (const auto& seed : seeds)
      for (const auto& result : seed.models)
        if (result.plan.name == plan.name && result.plan.config.noise == plan.config.noise)
          model.seeds.push_back(&result);
    if (model.seeds.empty()) continue;
    model.plan = model.seeds.front()->plan;
    models.push_back(std::move(model));
  }
  return models;
}

bool is_chosen(const ImageExperiment& experiment, const std::string& model) {
  const auto& only = experiment.only;
  return only.empty() || std::find(only.begin(), only.end(), model) != only.end();
}

bool has_chosen(const ImageExperiment& experiment) {
  return std::any_of(experiment.models.begin(), experiment.models.end(),
                     [&](const PlannedModel& model) { return is_chosen(experiment, model.name); });
}

std::vector<std::string> model_names(const std::vector<ImageExperiment>& plans) {
  std::vector<std::string> names;
  for (const auto& plan : plans)
    for (const auto& model : plan.models)
      if (std::find(names.begin(), names.end(), model.name) == names.end()) names.push_back(model.name);
  return names;
}

ImageResult run_image_experiment(const ImageExperiment& experiment, const ImageRunOptions& options,
                                 Progress& progress) {
  return SeedRun(experiment, options, progress).run();
}

namespace {

/// Curves of every model; the models of an experiment share their sets.
std::string curves_of(const ImageResult& result, const std::filesystem::path& out) {
  DrawnSets sets{result.experiment.seed, result.experiment.inside_title, {}};
  for (const auto& set : result.outside) sets.outside.push_back(set.title);
  std::vector<DrawnModel> models;
  for (const auto& model : result.models)
    models.push_back({model.plan.name, model.plan.config.noise, out / model.report.run, &model.report.evaluation});
  return curves_json(sets, models);
}

/// The model whose images are shown: the last that gives a Dirichlet, else the last.
const ModelResult& shown_model(const ImageResult& result) {
  const auto gives_dirichlet = [](const ModelResult& model) {
    const auto& sets = model.report.evaluation.outside;
    return std::any_of(
               sets.begin(), sets.end(),
               [](const OutsideEvaluation& set) { return find_measure(set.detection, "precision") != nullptr; }) ||
           model.report.evaluation.inside_scores.find("precision") != nullptr;
  };
  const auto found = std::find_if(result.models.rbegin(), result.models.rend(), gives_dirichlet);
  return found == result.models.rend() ? result.models.back() : *found;
}

/// Whether OUT/images.json stays as it is: it shows a model whose rows were kept.
bool shows_kept_images(const ImageResult& result, const std::filesystem::path& out) {
  return shown_model(result).kept != nullptr && std::filesystem::exists(out / "images.json");
}

std::string images_of(const ImageResult& result) {
  const auto& model = shown_model(result);
  const auto& evaluation = model.report.evaluation;
  std::vector<CertaintySet> sets{{result.experiment.inside_title, &result.inside, &evaluation.inside_scores}};
  for (size_t s = 0; s < result.outside.size(); ++s)
    sets.push_back({result.outside[s].title, &result.outside_sets[s], &evaluation.outside_scores[s]});
  return certainty_json(sets, {.seed = result.experiment.seed, .model = model.plan.name});
}

torch::Device best_device() {
#if defined(PRIORNET_CUDA)
  if (torch::cuda::is_available()) return {torch::kCUDA, 0};
#endif
  return torch::kCPU;
}

std::vector<Headline> headlines_of(const std::vector<ImageResult>& results) {
  const bool has_sigma = results.front().experiment.is_noise_table;
  std::vector<Headline> headlines;
  for (const auto& cell : headline_cells(results)) {
    const auto model = has_sigma ? fmt::format("{}, sigma {:g}", cell.model, cell.sigma) : cell.model;
    const auto value = fmt::format("{:.2f} ± {:.2f}", cell.ours.value, cell.ours.margin());
    const auto what = cell.metric == CellMetric::kError ? std::string("error, %")
                                                        : fmt::format("AUROC by D.Ent. against {}, %", cell.outside);
    headlines.push_back({fmt::format("{}: {}", model, what), value, cell.published});
  }
  return headlines;
}

/// About networks that answered no better than chance and were trained again.
std::vector<std::string> restart_remarks(const std::vector<ImageResult>& results) {
  std::vector<std::string> remarks;
  for (const auto& result : results)
    for (const auto& model : result.models)
      if (model.restarts > 0)
        remarks.push_back(fmt::format(
            "{}, seed {}: started again from another seed, {} of at most {} times, because the network was no better "
            "than chance.",
            model.plan.name, result.experiment.seed, model.restarts, model.plan.config.restarts.value_or(0)));
  return remarks;
}

/// For all but the first seed, only the tables are needed.
void drop_scores(ImageResult& result) {
  for (auto& model : result.models) {
    model.report.evaluation.inside_scores = {};
    model.report.evaluation.outside_scores.clear();
  }
  result.inside = {};
  result.outside_sets.clear();
}

}  // namespace

ImageRunOptions run_options(const ExperimentOptions& options, ImageRunOptions run) {
  run.device = options.device.value_or(best_device());
  run.runs = options.out / "runs";
  run.stop = options.stop;
  return run;
}

std::vector<std::filesystem::path> runs_beside(const std::filesystem::path& out,
                                               const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> folders;
  for (const auto& name : names) folders.push_back((out / ".." / name / "runs").lexically_normal());
  return folders;
}

ImageRunOptions with_runs_beside(const ExperimentOptions& options, const std::vector<std::string>& names) {
  ImageRunOptions run;
  run.other_runs = runs_beside(options.out, names);
  return run;
}

std::vector<ImageExperiment> chosen_plans(const PlanOfSeed& plan, const ExperimentOptions& options) {
  std::vector<ImageExperiment> plans;
  for (int64_t i = 0; i < options.seeds; ++i) plans.push_back(plan(options.seed + static_cast<uint64_t>(i)));
  if (options.only.empty()) return plans;
  const auto only = chosen_models(options.only, model_names(plans));
  for (auto& of_seed : plans) of_seed.only = only;
  std::erase_if(plans, [](const ImageExperiment& of_seed) { return !has_chosen(of_seed); });
  return plans;
}

std::vector<TrainingCommand> plan_images(const std::vector<ImageExperiment>& plans, const ExperimentOptions& options,
                                         ImageRunOptions run) {
  const OutputFolder out(options.out);
  run = run_options(options, std::move(run));
  std::map<std::string, int64_t> known;
  const auto rows = [&](const std::string& set) {
    if (!known.contains(set)) known[set] = (run.load ? run.load(set) : load_set(set)).size();
    return known.at(set);
  };
  const NetworkFolders folders{run.runs, run.other_runs, rows};
  std::vector<PlannedModel> models;
  for (const auto& plan : plans)
    for (const auto& model : plan.models)
      if (is_chosen(plan, model.name)) models.push_back(model);
  const auto networks = networks_to_train(models, folders);
  const auto files = write_plan(out.path(), networks, models, folders);
  std::vector<TrainingCommand> commands;
  for (size_t i = 0; i < networks.size(); ++i) commands.push_back({files[i], networks[i].folder, networks[i].stage});
  return commands;
}

ExperimentSummary reproduce_images(const PlanOfSeed& plan, const ExperimentOptions& options, ImageRunOptions run,
                                   Progress& progress) {
  check_range("reproduce_images", "seeds", options.seeds >= 1, "at least 1", static_cast<double>(options.seeds));
  const auto start = std::chrono::steady_clock::now();
  const auto plans = chosen_plans(plan, options);
  auto stored = stored_rows(plan, options);
  OutputFolder out(options.out);
  run = run_options(options, std::move(run));
  std::vector<ImageResult> results;
  for (const auto& of_seed : plans) {
    results.push_back(run_image_experiment(of_seed, run, progress));
    if (results.size() > 1) drop_scores(results.back());
  }
  ExperimentSummary summary;
  auto curves = curves_of(results.front(), options.out);
  auto images = images_of(results.front());
  if (stored) {
    summary.remarks = stored->remarks;
    results = with_kept_rows(std::move(results), std::move(*stored));
    curves = with_kept_curves(curves, options.out, results);
    if (shows_kept_images(results.front(), options.out)) images.clear();
  }
  auto record = describe_run();
  record.command = options.command;
  record.device = run.device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.tables = image_tables(results);
  summary.headlines = headlines_of(results);
  for (auto& remark : restart_remarks(results)) summary.remarks.push_back(std::move(remark));
  out.write("results.json", to_json(results, record));
  out.write("curves.json", curves);
  if (!images.empty()) out.write("images.json", images);
  out.write("table.csv", to_csv(cell_table(results)));
  write_report(out);
  summary.files = out.files();
  return summary;
}

}  // namespace priornet
