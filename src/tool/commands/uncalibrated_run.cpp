#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/evaluation.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <iterator>

#include "tool/commands/terminal.h"
#include "tool/commands/uncalibrated.h"

namespace priornet::tool {
namespace {

// From the set that a run was trained on.
Dataset kept_rows_of(const Dataset& whole, const TrainedRun& run) {
  auto set = select(whole, run.split.calibration_rows);
  set.name = whole.name + " (rows kept back)";
  return set;
}

Dataset rows_kept_back(const TrainedRun& run, const std::string& folder, const LoadOptions& load) {
  const auto& rows = run.split.calibration_rows;
  if (!rows.defined())
    throw DataError(fmt::format(
        "{}: kept no rows back for calibration: give --data a set that the run did not learn from", folder));
  const auto whole = load_set(run.config.train, load);
  if (rows.numel() == 0 || rows.max().item<int64_t>() >= whole.size())
    throw DataError(
        fmt::format("{}: has {} rows, fewer than when {} was trained on it", run.config.train, whole.size(), folder));
  if (!run.split.may_be_of(training_content(whole)))
    throw DataError(
        fmt::format("{}: its rows have changed since {} was trained on it, so the rows kept back cannot be found: give "
                    "--data a set that the run did not learn from",
                    run.config.train, folder));
  return kept_rows_of(whole, run);
}

struct HeldOut {
  Dataset set;
  bool kept_back = false;  ///< from the set that the run was trained on: drawn from it at random
};

HeldOut held_out(const TrainedRun& run, const CalibrateOptions& options, const LoadOptions& load) {
  if (options.data.empty()) return {rows_kept_back(run, options.run, load), true};
  auto set = set_for_shape(options.data, run.members.at(0)->input_shape(), options, load);
  // Whether this is the set that the run was trained on, moved or not: then the rows that it kept back are known.
  const auto& split = run.split;
  if (split.calibration_rows.defined() && !split.content.empty() && split.content == training_content(set))
    return {kept_rows_of(set, run), true};
  if (is_same_set(options.data, run.config.train))
    warn(fmt::format("the run learnt from {}: on new inputs there will be more false alarms than promised",
                     options.data));
  return {std::move(set), false};
}

/// Detectors and, if rows are few, their scores of held-out rows and then of the rows that the run learnt from.
struct LearntDetectors {
  std::vector<NamedDetector> detectors;
  std::vector<NamedTensor> cross_validated = {};
};

// If few rows of a table were kept back at random, they are like those that the run learnt from. Detectors of columns
// do not depend on the network, so all rows calibrate them: each row is scored by detectors that did not learn from it.
// The detectors in the model file then learn from all rows.
bool are_cross_validated(const ChosenDetectors& chosen, const HeldOut& held, const DetectorTraining& training,
                         const CalibrateOptions& options) {
  return held.kept_back && held.set.size() < kFewCalibrationInputs && !options.calibration.per_class &&
         held.set.size() + training.inputs.size(0) <= kDetectorTraining && !chosen.watched.empty() &&
         std::all_of(chosen.watched.begin(), chosen.watched.end(), [](const std::string& name) {
           const auto& info = *find_detector(name);
           return info.needs.rows && judges_inputs_alone(info);
         });
}

// Unless they are cross-validated, detectors learn from the rows that the run learnt from, and never from rows that
// were kept back.
LearntDetectors detectors_of_run(const ChosenDetectors& chosen, const TrainedRun& run, const HeldOut& held,
                                 const CalibrateOptions& options, Progress& progress) try {
  if (chosen.kept.empty()) return {};
  const auto training = training_of(run, progress);
  if (!are_cross_validated(chosen, held, training, options))
    return {fit_detectors(chosen.kept, run.members, training, progress)};
  const auto rows = run.split.standardised(fit_to_run(held.set, run).inputs);
  auto judged = cross_validate(chosen.watched, torch::cat({rows, training.inputs}),
                               torch::cat({labels_for(run, held.set), training.labels}));
  note(fmt::format("{} learn from all {} rows, and all of them calibrate, by cross-validation in {} parts",
                   fmt::join(chosen.watched, ", "), rows.size(0) + training.inputs.size(0), kCrossValidationParts));
  for (auto& [name, detector] : judged.detectors) detector->to(run.device());
  auto others =
      fit_detectors({chosen.kept.begin() + static_cast<std::ptrdiff_t>(chosen.watched.size()), chosen.kept.end()},
                    run.members, training, progress);
  std::move(others.begin(), others.end(), std::back_inserter(judged.detectors));
  return {std::move(judged.detectors), std::move(judged.columns)};
} catch (const DataError& error) {
  throw DataError(
      fmt::format("{}; detectors learn from the run's training set: --no-detectors does without them", error.what()));
}

void say_whether_finished(const std::string& run, int64_t epochs) {
  const auto trained = epochs_trained(run);
  if (trained < epochs)
    warn(fmt::format("{}: training did not finish: {} of {} epochs are done (train --resume goes on)", run, trained,
                     epochs));
}

}  // namespace

UncalibratedModel uncalibrated_run(const CalibrateOptions& options, LoadOptions load) {
  OpenOptions open(chosen_device(options.device),
                   options.checkpoint == "best" ? WhichCheckpoint::kBest : WhichCheckpoint::kLast);
  open.allow_torchscript = options.allow_torchscript;
  auto model = model_of_run(options.run, open);
  model.dropout_samples = options.dropout_samples;
  check_networks("--dropout-samples", model);  // before detectors learn
  say_whether_finished(options.run, model.run.config.epochs);
  model.provenance["checkpoint"] = options.checkpoint;
  const auto chosen = chosen_detectors(options, *model.run.members.at(0));
  load.encoding = model.run.split.encoding;
  auto held = held_out(model.run, options, load);
  auto learnt = detectors_of_run(chosen, model.run, held, options, *load.progress);
  model.detectors = std::move(learnt.detectors);
  auto result = uncalibrated_with_set(std::move(model), chosen, std::move(held.set), options, load);
  result.cross_validated = std::move(learnt.cross_validated);
  return result;
}

}  // namespace priornet::tool
