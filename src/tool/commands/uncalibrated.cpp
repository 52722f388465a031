#include "tool/commands/uncalibrated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/evaluation.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>

#include "learning/base/names.h"
#include "learning/sets/path_set.h"
#include "tool/commands/terminal.h"

namespace priornet::tool {

ChosenDetectors chosen_detectors(const CalibrateOptions& options, const std::vector<std::string>& usable,
                                 const std::vector<std::string>& usual) {
  if (options.no_detectors && !(options.watch.empty() && options.detectors.empty()))
    throw Misuse("--no-detectors: cannot be given together with --watch or --detectors");
  ChosenDetectors chosen;
  if (!options.no_detectors) add_new_names(chosen.watched, options.watch.empty() ? usual : options.watch);
  chosen.kept = chosen.watched;
  const bool all = options.detectors == std::vector<std::string>{"all"};
  add_new_names(chosen.kept, all ? usable : options.detectors);
  for (const auto& name : chosen.kept) {
    const auto* info = find_detector(name);
    if (info == nullptr || info->is_measure)
      throw Misuse(fmt::format("there is no detector {}: should be one of {}", name, fmt::join(usable, ", ")));
    if (info->needs.gradients)
      throw Misuse(
          fmt::format("the detector {} needs passes of its own through the network, which a model file does not make: "
                      "should be one of {}",
                      name, fmt::join(usable, ", ")));
  }
  return chosen;
}

ChosenDetectors chosen_detectors(const CalibrateOptions& options, const Classifier& network) {
  return chosen_detectors(options, usable_detectors(network, false), watched_detectors(network));
}

bool learns(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return find_detector(name)->needs.training; });
}

Halves halves_of(const std::string& name, int64_t rows) {
  if (rows < 4) throw DataError(fmt::format("{}: has {} rows, needs at least 4", name, rows));
  auto generator = make_generator(derive_seed(0, "inputs that detectors learn from"));
  const auto order = torch::randperm(rows, generator, torch::kInt64);
  const auto half = rows / 2;
  const auto learnt_from = std::min(half, kDetectorTraining);
  note(fmt::format("detectors learn from {} of the {} inputs; the other {} calibrate", learnt_from, rows, rows - half));
  return {order.narrow(0, 0, learnt_from), std::get<0>(order.narrow(0, half, rows - half).sort())};
}

namespace {

// Batch by batch.
JudgedInputs judged_set(const ModelFile& model, const Dataset& set, const torch::Tensor& labels, Progress& progress) {
  Predictor predictor(model);
  const auto task = (model.points ? "verdicts on " : "scores of ") + set.name;
  const auto inputs = fit_to_run(set, model.run).inputs;
  constexpr int64_t kBatch = 1000;
  std::vector<Predictions> parts;
  for (int64_t first = 0; first < inputs.size(0); first += kBatch) {
    progress.report(task, first, inputs.size(0));
    parts.push_back(predictor.predict(inputs.narrow(0, first, std::min(kBatch, inputs.size(0) - first))));
  }
  progress.report(task, inputs.size(0), inputs.size(0));
  return {set.name, labels, Predictions::joined(parts)};
}

// Undefined without labels, or with those of other classes: then only what is rejected counts.
torch::Tensor labels_if_any(const TrainedRun& run, const Dataset& set) {
  try {
    return labels_for(run, set);
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace

Dataset set_for_shape(const std::string& name, const std::vector<int64_t>& shape, const CalibrateOptions& options,
                      const LoadOptions& load) {
  return options.no_resize ? load_set(name, load) : load_set_for_shape(name, shape, load);
}

UncalibratedModel uncalibrated_with_set(ModelFile model, const ChosenDetectors& chosen, Dataset set,
                                        const CalibrateOptions& options, const LoadOptions& load) {
  const auto labels = set.has_labels() ? labels_for(model.run, set) : torch::Tensor();
  return {std::move(model), chosen.watched,
          [set = std::move(set), labels, load](const ModelFile& judge) {
            return judged_set(judge, set, labels, *load.progress);
          },
          [options, load](const ModelFile& judge) {
            const auto set = set_for_shape(options.check, judge.preprocessing.shape, options, load);
            return judged_set(judge, set, labels_if_any(judge.run, set), *load.progress);
          }};
}

}  // namespace priornet::tool
