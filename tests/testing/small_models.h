#pragma once

#include <priornet/deploy/model_file.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <testing/silent.h>
#include <testing/trained_small_run.h>

namespace priornet {

/// References and rarities that suit any measure.
inline OperatingPoints small_points(const std::vector<std::pair<Verdict, std::string>>& watched) {
  OperatingPoints points;
  for (const auto& [cause, measure] : watched)
    points.watches.push_back({cause, measure, torch::linspace(-40, 0.5, 50, torch::kFloat64), 0});
  points.rarities = torch::linspace(0, 1, 40, torch::kFloat64);
  points.temperature = 1.5;
  points.calibration_set = "small:calibration";
  points.calibration_size = 90;
  set_thresholds(points);
  return points;
}

/// Detectors for a model of small_images, fitted on its training images.
inline std::vector<NamedDetector> small_detectors(const ModelFile& model, const std::vector<std::string>& names) {
  const auto train = small_sets().train;
  return fit_detectors(names, model.run.members, {train.inputs, train.labels, model.run.gives_dirichlet(), 1}, silent);
}

/// A trained network for small_images.
inline ModelFile small_model(const std::string& method = "dpn") {
  ModelFile model;
  model.name = "small";
  model.run = load_small_run(method);
  model.preprocessing.shape = {1, 8, 8};
  model.points =
      small_points({{Verdict::kUnfamiliar, method_info(method).gives_dirichlet ? "differential_entropy" : "energy"},
                    {Verdict::kAmbiguous, "entropy"}});
  model.provenance = {{"priornet", "0"}, {"seed", "1"}};
  return model;
}

/// An ensemble of two untrained networks for rows of three numbers.
inline ModelFile small_table_model(const std::string& method = "dpn") {
  ModelFile model;
  model.name = "rows";
  model.run.config.train = "./rows.csv";
  model.run.config.method.name = method;
  model.run.config.model.name = "mlp";
  model.run.config.model.dense = {{8}};
  model.run.config.model.keep_dense = 0.5;
  model.run.config.members = 2;
  model.run.class_names = {"no", "yes"};
  model.run.identity = "made up";
  auto options = model.run.config.model;
  options.input = {3};
  options.classes = 2;
  for (const uint64_t seed : {1, 2}) model.run.members.push_back(make_model(options, make_generator(seed)));
  for (const auto& member : model.run.members) member->eval();
  model.preprocessing.shape = {3};
  model.preprocessing.scale.mean = torch::tensor({1.0F, 2.0F, 3.0F});
  model.preprocessing.scale.deviation = torch::tensor({1.0F, 0.5F, 2.0F});
  model.preprocessing.feature_names = {"a", "b", "c"};
  return model;
}

/// Detectors for it, fitted on 40 rows.
inline std::vector<NamedDetector> small_table_detectors(const ModelFile& model, const std::vector<std::string>& names) {
  const auto rows = torch::randn({40, 3}, make_generator(3));
  return fit_detectors(names, model.run.members,
                       {rows, rows.select(1, 0).gt(0).to(torch::kInt64), model.run.gives_dirichlet(), 1}, silent);
}

/// Thresholds for logits that come from outside, with two classes, three features and every detector.
inline ModelFile small_logits_model() {
  ModelFile model;
  model.name = "elsewhere";
  model.own_logits = OwnLogits{1, 3};
  model.run.config.method.name = "dnn";
  model.run.config.train = "val.npy";
  model.run.class_names = {"no", "yes"};
  model.preprocessing.shape = {5};
  auto generator = make_generator(3);
  DetectorInputs training;
  training.logits = torch::randn({30, 2}, generator);
  training.features = torch::randn({30, 3}, generator);
  training.labels = torch::arange(30, torch::kInt64).remainder(2);
  model.detectors = fit_detectors(usable_without_network(true), training);
  model.points = small_points({{Verdict::kUnfamiliar, "energy"}, {Verdict::kUnfamiliar, "knn"}});
  return model;
}

}  // namespace priornet
