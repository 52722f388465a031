#include <priornet/deploy/serve/model_description.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

namespace priornet::serving {

int64_t ModelDescription::values_a_row() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<OutputDescription> outputs_of(const ModelDescription& model) {
  std::vector<OutputDescription> outputs = {
      {"prediction", "INT64"}, {"probability", "FP64"}, {"probabilities", "FP64", true}};
  if (model.gives_dirichlet) outputs.push_back({"alphas", "FP64", true});
  for (const auto& measure : model.measures) outputs.push_back({measure, "FP64"});
  if (model.calibrated) {
    outputs.push_back({"p_value", "FP64"});
    outputs.push_back({"verdict", "BYTES"});
  }
  return outputs;
}

std::string metadata_json(const ModelDescription& model) {
  std::vector<int64_t> shape = {-1};
  shape.insert(shape.end(), model.shape.begin(), model.shape.end());
  nlohmann::json outputs = nlohmann::json::array();
  for (const auto& output : outputs_of(model)) {
    std::vector<int64_t> dimensions = {-1};
    if (output.by_class) dimensions.push_back(static_cast<int64_t>(model.class_names.size()));
    outputs.push_back({{"name", output.name}, {"datatype", output.datatype}, {"shape", dimensions}});
  }
  nlohmann::json watches = nlohmann::json::array();
  for (const auto& watch : model.watches)
    watches.push_back(
        {{"cause", verdict_name(watch.cause)}, {"measure", watch.measure}, {"threshold", watch.threshold}});
  nlohmann::json parameters = {{"method", model.method},
                               {"class_names", model.class_names},
                               {"feature_names", model.feature_names},
                               {"feature_means", model.feature_means},
                               {"feature_deviations", model.feature_deviations},
                               {"measures", model.measures},
                               {"dirichlet", model.gives_dirichlet},
                               {"calibrated", model.calibrated},
                               {"watches", watches},
                               {"provenance", model.provenance}};
  if (model.calibrated) parameters["false_alarm"] = model.false_alarm;
  const nlohmann::json input = {
      {"name", "input"}, {"datatype", model.takes_images() ? "UINT8" : "FP32"}, {"shape", shape}};
  return nlohmann::json{{"name", model.name},     {"versions", {"1"}},
                        {"platform", "priornet"}, {"inputs", nlohmann::json::array({input})},
                        {"outputs", outputs},     {"parameters", parameters}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace priornet::serving
