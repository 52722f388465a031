#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/model_layout.h>
#include <priornet/train/checkpoint.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

using ModelJson = nlohmann::ordered_json;

ModelJson json_of(const Preprocessing& preprocessing) {
  return {{"shape", preprocessing.shape},
          {"resize", preprocessing.resize},
          {"standardise", preprocessing.mean.defined()},
          {"feature_names", preprocessing.feature_names}};
}

ModelJson json_of(const OperatingPoints& points) {
  auto watches = ModelJson::array();
  for (const auto& watch : points.watches)
    watches.push_back({{"cause", verdict_name(watch.cause)}, {"measure", watch.measure}});
  return {{"watches", watches},
          {"false_alarm", points.false_alarm},
          {"temperature", points.temperature},
          {"calibration_set", points.calibration_set},
          {"calibration_size", points.calibration_size}};
}

}  // namespace

void check_networks(const char* function, const ModelFile& model) {
  if (model.run.members.empty())
    throw ArgumentError(fmt::format("{}: the model should have a network, has none", function));
  if (model.dropout_samples > 0 && !model.run.members[0]->has_dropout())
    throw ArgumentError(
        fmt::format("{}: the network has no dropout, so that its dropout samples would all be the same", function));
}

void write_model_file(const std::filesystem::path& path, const ModelFile& model) {
  std::vector<NamedTensor> tensors;
  for (size_t m = 0; m < model.run.members.size(); ++m)
    for (const auto& [name, values] : weights_of(*model.run.members[m]))
      tensors.push_back({model_layout::member_prefix(m) + name, values});
  if (model.preprocessing.mean.defined()) {
    tensors.push_back({model_layout::kMean, model.preprocessing.mean});
    tensors.push_back({model_layout::kDeviation, model.preprocessing.deviation});
  }
  ModelJson json = {{"name", model.name},
                    {"classes", model.run.class_names},
                    {"members", model.run.members.size()},
                    {"dropout_samples", model.dropout_samples},
                    {"preprocessing", json_of(model.preprocessing)},
                    {"identity", model.run.identity},
                    {"config", to_toml(model.run.config)},
                    {"provenance", model.provenance}};
  if (model.points) {
    check_points(*model.points);
    json["points"] = json_of(*model.points);
    for (size_t w = 0; w < model.points->watches.size(); ++w)
      tensors.push_back({model_layout::reference_of(w), model.points->watches[w].reference});
    tensors.push_back({model_layout::kCombined, model.points->combined});
  }
  const auto text = json.dump(-1, ' ', false, ModelJson::error_handler_t::replace);
  write_tensor_file(
      path, tensors,
      {{model_layout::kVersionKey, fmt::format("{}", model_layout::kVersion)}, {model_layout::kModelKey, text}});
}

}  // namespace priornet
