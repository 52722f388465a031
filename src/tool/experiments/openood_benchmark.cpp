#include "tool/experiments/openood_benchmark.h"

#include <fmt/format.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/method.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tool/experiments/experiment.h"
#include "tool/experiments/image_results.h"
#include "tool/experiments/image_tables.h"
#include "tool/experiments/stored_images.h"

namespace priornet {
namespace {

/// What OpenOOD 1.5 prints for a method, in %: means over near and far sets, with standard deviations over 3 networks.
struct PublishedMethod {
  const char* method;
  const char* outliers;
  double near, near_deviation, far, far_deviation, error;
};

// results/cifar10.csv of https://github.com/Jingkang50/OpenOOD.
constexpr PublishedMethod kPublished[] = {
    {"OE", "TinyImageNet's 597 other classes", 94.82, 0.21, 96.00, 0.13, 5.37},
    {"RotPred + PixMix", "none (fractals mixed in)", 94.86, 0.14, 98.18, 0.14, 4.09},
    {"KNN", "none", 90.64, 0.20, 92.96, 0.14, 4.94},
    {"MSP", "none", 88.03, 0.25, 90.73, 0.43, 4.94},
};

constexpr size_t kNearSets = 2;  // the first of the sets; the others are far
constexpr std::array<std::string_view, 5> kCandidates = {"max_prob", "entropy", "mutual_information",
                                                         "differential_entropy", "energy"};

/// The models of cifar10, without sets yet.
ImageExperiment begin_openood(const ImagePlanOptions& options) {
  refuse_paper_profile(options, "openood");
  auto experiment = cifar10_experiment(options);
  experiment.name = "openood";
  experiment.title = titled("CIFAR-10 by OpenOOD's protocol", options.profile);
  experiment.lead =
      "The CIFAR-10 benchmark of OpenOOD 1.5 (Zhang et al., 2023) with priornet's networks: how well do they find "
      "images of other things, near (CIFAR-100, TinyImageNet) and far (MNIST, SVHN), compared with the methods that "
      "OpenOOD publishes?";
  experiment.published = {};
  experiment.outside.clear();
  experiment.remarks = begin_experiment(options).remarks;
  return experiment;
}

}  // namespace

ImageExperiment openood_experiment(const ImagePlanOptions& options) {
  auto experiment = begin_openood(options);
  experiment.inside = evaluated_set("openood:cifar10-test", 9'000, options);
  experiment.inside_title = "CIFAR-10, OpenOOD's 9,000 test images";
  experiment.outside = {{"CIFAR-100", evaluated_set("openood:cifar100-test", 9'000, options), ""},
                        {"TinyImageNet", evaluated_set("openood:tin-test", 7'793, options) + ",size=32", ""},
                        {"MNIST", evaluated_set("mnist:all", 70'000, options) + ",rgb,size=32", ""},
                        {"SVHN", evaluated_set("svhn:test", 26'032, options), ""}};
  return experiment;
}

ImageExperiment openood_validation(const ImagePlanOptions& options) {
  auto experiment = begin_openood(options);
  experiment.inside = "openood:cifar10-val";
  experiment.inside_title = "CIFAR-10, OpenOOD's 1,000 validation images";
  experiment.outside = {{"TinyImageNet, validation", "openood:tin-val,size=32", ""}};
  experiment.comparisons.clear();
  experiment.bootstrap.replicates = 2;  // the intervals are not used
  return experiment;
}

std::map<std::string, std::vector<ValidationAuroc>> validation_aurocs(const ImageResult& validation) {
  const auto& missing = validation.missing;
  if (!missing.empty())
    throw AbsentSet(
        fmt::format("openood needs {} to choose measures: {}", missing.front().plan.set, missing.front().remedy),
        missing.front().remedy);
  std::map<std::string, std::vector<ValidationAuroc>> aurocs;
  for (const auto& model : validation.models)
    for (const auto candidate : kCandidates)
      if (const auto* found = find_measure(model.report.evaluation.outside.front().detection, candidate))
        aurocs[model.plan.name].push_back({std::string(candidate), found->detection.auroc.value});
  return aurocs;
}

MeasureOfModel choose_measures(const std::vector<ImageResult>& seeds) {
  MeasureOfModel chosen;
  for (const auto& model : models_of_seeds(seeds)) {
    double best = -1.0;
    for (const auto candidate : kCandidates) {
      double sum = 0.0;
      int64_t count = 0;
      for (const auto* result : model.seeds)
        for (const auto& row : result->validation)
          if (row.measure == candidate) {
            sum += row.auroc;
            ++count;
          }
      if (count == 0 || sum / static_cast<double>(count) <= best) continue;
      best = sum / static_cast<double>(count);
      chosen[model.plan.name] = candidate;
    }
    if (!chosen.contains(model.plan.name))
      throw DataError(
          fmt::format("openood: {} has no AUROC on validation images to choose its measure by: name it "
                      "in --only, so that it is evaluated again",
                      model.plan.name));
  }
  return chosen;
}

namespace {

/// Whether a network saw images of the set's kind as out-of-distribution training data.
bool is_seen(const PlannedModel& model, const PlannedSet& set) {
  if (!method_info(model.config.method.name).needs_outside) return false;
  const auto source = parse_set_name(model.config.outside.source).set;
  const auto name = parse_set_name(set.set);
  return name.set == source || name.split.starts_with(source + "-");
}

std::string outliers_of(const PlannedModel& model) {
  const auto& config = model.config;
  if (!method_info(config.method.name).needs_outside) return "none";
  const auto added = config.outside.added.value_or(0);
  auto text = added == 0 ? config.outside.source : fmt::format("{}, {} made-up images", config.outside.source, added);
  if (model.teacher) text += fmt::format("; learnt from the {}", model.teacher->name);
  return text;
}

/// The number of networks is part of a result.
std::string row_name(const PlannedModel& model) {
  return model.config.members == 1 ? model.name + ", ours"
                                   : fmt::format("{}, ours, {} networks", model.name, model.config.members);
}

/// In %; without an interval if it is unknown.
Cell percent_cell(const Estimate& share, const char* mark = "") {
  const double value = 100 * share.value, margin = 100 * share.margin();
  return Cell::number(
      value, margin > 0 ? fmt::format("{:.2f} ± {:.2f}{}", value, margin, mark) : fmt::format("{:.2f}{}", value, mark));
}

class OpenOodTables {
 public:
  OpenOodTables(const std::vector<ImageResult>& seeds, const MeasureOfModel& measures)
      : seeds_(seeds), first_(seeds.front()), models_(models_of_seeds(seeds)), measures_(measures) {}

  Table benchmark() const {
    Table table{
        "OpenOOD 1.5, CIFAR-10: AUROC, in %", {"method", "ranked by", "outliers trained with", "near", "far"}, {}, {}};
    for (const auto& set : first_.outside) table.columns.push_back(set.title);
    table.columns.emplace_back("error");
    for (const auto& model : models_) {
      const auto& plan = model.plan;
      const auto& measure = measures_.at(plan.name);
      std::vector<Cell> row{row_name(plan), label_of(measure), outliers_of(plan)};
      for (const bool is_near : {true, false}) row.push_back(mean_cell(model, measure, is_near));
      for (size_t s = 0; s < first_.outside.size(); ++s) row.push_back(auroc_cell(model, s, measure));
      row.push_back(error_cell(model));
      table.add(std::move(row));
    }
    for (const auto& method : kPublished) {
      std::vector<Cell> row{
          fmt::format("{}, published", method.method), "-", method.outliers,
          Cell::number(method.near, fmt::format("{:.2f} ± {:.2f}", method.near, method.near_deviation)),
          Cell::number(method.far, fmt::format("{:.2f} ± {:.2f}", method.far, method.far_deviation))};
      row.resize(row.size() + first_.outside.size(), Cell("-"));
      row.push_back(Cell::number(method.error, 2));
      table.add(std::move(row));
    }
    table.notes = notes();
    return table;
  }

  Table details() const {
    Table table{"Each set, in %",
                {"method", "out of distribution", "AUROC", "AUPR, in-distribution positive",
                 "AUPR, out-of-distribution positive", "FPR at 95 % TPR"},
                {},
                {}};
    for (const auto& model : models_)
      for (size_t s = 0; s < first_.outside.size(); ++s) {
        if (!has_set(model, s)) continue;
        const auto& plan = model.plan;
        const auto& measure = measures_.at(plan.name);
        const auto metric = [&](auto&& pick) {
          return percent_cell(over(model, [&](const ModelResult& result) { return pick(row_of(result, s, measure)); }));
        };
        table.add({plan.name, first_.outside[s].title, auroc_cell(model, s, measure),
                   metric([](const MeasureDetection& row) { return certain(row.aupr_negatives); }),
                   metric([](const MeasureDetection& row) { return row.detection.aupr; }),
                   metric([](const MeasureDetection& row) { return row.detection.fpr95; })});
      }
    table.notes = {
        "As in OpenOOD, out-of-distribution inputs are the positives of AUROC and of FPR; the areas under the "
        "precision-recall curve are by trapezoids.",
        kSeenNote};
    return table;
  }

  Table measures() const {
    Table table{"AUROC by every measure, in %: near / far", {"method"}, {}, {}};
    for (const auto candidate : kCandidates) table.columns.push_back(label_of(candidate));
    for (const auto& model : models_) {
      std::vector<Cell> row{model.plan.name};
      for (const auto candidate : kCandidates) {
        const std::string measure(candidate);
        const bool has = has_measure(model, measure);
        const auto mean = [&](bool is_near) {
          return has_sets(model, is_near) ? fmt::format("{:.2f}", 100 * mean_auroc(model, measure, is_near).value)
                                          : "-";
        };
        row.push_back(has ? Cell(fmt::format("{} / {}", mean(true), mean(false))) : Cell("-"));
      }
      table.add(std::move(row));
    }
    table.notes.emplace_back(
        "The measure of the tables above was chosen by its AUROC on OpenOOD's validation images, "
        "1,000 of CIFAR-10 and 1,000 of TinyImageNet, which are in no other row.");
    return table;
  }

 private:
  static constexpr const char* kSeenNote =
      "* Not unseen: the network was trained against other images of the same source.";

  static const MeasureDetection& row_of(const ModelResult& result, size_t set, const std::string& measure) {
    const auto* row = find_measure(result.report.evaluation.outside.at(set).detection, measure);
    if (row == nullptr) throw ArgumentError(fmt::format("openood_tables: {} has no {}", result.plan.name, measure));
    return *row;
  }

  static bool has_measure(const ModelOfSeeds& model, const std::string& measure) {
    const auto& sets = model.seeds.front()->report.evaluation.outside;
    return std::any_of(sets.begin(), sets.end(),
                       [&](const OutsideEvaluation& set) { return find_measure(set.detection, measure) != nullptr; });
  }

  /// A row that was kept from an earlier run may lack a set.
  static bool has_set(const ModelOfSeeds& model, size_t set) {
    return std::all_of(model.seeds.begin(), model.seeds.end(),
                       [&](const ModelResult* result) { return result->has_set(set); });
  }

  /// Whether there are such sets and the model has them all: means over other sets cannot be compared.
  bool has_sets(const ModelOfSeeds& model, bool is_near) const {
    bool any = false;
    for (size_t s = 0; s < first_.outside.size(); ++s) {
      if (is_near_set(s) != is_near) continue;
      if (!has_set(model, s)) return false;
      any = true;
    }
    return any;
  }

  Cell auroc_cell(const ModelOfSeeds& model, size_t set, const std::string& measure) const {
    if (!has_set(model, set)) return {"-"};
    return percent_cell(auroc(model, set, measure), is_seen(model.plan, first_.outside[set]) ? " *" : "");
  }

  template <class Pick>
  static Estimate over(const ModelOfSeeds& model, Pick&& pick) {
    std::vector<Estimate> estimates;
    for (const auto* result : model.seeds) estimates.push_back(pick(*result));
    return over_seeds(estimates);
  }

  static Estimate auroc(const ModelOfSeeds& model, size_t set, const std::string& measure) {
    return over(model, [&](const ModelResult& result) { return row_of(result, set, measure).detection.auroc; });
  }

  /// For the sets that exist. The interval is given only for several seeds.
  Estimate mean_auroc(const ModelOfSeeds& model, const std::string& measure, bool is_near) const {
    return over(model, [&](const ModelResult& result) {
      double sum = 0.0, count = 0.0;
      for (size_t s = 0; s < first_.outside.size(); ++s) {
        if (is_near_set(s) != is_near) continue;
        sum += row_of(result, s, measure).detection.auroc.value;
        ++count;
      }
      return certain(count == 0 ? 0.0 : sum / count);
    });
  }

  /// Sets may be missing: near ones are known by their place in the plan.
  bool is_near_set(size_t set) const {
    const auto& planned = first_.experiment.outside;
    const auto at = std::find_if(planned.begin(), planned.end(),
                                 [&](const PlannedSet& plan) { return plan.set == first_.outside[set].set; });
    return at - planned.begin() < static_cast<std::ptrdiff_t>(kNearSets);
  }

  Cell mean_cell(const ModelOfSeeds& model, const std::string& measure, bool is_near) const {
    bool seen = false;
    for (size_t s = 0; s < first_.outside.size(); ++s)
      seen = seen || (is_near_set(s) == is_near && is_seen(model.plan, first_.outside[s]));
    return has_sets(model, is_near) ? percent_cell(mean_auroc(model, measure, is_near), seen ? " *" : "") : Cell("-");
  }

  static Cell error_cell(const ModelOfSeeds& model) {
    return percent_cell(
        over(model, [](const ModelResult& result) { return certain(result.report.evaluation.inside.error); }));
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes = {
        seeds_.size() > 1
            ? fmt::format("± half a 95 % interval: by Student's t, of the mean over {}, and by DeLong where there "
                          "is one ensemble; of published rows a standard deviation over 3 networks, one network each.",
                          seeds_text(origins_of(seeds_)))
            : std::string("± half a 95 % interval by DeLong; of published rows a standard deviation over 3 "
                          "networks."),
        kSeenNote,
        "Published: OpenOOD 1.5, a ResNet-18 trained for 100 epochs. Its OE was trained against images of "
        "TinyImageNet's kind, so not all of its near mean is unseen either.",
        "Far: here the mean of MNIST and SVHN; the published mean also includes Textures and Places365, which are not "
        "here. So the two means differ.",
        "OpenOOD numbers the images of CIFAR within their class; we assume that the numbers follow the order of the "
        "published files. As in OpenOOD's preprocessor, images that are not 32x32 are resized as Pillow does it, "
        "bilinear and antialiased, and grey images become RGB."};
    for (const auto& missing : first_.missing)
      notes.push_back(fmt::format("{} is missing: {}", missing.plan.title, missing.remedy));
    if (const auto note = origins_note(origins_of(seeds_)); !note.empty()) notes.push_back(note);
    for (const auto& remark : first_.experiment.remarks) notes.push_back(remark);
    return notes;
  }

  const std::vector<ImageResult>& seeds_;
  const ImageResult& first_;
  std::vector<ModelOfSeeds> models_;
  const MeasureOfModel& measures_;
};

}  // namespace

std::vector<Table> openood_tables(const std::vector<ImageResult>& seeds, const MeasureOfModel& measures) {
  const OpenOodTables tables(seeds, measures);
  std::vector<Table> all = {tables.benchmark(), tables.details(), tables.measures()};
  for (auto& comparison : comparison_tables(seeds)) all.push_back(std::move(comparison));
  return all;
}

namespace {

ImageRunOptions beside_openood(const ExperimentOptions& options) {
  return with_runs_beside(options, {"cifar10", "cifar10-modern", "reasons", "relatives"});
}

}  // namespace

std::vector<TrainingCommand> openood_networks(const ExperimentOptions& options) {
  return plan_images(chosen_plans(plan_by(openood_experiment, options), options), options, beside_openood(options));
}

ExperimentSummary reproduce_openood(const ExperimentOptions& options, Progress& progress) {
  // A benchmark that cannot be planned leaves no folder.
  const auto validation_plans = chosen_plans(plan_by(openood_validation, options), options);
  stored_rows(plan_by(openood_experiment, options), options);  // rows that cannot be kept are refused before training
  const OutputFolder out(options.out);
  const auto run = beside_openood(options);
  // Trains what is not trained yet; the test images are evaluated only after the measures are chosen.
  const auto plan = plan_by(openood_experiment, options);
  std::map<uint64_t, std::map<std::string, std::vector<ValidationAuroc>>> validation;  // by seed
  for (const auto& of_seed : validation_plans)
    validation[of_seed.seed] = validation_aurocs(run_image_experiment(of_seed, run_options(options, run), progress));
  return reproduce_images(
      [&](uint64_t seed) {
        auto experiment = plan(seed);
        if (const auto found = validation.find(seed); found != validation.end()) experiment.validation = found->second;
        experiment.tables = [](const std::vector<ImageResult>& seeds) {
          return openood_tables(seeds, choose_measures(seeds));
        };
        return experiment;
      },
      options, run, progress);
}

}  // namespace priornet
