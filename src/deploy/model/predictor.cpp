#include <priornet/deploy/predictor.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/images.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/scoring.h>
#include <priornet/learning/training_sets.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "learning/base/kept_random_state.h"

namespace priornet {
namespace {

template <typename Value>
void append_rows(std::vector<Value>& to, const std::vector<Value>& from, int64_t begin, int64_t count, int64_t width) {
  if (from.empty()) return;
  to.insert(to.end(), from.begin() + begin * width, from.begin() + (begin + count) * width);
}

template <typename Value>
std::vector<Value> listed(const torch::Tensor& values) {
  const auto flat = values.contiguous();
  return {flat.data_ptr<Value>(), flat.data_ptr<Value>() + flat.numel()};
}

}  // namespace

void PlainPredictions::append(const PlainPredictions& from, int64_t begin, int64_t count) {
  rows += count;
  classes = from.classes;
  append_rows(prediction, from.prediction, begin, count, 1);
  append_rows(probability, from.probability, begin, count, 1);
  append_rows(probabilities, from.probabilities, begin, count, classes);
  append_rows(log_alpha, from.log_alpha, begin, count, classes);
  append_rows(decisions, from.decisions, begin, count, 1);
  scores.resize(from.scores.size());
  for (size_t i = 0; i < scores.size(); ++i) append_rows(scores[i], from.scores[i], begin, count, 1);
}

std::vector<double> PlainPredictions::alphas() const {
  auto values = log_alpha;
  for (auto& value : values) value = std::min(std::exp(value), std::numeric_limits<double>::max());
  return values;
}

PlainPredictions plain_predictions(const Predictions& said) {
  PlainPredictions answers;
  answers.rows = said.size();
  answers.classes = said.probabilities.size(1);
  answers.prediction = listed<int64_t>(said.prediction);
  answers.probability = listed<double>(said.probability);
  answers.probabilities = listed<double>(said.probabilities);
  if (said.log_alpha.defined()) answers.log_alpha = listed<double>(said.log_alpha);
  for (const auto& column : said.scores) answers.scores.push_back(listed<double>(column.values));
  answers.decisions = said.decisions;
  return answers;
}

Predictions Predictions::joined(const std::vector<Predictions>& batches) {
  auto whole = batches.at(0);
  const auto join = [&](auto part, int64_t dimension = 0) {
    std::vector<torch::Tensor> tensors;
    for (const auto& one : batches) tensors.push_back(part(one));
    return torch::cat(tensors, dimension);
  };
  whole.prediction = join([](const auto& one) { return one.prediction; });
  whole.probability = join([](const auto& one) { return one.probability; });
  whole.probabilities = join([](const auto& one) { return one.probabilities; });
  whole.logits = join([](const auto& one) { return one.logits; }, whole.logits.dim() - 2);
  if (whole.log_alpha.defined()) whole.log_alpha = join([](const auto& one) { return one.log_alpha; });
  for (size_t c = 0; c < whole.scores.size(); ++c)
    whole.scores[c].values = join([c](const auto& one) { return one.scores[c].values; });
  whole.decisions.clear();
  for (const auto& one : batches)
    whole.decisions.insert(whole.decisions.end(), one.decisions.begin(), one.decisions.end());
  return whole;
}

nlohmann::ordered_json prediction_json(const PredictionNames& names, const PlainPredictions& said, int64_t row) {
  const auto at = static_cast<size_t>(row);
  nlohmann::ordered_json json = {{"prediction", names.classes.at(static_cast<size_t>(said.prediction.at(at)))},
                                 {"probability", said.probability.at(at)}};
  for (size_t s = 0; s < names.scores.size(); ++s) json[names.scores[s]] = said.scores.at(s).at(at);
  if (said.decisions.empty()) return json;
  json["p_value"] = said.decisions.at(at).p_value;
  json["verdict"] = verdict_name(said.decisions[at].verdict);
  json["verdict_by"] = said.decisions[at].watch;
  return json;
}

namespace {

// Dropout draws from LibTorch's own generator, and a process has only one.
std::mutex& dropout_generator() {
  static std::mutex mutex;
  return mutex;
}

// [S, N, K] for inputs; `as_given` are the inputs before preprocessing, on the CPU, contiguous. Each input has its own
// dropout masks, drawn from its bytes: the same whatever other inputs are in the batch. With the same masks for all
// inputs, calibration would not see how much masks matter, and an export, which draws them again, would reject too
// many.
torch::Tensor dropout_logits(Classifier& network, const DropoutBatch& batch, int64_t samples,
                             const torch::Tensor& as_given) {
  const auto size = as_given.nbytes() / static_cast<size_t>(as_given.size(0));
  const auto* bytes = static_cast<const char*>(as_given.data_ptr());
  const std::lock_guard lock(dropout_generator());
  const KeptRandomState kept;
  std::vector<torch::Tensor> logits;
  for (int64_t i = 0; i < batch.fixed.size(0); ++i) {
    auto shape = batch.fixed.sizes().vec();
    shape[0] = samples;
    torch::manual_seed(derive_seed(batch.member, {bytes + static_cast<size_t>(batch.first + i) * size, size}));
    logits.push_back(network.from_dropout(batch.fixed.narrow(0, i, 1).expand(shape).contiguous()));
  }
  return torch::stack(logits, 1);
}

// [M, N, K], or [N, K] for one network and one pass; `pass` sees the activations. `as_given` on the CPU, contiguous:
// `inputs` before preprocessing.
torch::Tensor logits_of(const ModelFile& model, const torch::Tensor& inputs, const torch::Tensor& as_given,
                        DetectorPass& pass) {
  InferenceOptions options;
  options.batch = batch_suiting(model.run.device());
  AskOptions ask;
  if (model.dropout_samples > 0)
    ask.dropout = [&](Classifier& network, const DropoutBatch& batch) {
      return dropout_logits(network, batch, model.dropout_samples, as_given);
    };
  pass.join(ask);
  const auto logits = logits_of_networks(model.run.members, inputs, options, ask);
  return logits.size(0) == 1 && model.dropout_samples == 0 ? logits[0] : logits;
}

torch::Tensor mean_dirichlet(const torch::Tensor& logits) {
  if (logits.dim() == 2) return logits;
  return torch::logsumexp(logits, 0) - std::log(static_cast<double>(logits.size(0)));
}

void check_inputs(const torch::Tensor& inputs, const Preprocessing& preprocessing) {
  const bool images = preprocessing.takes_images();
  const auto wanted = images ? torch::kUInt8 : torch::kFloat32;
  if (inputs.dim() < 1 || inputs.scalar_type() != wanted ||
      inputs.sizes().slice(1) != torch::IntArrayRef(preprocessing.shape))
    throw ArgumentError(fmt::format("predict: inputs should be {} [N, {}], found {} [{}]", torch::toString(wanted),
                                    fmt::join(preprocessing.shape, ", "), torch::toString(inputs.scalar_type()),
                                    fmt::join(inputs.sizes(), ", ")));
  if (images || inputs.numel() == 0 || inputs.isfinite().all().item<bool>()) return;
  const auto row = inputs.isfinite().all(1).logical_not().nonzero()[0].item<int64_t>();
  throw ArgumentError(fmt::format("predict: inputs should be finite numbers, row {} (counted from 0) is not", row));
}

}  // namespace

std::vector<std::string> score_names(const ModelFile& model) {
  const auto logits = model.asks_several() ? torch::zeros({2, 1, 2}) : torch::zeros({1, 2});
  std::vector<std::string> names;
  for (const auto& column : scores_of_logits(logits, model.run.gives_dirichlet(), 0).columns)
    names.push_back(column.name);
  for (const auto& one : model.detectors) names.push_back(one.name);
  return names;
}

const torch::Tensor* Predictions::score(std::string_view name) const {
  const auto found =
      std::find_if(scores.begin(), scores.end(), [&](const auto& column) { return column.name == name; });
  return found == scores.end() ? nullptr : &found->values;
}

namespace {

void check_outputs(const ModelFile& model, const torch::Tensor& logits, const torch::Tensor& features) {
  const auto classes = static_cast<int64_t>(model.run.class_names.size());
  const bool several = model.asks_several();
  const bool fits = logits.dim() == (several ? 3 : 2) && logits.size(-1) == classes;
  if (!fits || (model.own_logits && several && logits.size(0) != model.own_logits->members)) {
    const auto members = model.own_logits ? fmt::format("{}", model.own_logits->members) : "M";
    throw ArgumentError(fmt::format("{}: logits should be [{}N, {}], found [{}]", model.name,
                                    several ? members + ", " : "", classes, fmt::join(logits.sizes(), ", ")));
  }
  if (features.defined() && (features.dim() != 2 || features.size(0) != logits.size(-2)))
    throw ArgumentError(fmt::format("{}: features should be [{}, F], found [{}]", model.name, logits.size(-2),
                                    fmt::join(features.sizes(), ", ")));
}

/// `columns`: the scores of the model's detectors, in their order.
Predictions judged(const ModelFile& model, const torch::Tensor& logits_as_given, std::vector<NamedTensor> columns) {
  Predictions result;
  const auto logits = logits_as_given.to(torch::kCPU).to(torch::kFloat64);
  const auto numbers = listed<double>(logits);
  if (!std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); }))
    throw DataError(fmt::format("{}: the network's logits for an input are not finite", model.name));
  const bool dirichlet = model.run.gives_dirichlet();
  auto scores = scores_of_logits(logits, dirichlet, 0);
  result.scores = std::move(scores.columns);
  for (auto& column : columns) result.scores.push_back(std::move(column));
  const auto temperature = model.points ? model.points->temperature : 1.0;
  result.probabilities = std::move(scores.probabilities);
  if (temperature != 1.0) result.probabilities = probabilities_at(logits, temperature);
  std::tie(result.probability, result.prediction) = result.probabilities.max(1);
  if (dirichlet) result.log_alpha = mean_dirichlet(logits);
  result.logits = logits;
  if (!model.points) return result;
  std::vector<torch::Tensor> watched;
  for (const auto& watch : model.points->watches) {
    const auto* values = result.score(watch.measure);
    if (values == nullptr)
      throw DataError(fmt::format("{}: watches {}, which its network does not give", model.name, watch.measure));
    watched.push_back(*values);
  }
  result.decisions = decide(*model.points, watched, result.prediction);
  return result;
}

