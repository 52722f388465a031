#pragma once

#include <priornet/deploy/predictor.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/uncertainty/random.h>
#include <testing/silent.h>
#include <testing/small_networks.h>

// Models of every kind with inputs, to be exported and compared with the library's own answers. Weights are random: the
// cases only have to contain each operator and each branch of the measures.

namespace priornet {

struct ExportCase {
  std::string name;
  ModelFile model;
  torch::Tensor inputs;
  int64_t calibration_rows;  ///< how many of the first inputs the operating points come from
};

constexpr int64_t kCalibrationRows = 600;

/// Operating points from what the model says about its first inputs.
inline OperatingPoints points_from(const ModelFile& model, const torch::Tensor& inputs,
                                   const std::vector<std::pair<Verdict, std::string>>& watched) {
  auto points = calibrate(Predictor(model).predict(inputs.slice(0, 0, kCalibrationRows)), {}, watched, {0.2, false});
  points.temperature = 1.7;
  return points;
}

inline ModelFile random_model(const std::string& method, ModelOptions options, int64_t members) {
  ModelFile model;
  model.name = options.name;
  model.run.config.method.name = method;
  model.run.config.members = members;
  model.run.config.model = options;
  for (int64_t c = 0; c < options.classes; ++c) model.run.class_names.push_back("class " + std::to_string(c));
  const torch::NoGradGuard no_gradient;
  for (int64_t m = 0; m < members; ++m) {
    auto generator = make_generator(static_cast<uint64_t>(m) + 1);
    auto network = make_model(options, generator);
    for (const auto& item : network->named_buffers())
      if (item.key().find("running_mean") != std::string::npos)
        item.value().uniform_(-0.3, 0.3, generator);
      else if (item.key().find("running_var") != std::string::npos)
        item.value().uniform_(1.0, 3.0, generator);
    for (const auto& item : network->named_parameters())
      if (item.value().dim() == 1) item.value().add_(torch::randn(item.value().sizes(), generator).mul_(0.1));
    network->eval();
    model.run.members.push_back(std::move(network));
  }
  model.preprocessing.shape = options.input;
  model.provenance = {{"seed", "1"}};
  return model;
}

/// A model whose inputs are its logits; its members multiply each class by a number close to 1. Each logit is one
/// product, so machines that sum in another order give the same logits, and a test compares the measures alone.
inline ModelFile logits_model(const std::string& method, int64_t members) {
  ModelOptions options;
  options.name = "mlp";
  options.input = {10};
  options.classes = 10;
  options.dense = std::vector<int64_t>{};
  auto model = random_model(method, options, members);
  const torch::NoGradGuard no_gradient;
  for (int64_t m = 0; m < members; ++m) {
    auto parameters = model.run.members[static_cast<size_t>(m)]->parameters();
    parameters[0].copy_(torch::diag(1.0 + 0.3 * static_cast<double>(m) * parameters[0].diagonal()));
    parameters[1].zero_();
  }
  return model;
}

/// Logits of every kind in [-80, 80]: wide and narrow, flat, with one class far ahead.
inline torch::Tensor hostile_logits(int64_t count) {
  auto generator = make_generator(7);
  const auto wide = torch::rand({count, 10}, generator) * 160 - 80;
  const auto scales = torch::tensor({0.01F, 0.3F, 3.0F, 12.0F, 30.0F});
  const auto pick = torch::randint(0, 5, {count}, generator, torch::kInt64);
  const auto offset = torch::rand({count, 1}, generator) * 100 - 50;
  auto rows = torch::randn({count, 10}, generator) * scales.index_select(0, pick).unsqueeze(1) + offset;
  const auto kind = torch::arange(count).remainder(4).unsqueeze(1);
  rows = torch::where(kind.eq(0), wide, rows);
  // Flat logits come late, so that no operating point comes from them: they are equal except for rounding.
  const auto late = torch::arange(count).unsqueeze(1).ge(kCalibrationRows);
  rows = torch::where(kind.eq(1).logical_and(late), offset.expand({count, 10}), rows);
  const auto ahead = torch::zeros({count, 10}).scatter_(1, pick.unsqueeze(1), 30.0);
  return torch::where(kind.eq(2), rows + ahead, rows).clamp(-80, 80).contiguous();
}

/// Every detector that can be exported, fitted on made-up inputs as the networks take them.
inline std::vector<NamedDetector> exported_detectors(const ModelFile& model, const torch::Tensor& inputs) {
  auto names = usable_detectors(*model.run.members[0], false);
  std::erase_if(names, [](const auto& name) { return name == "ash" || name == "image_statistics"; });
  const auto labels = torch::arange(inputs.size(0)).remainder(static_cast<int64_t>(model.run.class_names.size()));
  return fit_detectors(names, model.run.members, {inputs, labels, model.run.gives_dirichlet(), 1}, silent);
}

inline std::vector<ExportCase> export_cases(int64_t count) {
  auto generator = make_generator(11);
  std::vector<ExportCase> cases;
  const auto add = [&](std::string name, ModelFile model, const torch::Tensor& inputs,
                       const std::vector<std::pair<Verdict, std::string>>& watched) {
    model.name = name;
    if (!watched.empty()) model.points = points_from(model, inputs, watched);
    cases.push_back({std::move(name), std::move(model), inputs, watched.empty() ? 0 : kCalibrationRows});
  };
  const auto images = [&](int64_t channels) {
    return torch::randint(0, 256, {count, channels, 9, 9}, generator, torch::kInt64).to(torch::kUInt8);
  };
  using Watched = std::vector<std::pair<Verdict, std::string>>;
  const Watched dirichlet = {{Verdict::kUnfamiliar, "differential_entropy"}, {Verdict::kAmbiguous, "expected_entropy"}};
  const Watched softmax = {{Verdict::kUnfamiliar, "energy"}, {Verdict::kAmbiguous, "entropy"}};
  Watched dirichlets = dirichlet;
  dirichlets.emplace_back(Verdict::kUndecided, "mutual_information_y_theta");
  Watched softmaxes = softmax;
  softmaxes.emplace_back(Verdict::kUndecided, "mutual_information");

  add("logits", logits_model("dpn", 1), hostile_logits(count), dirichlet);
  add("logits-softmax", logits_model("dnn", 1), hostile_logits(count), softmax);
  add("logits-members", logits_model("dpn", 3), hostile_logits(count), dirichlets);
  add("logits-softmax-members", logits_model("dnn", 3), hostile_logits(count), softmaxes);

  ModelOptions vgg;
  vgg.name = "vgg6";
  vgg.input = {1, 9, 9};
  vgg.classes = 5;
  vgg.blocks = {{4, 4}, {8}};
  vgg.dense = {16};
  vgg.slope = 0.2;
  vgg.keep_convolution = 0.9;
  vgg.keep_dense = 0.5;
  add("vgg", random_model("dpn", vgg, 1), images(1), dirichlet);
  vgg.batch_norm = true;
  vgg.slope = 0.0;
  add("vgg-norm", random_model("dnn", vgg, 1), images(1), softmax);
  ModelOptions resnet;
  resnet.name = "resnet18";
  resnet.input = {3, 9, 9};
  resnet.classes = 4;
  resnet.channels = {4, 8};
  resnet.keep_dense = 0.5;
  add("resnet", random_model("dpn", resnet, 2), images(3), dirichlets);
  const auto watching = [](Watched watched, const std::vector<std::string>& detectors) {
    for (const auto& name : detectors) watched.emplace_back(Verdict::kUnfamiliar, name);
    return watched;
  };
  for (const auto& [name, members] : {std::pair{"detectors", 1}, std::pair{"detectors-members", 2}}) {
    auto model = random_model("dpn", resnet, members);
    model.detectors = exported_detectors(model, images(3));
    add(name, std::move(model), images(3), watching(dirichlet, {"layers_mahalanobis", "knn"}));
  }

  for (const auto& name : model_names()) {
    auto options = small_network(name);
    if (!takes_images(options)) continue;
    options.input = {3, 9, 9};
    options.classes = 4;
    add("small-" + name, random_model("dpn", options, 1), images(3), {});
  }

  ModelOptions mlp;
  mlp.name = "mlp";
  mlp.input = {3};
  mlp.classes = 3;
  mlp.dense = std::vector<int64_t>{12, 7};
  auto table = random_model("dpn", mlp, 1);
  table.preprocessing.scale.mean = torch::tensor({1.0F, -2.0F, 30.0F});
  table.preprocessing.scale.deviation = torch::tensor({1.0F, 0.5F, 20.0F});
  table.preprocessing.scale.drawn_in = true;
  table.preprocessing.feature_names = {"a", "b", "c"};
  auto rows = torch::randn({count, 3}, generator) * 9;
  rows[0] = torch::tensor({1e9F, -1e30F, 0.0F});  // values that should be in no table
  add("table", table, rows, {});
  table.detectors = exported_detectors(table, torch::randn({3000, 3}, generator));
  add("table-detectors", std::move(table), rows, watching(dirichlet, {"columns_mahalanobis", "columns_shift"}));
  return cases;
}

}  // namespace priornet
