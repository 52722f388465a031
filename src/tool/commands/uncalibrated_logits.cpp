#include <fmt/format.h>
#include <priornet/learning/logits.h>
#include <priornet/uncertainty/errors.h>

#include <filesystem>

#include "tool/commands/uncalibrated.h"

namespace priornet::tool {
namespace {

/// Inputs with logits from another program; labels may be undefined.
struct LabelledOutputs {
  OwnOutputs outputs;
  torch::Tensor labels;

  LabelledOutputs select(const torch::Tensor& rows) const {
    return {outputs.select(rows), labels.defined() ? labels.index_select(0, rows) : labels};
  }
};

std::vector<NamedDetector> detectors_of_logits(const std::vector<std::string>& names, bool dirichlet,
                                               LabelledOutputs& calibration) {
  const bool features = calibration.outputs.features.defined();
  for (const auto& name : names)
    if (const auto reason = why_not_without_network(*find_detector(name), features); !reason.empty())
      throw DataError(fmt::format("the detector {} cannot be used: {}", name, reason));
  auto training = calibration;
  if (learns(names)) {
    const auto halves = halves_of(calibration.outputs.name, calibration.outputs.rows());
    training = calibration.select(halves.training);
    calibration = calibration.select(halves.calibration);
  }
  DetectorInputs seen;
  seen.logits = training.outputs.logits;
  seen.features = training.outputs.features;
  seen.labels = training.labels;
  seen.dirichlet = dirichlet;
  return fit_detectors(names, seen);
}

// Before detectors learn.
void refuse_check_without_features(const std::vector<std::string>& detectors) {
  for (const auto& name : detectors)
    if (find_detector(name)->needs.features)
      throw Misuse(
          fmt::format("--check: its logits have no features, and the detector {} looks at them: leave it out here, and "
                      "call priornet evaluate with the model file, --ood and --ood-features",
                      name));
}

}  // namespace

UncalibratedModel uncalibrated_logits(const CalibrateOptions& options) {
  refuse_without_run("--data", !options.data.empty());
  refuse_without_run("--checkpoint", options.checkpoint != "last");
  refuse_without_run("--dropout-samples", options.dropout_samples != 0);
  refuse_without_run("--no-resize", options.no_resize);
  LabelledOutputs calibration{own_outputs(options.logits), {}};
  const auto& outputs = calibration.outputs;
  const bool features = outputs.features.defined();
  if (!options.logits.labels.empty())
    calibration.labels = read_labels(options.logits.labels, outputs.rows(), outputs.classes());
  auto model = model_of_logits(options.logits, outputs, features ? outputs.features.size(1) : 0);
  model.name = std::filesystem::path(options.out.empty() ? outputs.name : options.out).stem().string();
  const auto chosen = chosen_detectors(options, usable_without_network(features),
                                       features ? std::vector<std::string>{"knn"} : std::vector<std::string>{});
  if (!options.check.empty()) refuse_check_without_features(chosen.kept);
  model.detectors = detectors_of_logits(chosen.kept, model.run.gives_dirichlet(), calibration);
  return {std::move(model), chosen.watched,
          [calibration](const ModelFile& judge) -> JudgedInputs {
            return {calibration.outputs.name, calibration.labels, judged(judge, calibration.outputs)};
          },
          [source = options.logits, check = options.check](const ModelFile& judge) -> JudgedInputs {
            return {check, {}, judged(judge, other_outputs(source, check))};
          }};
}

}  // namespace priornet::tool
