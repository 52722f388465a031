#include <fmt/format.h>
#include <priornet/core/seeds.h>
#include <priornet/data/catalogue/load.h>
#include <priornet/data/catalogue/path_set.h>
#include <priornet/experiments/finished_run.h>
#include <priornet/experiments/image_run.h>
#include <priornet/runs/trained_run.h>
#include <priornet/train/trainer.h>

#include <map>

namespace priornet {
namespace {

/// Says whose progress it is.
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

class SeedRun {
 public:
  SeedRun(const ImageExperiment& experiment, const ImageRunOptions& options, Progress& progress)
      : experiment_(experiment), options_(options), progress_(progress) {}

  ImageResult run() {
    load_sets();
    for (const auto& plan : experiment_.models) result_.models.push_back(result_of(plan));
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
      throw AbsentSet(fmt::format("{} is not below {}: put {} into a folder of that name there", set.set,
                                  options.root.string(), set.by_hand));
    return load(set.set);
  }

  // All of them before hours of training.
  void load_sets() {
    result_.experiment = experiment_;
    result_.inside = load(experiment_.inside);
    for (const auto& model : experiment_.models)
      for (const auto& name : {model.config.train, model.config.validation})
        if (!name.empty() && !sets_.contains(name)) sets_.emplace(name, load(name));
    for (const auto& set : experiment_.outside) {
      try {
        result_.outside_sets.push_back(load(set));
        result_.outside.push_back(set);
      } catch (const AbsentSet& error) {
        result_.missing.push_back({set, error.what()});
      }
    }
  }

  ModelResult result_of(const PlannedModel& plan) {
    const auto name = fmt::format("{}{}, seed {}", plan.name, sigma_of(plan), experiment_.seed);
    NamedProgress progress(name, progress_);
    const auto folder = trained(plan, progress);
    auto run = load_run(folder, options_.device);
    ModelResult result{plan, training_seconds(folder), {}};
    result.report.run = folder.lexically_relative(options_.runs.parent_path()).generic_string();
    for (const auto& [method, value] : kMethodNames)
      if (value == plan.config.method.method) result.report.method = method;
    result.report.checkpoint = "last";
    result.report.weights = run.identity;
    result.report.evaluation = evaluate(run, result_.inside, result_.outside_sets, evaluation_options(plan), progress);
    return result;
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
    return options;
  }

  /// The folder of the run, after training where there was any left to do.
  std::filesystem::path trained(const PlannedModel& plan, Progress& progress) {
    const auto& train_set = sets_.at(plan.config.train);
    const auto below = std::filesystem::path(fmt::format("seed-{}", experiment_.seed)) / plan.run;
    const auto folder = options_.runs / below;
    refuse_other_run(folder, plan.config);
    if (is_finished_run(folder, plan.config, train_set.size())) return folder;
    for (const auto& other : options_.other_runs)
      if (is_finished_run(other / below, plan.config, train_set.size())) return other / below;
    TrainingSets sets{train_set, {}, {}};
    if (!plan.config.validation.empty()) sets.validation = sets_.at(plan.config.validation);
    TrainerOptions options;
    options.device = options_.device;
    options.resume = true;
    options.stop = options_.stop;
    train(plan.config, sets, RunFolder(folder, RunFolder::Start::kResume), options, progress);
    return folder;
  }

  const ImageExperiment& experiment_;
  const ImageRunOptions& options_;
  Progress& progress_;
  std::map<std::string, Dataset> sets_;
  ImageResult result_;
};

}  // namespace

ImageResult run_image_experiment(const ImageExperiment& experiment, const ImageRunOptions& options,
                                 Progress& progress) {
  return SeedRun(experiment, options, progress).run();
}

}  // namespace priornet