/// Rows of logits, member after member, and features.
Predictions judged_rows(const ModelFile& model, const torch::Tensor& rows) {
  const auto classes = static_cast<int64_t>(model.run.class_names.size());
  const auto [members, features] = *model.own_logits;
  auto logits = rows.narrow(1, 0, members * classes);
  if (members > 1) logits = logits.reshape({rows.size(0), members, classes}).transpose(0, 1);
  return judge_logits(model, logits, features > 0 ? rows.narrow(1, members * classes, features) : torch::Tensor());
}

}  // namespace

Predictions judge_logits(const ModelFile& model, const torch::Tensor& logits, const torch::Tensor& features) {
  const torch::NoGradGuard no_gradient;
  check_outputs(model, logits, features);
  const bool dirichlet = model.run.gives_dirichlet();
  if (logits.size(-2) == 0)
    return judged(model, logits, DetectorPass(model.detectors, model.run.members, dirichlet).columns());
  for (const auto& [name, detector] : model.detectors)
    if (const auto reason = why_not_without_network(*find_detector(name), features.defined()); !reason.empty())
      throw DataError(
          fmt::format("{}: has the detector {}, which cannot judge these logits: {}", model.name, name, reason));
  DetectorInputs seen;
  seen.logits = logits.to(torch::kCPU);
  if (features.defined()) seen.features = features.to(torch::kCPU).to(torch::kFloat32);
  seen.dirichlet = dirichlet;
  return judged(model, logits, detector_columns(model.detectors, seen));
}

