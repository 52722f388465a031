#include "tool/experiments/reasons.h"

#include <fmt/format.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <priornet/uncertainty/rank_correlation.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_run.h"
#include "tool/experiments/reasons_figures.h"
#include "tool/experiments/stored_images.h"
#include "uncertainty/core/checks.h"

namespace priornet {

torch::Tensor label_entropy(const torch::Tensor& counts) {
  check_rank("label_entropy", "counts", counts, 2);
  const auto exact = counts.to(torch::kFloat64);
  const auto shares = exact / exact.sum(1, true);
  return -torch::xlogy(shares, shares).sum(1);
}

std::vector<PeopleCorrelation> correlate_with_people(const SetScores& scores, const torch::Tensor& entropy,
                                                     const BootstrapOptions& options) {
  std::vector<PeopleCorrelation> correlations;
  for (const auto measure : kReasonMeasures) {
    const auto* values = scores.find(measure);
    if (values == nullptr) continue;
    correlations.push_back(
        {std::string(measure), spearman_estimate(span_of(values->contiguous()), span_of(entropy), options)});
  }
  return correlations;
}

std::vector<RowGroup> groups_by_agreement(const torch::Tensor& entropy) {
  // An entropy that is exactly 0 or ln 2 may come out a rounding error beside it.
  constexpr double kEntropyRounding = 1e-9;
  const auto clear = entropy <= kEntropyRounding, torn = entropy > std::log(2.0) + kEntropyRounding;
  const auto rows = [](const torch::Tensor& chosen) { return chosen.nonzero().squeeze(1); };
  return {{"all people agree", rows(clear)},
          {"some people differ", rows(clear.logical_or(torn).logical_not())},
          {"people are torn", rows(torn)},
          {"all test images", torch::arange(entropy.size(0), torch::kInt64)}};
}

namespace {

using Watched = std::vector<std::pair<Verdict, std::string>>;

Watched watched_by(const SetScores& scores) {
  const bool dirichlet = scores.find("differential_entropy") != nullptr;
  const auto* several = dirichlet ? scores.find("mutual_information_y_theta") : scores.find("mutual_information");
  return watched_measures(dirichlet, several != nullptr);
}

/// The measures that calibration uses.
Predictions predictions_of(const SetScores& scores, const torch::Tensor& rows) {
  Predictions said;
  said.prediction = scores.probabilities.index_select(0, rows).argmax(1);
  for (const auto& column : scores.columns) said.scores.push_back({column.name, column.values.index_select(0, rows)});
  return said;
}

std::vector<Decision> decisions_of(const OperatingPoints& points, const SetScores& scores, const torch::Tensor& rows) {
  std::vector<torch::Tensor> values;
  for (const auto& watch : points.watches) values.push_back(scores.find(watch.measure)->index_select(0, rows));
  return decide(points, values);
}

void count(const std::vector<Decision>& decisions, double weight, VerdictShares& shares) {
  for (const auto& decision : decisions) shares.shares[static_cast<size_t>(decision.verdict)] += weight;
}

}  // namespace

std::vector<VerdictShares> verdict_shares(const SetScores& inside, const std::vector<RowGroup>& groups,
                                          const std::vector<UnfamiliarSet>& outside, const VerdictOptions& options) {
  check_range("verdict_shares", "folds", options.folds >= 2, "at least 2", static_cast<double>(options.folds));
  const auto size = inside.probabilities.size(0);
  const auto watched = watched_by(inside);
  auto generator = make_generator(derive_seed(options.seed, "folds of verdicts"));
  const auto shuffled = torch::randperm(size, generator, torch::kInt64);
  std::vector<Decision> of_inside(static_cast<size_t>(size));
  std::vector<VerdictShares> of_outside;
  for (const auto& set : outside) of_outside.push_back({set.title, set.scores->probabilities.size(0), {}});
  for (int64_t fold = 0; fold < options.folds; ++fold) {
    const auto first = fold * size / options.folds, last = (fold + 1) * size / options.folds;
    const auto held_out = shuffled.narrow(0, first, last - first);
    const auto others = torch::cat({shuffled.narrow(0, 0, first), shuffled.narrow(0, last, size - last)});
    CalibrationOptions calibration;
    calibration.false_alarm = options.false_alarm;
    const auto points = calibrate(predictions_of(inside, others), {}, watched, calibration);
    const auto decisions = decisions_of(points, inside, held_out);
    for (int64_t i = 0; i < held_out.size(0); ++i)
      of_inside[static_cast<size_t>(held_out[i].item<int64_t>())] = decisions[static_cast<size_t>(i)];
    for (size_t s = 0; s < outside.size(); ++s) {
      const auto all = torch::arange(of_outside[s].images, torch::kInt64);
      const auto weight = 1.0 / static_cast<double>(options.folds * of_outside[s].images);
      count(decisions_of(points, *outside[s].scores, all), weight, of_outside[s]);
    }
  }
  std::vector<VerdictShares> all;
  for (const auto& group : groups) {
    auto& shares = all.emplace_back(VerdictShares{group.title, group.rows.size(0), {}});
    for (int64_t i = 0; i < shares.images; ++i)
      count({of_inside[static_cast<size_t>(group.rows[i].item<int64_t>())]}, 1.0 / static_cast<double>(shares.images),
            shares);
  }
  all.insert(all.end(), of_outside.begin(), of_outside.end());
  return all;
}

Estimate mean_estimate(const torch::Tensor& values) {
  return normal_estimate(values.mean().item<double>(),
                         std::sqrt(values.var().item<double>() / static_cast<double>(values.numel())));
}

namespace {

constexpr const char* kAmounts = "amounts";  ///< names all networks on part of the data

/// How much a profile trains on each amount of data.
struct AmountExtent {
  std::vector<int64_t> images;
  int64_t epoch = 0;   ///< images per epoch, including repeated ones
  int64_t epochs = 0;  ///< of every network
  int64_t members = 0;
};

AmountExtent amounts_of(Profile profile) {
  if (profile == Profile::kQuick) return {{250, 500, 1'000, 2'000}, 4'000, 6, 2};
  return {{500, 2'000, 5'000, 10'000, 20'000, 50'000}, 50'000, 20, 3};
}

int64_t ensemble_members(Profile profile) { return profile == Profile::kQuick ? 2 : 5; }

PlannedModel* find_model(ImageExperiment& experiment, const std::string& name) {
  for (auto& model : experiment.models)
    if (model.name == name) return &model;
  return nullptr;
}

const PlannedModel& model_named(ImageExperiment& experiment, const std::string& name) {
  if (const auto* found = find_model(experiment, name)) return *found;
  throw ArgumentError(fmt::format("reasons_plan: experiment cifar10 has no model {}", name));
}

bool has_method(const ImageExperiment& experiment, const std::string& method) {
  return std::any_of(experiment.models.begin(), experiment.models.end(),
                     [&](const PlannedModel& model) { return model.config.method.name == method; });
}

struct DivergenceWeights {
  double inside, outside, uniform;
};

MethodOptions weighted(const char* name, const DivergenceWeights& weights) {
  return {name,
          {{"alpha0", 100},
           {"epsilon", 0.01},
           {"divergence_weight", weights.inside},
           {"outside_weight", weights.outside},
           {"cross_entropy_weight", 1.0},
           {"uniform_weight", weights.uniform}}};
}

/// Both divergences, each with the weights that the search for profile modern found best for it (docs/results.md).
void add_other_divergence(ImageExperiment& experiment, const ImagePlanOptions& options) {
  auto* dpn = find_model(experiment, "DPN");
  const auto add = [&](const char* name, const char* run, const MethodOptions& method) {
    if (has_method(experiment, method.name)) return;
    PlannedModel other = *dpn;
    other.name = name;
    other.run = run_of_seed(options.seed, run);
    other.config.method = method;
    experiment.models.insert(experiment.models.begin() + (dpn - experiment.models.data()) + 1, other);
    dpn = find_model(experiment, "DPN");
  };
  if (dpn == nullptr) return;
  add("DPN forward", "dpn-forward", weighted("dpn", {0.1, 0.1, 0.5}));
  add("DPN reverse", "dpn-reverse", weighted("dpn-reverse", {0.1, 1.0, 0.0}));
  if (dpn->config.method.name == "dpn") dpn->name = "DPN forward";
  if (dpn->config.method.name == "dpn-reverse") dpn->name = "DPN reverse";
}

void add_dnn_ensemble(ImageExperiment& experiment, const ImagePlanOptions& options) {
  if (options.seeds_before > 0 || find_model(experiment, "DNN ensemble") != nullptr) return;
  PlannedModel ensemble = model_named(experiment, "DNN");
  ensemble.name = "DNN ensemble";
  ensemble.run = run_of_seed(options.seed, "dnn-ensemble");
  ensemble.config.members = ensemble_members(options.profile);
  experiment.models.push_back(ensemble);
}

std::vector<PlannedSet> unfamiliar_sets(const ImagePlanOptions& options) {
  return {{"CIFAR-100", evaluated_set("cifar100:test", 10'000, options), ""},
          {"TinyImageNet without CIFAR-10's classes",
           evaluated_set("tinyimagenet:val,without=cifar10", 8'900, options) + ",size=32", ""},
          {"SVHN", evaluated_set("svhn:test", 26'032, options), ""},
          {"Scenes of Places", evaluated_set("places-scenes", 9'000, options), "", "images of scenes, 32x32"}};
}

/// This many different images of the training set, repeated and cut until an epoch has `length` of them.
std::string part_of_training(int64_t images, int64_t length, uint64_t seed) {
  if (images >= 50'000) return "cifar10:train";
  const auto repeated = (length + images - 1) / images;
  auto name = fmt::format("cifar10:train,subset={},seed={},repeat={}", images, seed, repeated);
  if (repeated * images != length) name += fmt::format(",first={}", length);
  return name;
}

void plan_amounts(ReasonsPlan& plan, const ImagePlanOptions& options) {
  const auto extent = amounts_of(options.profile);
  plan.amounts = begin_experiment(options);
  plan.amounts.inside = plan.models.inside;
  plan.amounts.inside_title = plan.models.inside_title;
  plan.amounts.bootstrap = plan.models.bootstrap;
  for (const auto images : extent.images) {
    auto of_images = options;
    of_images.overrides = {fmt::format("data.train={}", part_of_training(images, extent.epoch, options.seed)),
                           fmt::format("training.epochs={}", extent.epochs)};
    of_images.overrides.insert(of_images.overrides.end(), options.overrides.begin(), options.overrides.end());
    auto trained = cifar10_experiment(of_images);
    for (const auto* name : {"DPN", "DNN"}) {
      auto model = model_named(trained, name);
      const bool is_dpn = std::string_view(name) == "DPN";
      if (!is_dpn) model.config.members = extent.members;
      const auto title = is_dpn ? model.name : std::string("DNN ensemble");
      model.name = fmt::format("{}, {} images", title, images);
      model.run = run_of_seed(options.seed, fmt::format("{}-{}-images", is_dpn ? "dpn" : "dnn-ensemble", images));
      plan.amounts.models.push_back(std::move(model));
      plan.amounts_of.push_back({title, images});
    }
  }
}

}  // namespace

ReasonsPlan reasons_plan(const ImagePlanOptions& options) {
  refuse_paper_profile(options, "reasons");
  ReasonsPlan plan;
  plan.models = cifar10_experiment(options);
  plan.models.published = {};
  plan.models.comparisons.clear();
  plan.models.outside = unfamiliar_sets(options);
  plan.models.remarks = begin_experiment(options).remarks;
  plan.models.bootstrap.replicates = 2;  // of intervals of detection, which are not used
  plan.people = evaluated_set("cifar10h", 10'000, options);
  add_other_divergence(plan.models, options);
  add_dnn_ensemble(plan.models, options);
  plan_amounts(plan, options);
  return plan;
}

void choose_reasons(std::vector<ReasonsPlan>& plans, const ExperimentOptions& options) {
  if (options.only.empty()) return;
  std::vector<ImageExperiment> of_models, of_amounts;
  for (const auto& plan : plans) {
    of_models.push_back(plan.models);
    of_amounts.push_back(plan.amounts);
  }
  auto known = model_names(of_models);
  const auto amounts = model_names(of_amounts);
  known.emplace_back(kAmounts);
  known.insert(known.end(), amounts.begin(), amounts.end());
  auto only = chosen_models(options.only, known);
  if (std::find(only.begin(), only.end(), kAmounts) != only.end())
    only.insert(only.end(), amounts.begin(), amounts.end());
  for (auto& plan : plans) plan.models.only = plan.amounts.only = only;
}

namespace {

std::vector<UnfamiliarSet> unfamiliar_to(const ImageResult& result, const ModelResult& model) {
  std::vector<UnfamiliarSet> sets;
  for (size_t s = 0; s < result.outside.size(); ++s)
    sets.push_back({result.outside[s].title, &model.report.evaluation.outside_scores[s]});
  return sets;
}

torch::Tensor column_of(const SetScores& scores, const char* name) {
  if (const auto* values = scores.find(name)) return *values;
  throw ArgumentError(fmt::format("run_reasons: a model gives no {}", name));
}

AmountResult amount_result(const PlannedAmount& amount, const Evaluation& evaluation) {
  const auto& scores = evaluation.inside_scores;
  return {.amount = amount,
          .error = evaluation.inside.error,
          .data = mean_estimate(column_of(scores, "expected_entropy")),
          .knowledge = mean_estimate(column_of(scores, "mutual_information"))};
}

void add_models(ReasonsResult& result, const ImageRunOptions& options, Progress& progress) {
  const auto& plan = result.plan;
  const auto people = options.load ? options.load(plan.people) : load_set(plan.people);
  const auto entropy = label_entropy(people.inputs);
  const auto groups = groups_by_agreement(entropy);
  auto seen = run_image_experiment(plan.models, options, progress);
  if (seen.inside.size() != people.size())
    throw DataError(fmt::format("{} has {} rows, but {} has {}: both should have the same images", people.name,
                                people.size(), seen.inside.name, seen.inside.size()));
  BootstrapOptions bootstrap;
  bootstrap.seed = derive_seed(result.seed, "people");
  VerdictOptions verdicts;
  verdicts.seed = derive_seed(result.seed, "verdicts");
  for (const auto& model : seen.models) {
    const auto& evaluation = model.report.evaluation;
    result.models.push_back(
        {.model = model.plan.name,
         .run = model.report.run,
         .error = evaluation.inside.error,
         .people = correlate_with_people(evaluation.inside_scores, entropy, bootstrap),
         .verdicts = verdict_shares(evaluation.inside_scores, groups, unfamiliar_to(seen, model), verdicts)});
  }
  result.missing = std::move(seen.missing);
}

}  // namespace

ReasonsResult run_reasons(const ReasonsPlan& plan, const ImageRunOptions& options, Progress& progress) {
  ReasonsResult result;
  result.seed = plan.models.seed;
  result.plan = plan;
  if (has_chosen(plan.models)) add_models(result, options, progress);
  if (has_chosen(plan.amounts)) {
    const auto amounts = run_image_experiment(plan.amounts, options, progress);
    for (size_t i = 0; i < plan.amounts_of.size(); ++i)
      for (const auto& model : amounts.models)
        if (model.plan.name == plan.amounts.models[i].name)
          result.amounts.push_back(amount_result(plan.amounts_of[i], model.report.evaluation));
  }
  return result;
}

namespace {

ReasonsPlanOfSeed reasons_plan_by(const ExperimentOptions& options) {
  return [=](uint64_t seed) {
    return reasons_plan({options.profile, seed, options.overrides, static_cast<int64_t>(seed - options.seed)});
  };
}

/// One per seed.
std::vector<ReasonsPlan> reasons_plans(const ExperimentOptions& options) {
  std::vector<ReasonsPlan> plans;
  for (int64_t i = 0; i < options.seeds; ++i)
    plans.push_back(reasons_plan_by(options)(options.seed + static_cast<uint64_t>(i)));
  choose_reasons(plans, options);
  return plans;
}

ImageRunOptions beside_reasons(const ExperimentOptions& options) {
  return with_runs_beside(options, {"cifar10", "cifar10-modern", "openood", "relatives"});
}

}  // namespace

std::vector<TrainingCommand> reasons_networks(const ExperimentOptions& options) {
  std::vector<ImageExperiment> plans;
  for (const auto& plan : reasons_plans(options)) {
    plans.push_back(plan.models);
    plans.push_back(plan.amounts);
  }
  return plan_images(plans, options, beside_reasons(options));
}

ExperimentSummary reproduce_reasons(const ExperimentOptions& options, Progress& progress) {
  check_range("reproduce_reasons", "seeds", options.seeds >= 1, "at least 1", static_cast<double>(options.seeds));
  const auto start = std::chrono::steady_clock::now();
  // An unknown profile or setting leaves no folder behind.
  const auto plans = reasons_plans(options);
  std::optional<StoredReasons> stored;
  if (!options.only.empty() && std::filesystem::exists(options.out / "results.json"))
    stored = read_reasons(options.out, reasons_plan_by(options), options.seed);
  OutputFolder out(options.out);
  const auto run = run_options(options, beside_reasons(options));
  std::vector<ReasonsResult> results;
  for (const auto& plan : plans)
    if (has_chosen(plan.models) || has_chosen(plan.amounts)) results.push_back(run_reasons(plan, run, progress));
  auto record = describe_run();
  record.command = options.command;
  record.device = run.device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ExperimentSummary summary;
  if (stored) {
    summary.remarks = stored->remarks;
    results = with_kept_rows(std::move(results), std::move(*stored));
  }
  summary.tables = reasons_tables(results);
  out.write("results.json", to_json(results, record));
  out.write("table.csv", to_csv(long_form(summary.tables)));
  if (!can_render())
    summary.remarks.push_back(
        fmt::format("{}, then priornet report {} --format svg", kNoGnuplot, options.out.string()));
  for (const auto& [name, figure] : reasons_figures(means_over_seeds(results))) {
    if (!can_render()) break;
    out.write(name + ".svg", render(figure, FigureFormat::kSvg));
    out.write(name + ".png", render(figure, FigureFormat::kPng));
  }
  write_report(out);
  summary.files = out.files();
  return summary;
}

}  // namespace priornet
