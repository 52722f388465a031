#include <fmt/format.h>
#include <priornet/deploy/model_export.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/network.h>
#include <priornet/learning/scoring.h>
#include <testing/export_cases.h>
#include "learning/data/npy.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

// export_samples FOLDER (COUNT | MODEL SET): writes exported models with inputs and the library's answers, which
// tests/onnx compares: FOLDER/CASE/{model.onnx, model.pt, inputs.npy, case.json} and FOLDER/CASE/expected/OUTPUT.npy.
// Made-up models on COUNT inputs, at least 1000, or a model file on the images of a set.

namespace {

using namespace priornet;

void write_case(const std::filesystem::path& folder, const ExportCase& sample) {
  std::filesystem::create_directories(folder / "expected");
  const auto signature = export_onnx(sample.model, folder / "model.onnx");
  export_torchscript(sample.model, folder / "model.pt");
  write_npy(folder / "inputs.npy", sample.inputs);
  const auto said = Predictor(sample.model).predict(sample.inputs);
  const auto expected = [&](const std::string& name, const torch::Tensor& values) {
    write_npy(folder / "expected" / (name + ".npy"), values.to(torch::kFloat64));
  };
  expected("prediction", said.prediction);
  expected("probability", said.probability);
  expected("probabilities", said.probabilities);
  for (const auto& [name, values] : said.scores) expected(name, values);
  if (said.log_alpha.defined() && sample.model.run.members.size() == 1 && sample.model.dropout_samples == 0)
    expected("logits", said.log_alpha);
  nlohmann::json about = {{"input", signature.input.name},
                          {"random", sample.model.dropout_samples > 0},
                          {"detectors", nlohmann::json::array()}};
  for (const auto& one : sample.model.detectors) about["detectors"].push_back(one.name);
  if (sample.model.points) {
    std::vector<double> p_values, verdicts;
    for (const auto& decision : said.decisions) {
      p_values.push_back(decision.p_value);
      verdicts.push_back(static_cast<double>(decision.verdict));
    }
    expected("p_value", torch::tensor(p_values, torch::kFloat64));
    expected("verdict", torch::tensor(verdicts, torch::kFloat64));
    about["calibration_rows"] = sample.calibration_rows;
    for (const auto& watch : sample.model.points->watches) about["thresholds"][watch.measure] = watch.threshold;
  }
  std::ofstream(folder / "case.json") << about.dump(2) << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fmt::print(stderr, "export_samples FOLDER (COUNT | MODEL SET)\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  if (argc == 3) {
    for (const auto& sample : export_cases(std::stoll(argv[2]))) {
      write_case(folder / sample.name, sample);
      if (sample.name != "vgg") continue;
      auto dropout = sample;
      dropout.model.points.reset();
      dropout.model.dropout_samples = 16;
      dropout.inputs = sample.inputs.slice(0, 0, 1000).contiguous();
      write_case(folder / "vgg-dropout", dropout);
    }
    return 0;
  }
  auto model = read_model_file(argv[2]);
  const auto inputs = fit_to_run(load_set(argv[3]), model.run).inputs;
  const auto name = model.name;
  write_case(folder / name, {name, std::move(model), inputs, 0});
}