Predictions judge_again(const ModelFile& model, const Predictions& said) {
  const auto detectors = static_cast<std::ptrdiff_t>(model.detectors.size());
  return judged(model, said.logits, {said.scores.end() - detectors, said.scores.end()});
}

Predictor::Predictor(ModelFile model) : model_(std::move(model)) {
  if (!model_.own_logits) check_networks("Predictor", model_);
}

Predictions Predictor::predict(const torch::Tensor& inputs) {
  check_inputs(inputs, model_.preprocessing);
  const torch::NoGradGuard no_gradient;
  const std::lock_guard lock(one_at_a_time_);
  if (model_.own_logits) return judged_rows(model_, inputs);
  const auto classes = static_cast<int64_t>(model_.run.class_names.size());
  const bool several = model_.asks_several();
  auto logits = several ? torch::empty({1, 0, classes}) : torch::empty({0, classes});
  const auto rows = inputs.to(torch::kCPU).contiguous();
  DetectorPass pass(model_.detectors, model_.run.members, model_.run.gives_dirichlet());
  if (rows.size(0) > 0) logits = logits_of(model_, model_.preprocessing.scale.applied(rows), rows, pass);
  return judged(model_, logits, pass.columns());
}

namespace {

// DataError unless images of that size are taken, or resized.
void check_image(const ModelFile& model, int64_t height, int64_t width) {
  const auto& shape = model.preprocessing.shape;
  if (!model.preprocessing.takes_images())
    throw DataError(fmt::format("{}: takes rows of {} numbers, not images", model.name, shape.at(0)));
  if (!model.preprocessing.resize && (height != shape[1] || width != shape[2]))
    throw DataError(fmt::format("has {} x {} pixels; the model takes {} x {} and resizes nothing", height, width,
                                shape[1], shape[2]));
}

ImageShape image_shape_of(const ModelFile& model) {
  const auto& shape = model.preprocessing.shape;
  return {shape[0], shape[1], shape[2]};
}

}  // namespace

torch::Tensor Predictor::fitted(const torch::Tensor& image) const {
  if (image.dim() != 3 || image.scalar_type() != torch::kUInt8)
    throw ArgumentError("fitted: an image should be uint8 [C, H, W]");
  check_image(model_, image.size(1), image.size(2));
  return fit_to({"the image", image.unsqueeze(0), {}, {}, {}}, image_shape_of(model_)).inputs[0];
}

torch::Tensor Predictor::decoded(std::string_view bytes, const std::string& name) const {
  const auto facts = image_facts(bytes, name);
  check_image(model_, facts.height, facts.width);
  return decode_fitted(bytes, name, image_shape_of(model_));
}

}  // namespace priornet
