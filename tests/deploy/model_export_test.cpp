#include <gtest/gtest.h>
#include <priornet/deploy/model_export.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/uncertainty/errors.h>
#include <testing/export_cases.h>
#include <testing/temporary_folder.h>
#include <testing/tensors.h>
#include <testing/throws.h>
#include <torch/csrc/jit/serialization/import.h>
#include "deploy/export/graph.h"
#include "deploy/export/model_graph.h"
#include "deploy/export/onnx_file.h"
#include "deploy/export/torchscript_file.h"

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

std::map<std::string, torch::Tensor> answers_of(torch::jit::Module& module, const torch::Tensor& inputs) {
  const torch::NoGradGuard no_gradient;
  std::map<std::string, torch::Tensor> answers;
  for (const auto& item : module.forward({inputs}).toGenericDict())
    answers[item.key().toStringRef()] = item.value().toTensor();
  return answers;
}

// Relative differences, except for values close to 0.
void expect_close(const torch::Tensor& found, const torch::Tensor& wanted, double tolerance, const std::string& what,
                  double nothing = 1e-5) {
  ASSERT_EQ(found.sizes(), wanted.sizes()) << what;
  ASSERT_EQ(found.scalar_type(), wanted.scalar_type()) << what;
  const auto error = ((found - wanted).abs() / wanted.abs().clamp_min(nothing)).nan_to_num(INFINITY);
  const auto worst = error.argmax().item<int64_t>();
  EXPECT_LE(error.flatten()[worst].item<double>(), tolerance)
      << what << " at " << worst << ": " << found.flatten()[worst].item<double>() << ", wanted "
      << wanted.flatten()[worst].item<double>();
}

// A buffer of a module may not have a dot in its name.
TEST(Export, KeepsTensorsApartWhoseNamesDifferInADot) {
  const TemporaryFolder folder;
  graph::Graph graph;
  const auto x = graph.input("x", torch::kFloat64, {});
  const auto first = graph.tensor("conv.1_weight", torch::tensor({2.0}, torch::kFloat64));
  const auto second = graph.tensor("conv_1.weight", torch::tensor({30.0}, torch::kFloat64));
  graph.output("y", x * first + second, {-1});
  graph::write_torchscript(folder / "model.pt", graph, {});
  auto module = torch::jit::load((folder / "model.pt").string());
  EXPECT_TRUE(
      answers_of(module, torch::tensor({1.0}, torch::kFloat64))["y"].equal(torch::tensor({32.0}, torch::kFloat64)));
}

TEST(Export, GivesInTorchScriptWhatTheLibrarySays) {
  const TemporaryFolder folder;
  for (auto& [name, model, inputs, calibration_rows] : export_cases(1201)) {
    const auto path = folder / (name + ".pt");
    const auto signature = export_torchscript(model, path);
    torch::jit::ExtraFilesMap extra = {{"metadata.json", ""}};
    auto module = torch::jit::load(path.string(), c10::nullopt, extra);
    EXPECT_EQ(nlohmann::json::parse(extra["metadata.json"])["name"], name);
    auto answers = answers_of(module, inputs);
    EXPECT_EQ(answers.size(), signature.outputs.size()) << name;
    const auto said = Predictor(model).predict(inputs);
    // If inputs are logits, only the measures can differ; networks also sum in another order.
    const auto tolerance = name.starts_with("logits") ? 1e-9 : 1e-5;
    const double near_rank = (model.detectors.empty() ? 4.0 : 10.0) / 300;
    EXPECT_TRUE(answers["prediction"].equal(said.prediction)) << name;
    expect_close(answers["probability"], said.probability, tolerance, name + " probability");
    expect_close(answers["probabilities"], said.probabilities, tolerance, name + " probabilities");
    for (const auto& [score, values] : said.scores) {
      const auto is_detector = !model.detectors.empty() && !find_detector(score)->is_measure;
      if (!is_detector) expect_close(answers[score], values, tolerance, name + " " + score);
      // The scores of detectors have no natural 0: differences by rounding are compared with the spread of the scores.
      const auto least = values.std(false).item<double>();
      if (is_detector) expect_close(answers[score] / least, values / least, 1e-3, name + " " + score, 1.0);
    }
    ASSERT_EQ(said.decisions.size(), model.points ? static_cast<size_t>(said.size()) : 0u);
    std::array<int, kVerdictNames.size()> seen{};
    std::map<std::string, int> spoke;
    std::map<std::string, int> wanted;
    for (const auto& decision : said.decisions) ++wanted[decision.watch];
    for (size_t i = 0; i < said.decisions.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      // Rounding may put a value on the other side of its neighbours.
      EXPECT_NEAR(answers["p_value"][row].item<double>(), said.decisions[i].p_value, near_rank) << name << " row " << i;
      const auto verdict = answers["verdict"][row].item<int64_t>();
      ++seen[static_cast<size_t>(verdict)];
      const bool clear = std::abs(said.decisions[i].p_value - model.points->false_alarm) > near_rank;
      // If two causes are equally rare, rounding decides which one is named; how often each is named is compared below.
      const bool accepted = said.decisions[i].verdict == Verdict::kAccept;
      EXPECT_TRUE(!clear || (verdict == 0) == accepted) << name << " row " << i;
      const auto by = answers["verdict_by"][row].item<int64_t>();
      ++spoke[by < 0 ? "" : model.points->watches.at(static_cast<size_t>(by)).measure];
      EXPECT_EQ(by < 0, verdict == 0) << name << " row " << i;
    }
    for (const auto& [watch, times] : wanted) EXPECT_NEAR(spoke[watch], times, 3) << name << " " << watch;
    for (const auto verdict : {Verdict::kAccept, Verdict::kUnfamiliar})
      EXPECT_EQ(model.points.has_value(), seen[static_cast<size_t>(verdict)] > 0) << name;
  }
}

// Measures at the values of the reference, very close to them, between them and beyond them get the same p-value and
// verdict to the last bit.
TEST(Export, DecidesAsTheLibraryDoes) {
  const TemporaryFolder folder;
  auto generator = make_generator(3);
  const auto draw = [&](int64_t count) { return torch::randn({count}, generator, torch::kFloat64) * 4; };
  const auto columns = [](const torch::Tensor& x) {
    return std::vector<torch::Tensor>{(x - 1.0) * (x - 1.0) * -1.0, x, x * -1.0, x * x * x};
  };
  const auto reference = draw(60);
  const auto other = draw(99);
  const std::array<Verdict, 4> causes = {Verdict::kAmbiguous, Verdict::kUnfamiliar, Verdict::kUndecided,
                                         Verdict::kUnfamiliar};
  const auto calibration = torch::cat({reference, other});
  // The class is the sign of x. Classes 2 and 3, which are never predicted, share the thresholds of class 0.
  const auto classes = [](const torch::Tensor& x) { return x.gt(0).to(torch::kInt64); };
  std::vector<WatchedValues> watched;
  for (size_t w = 0; w < causes.size(); ++w) watched.push_back({causes[w], std::to_string(w), columns(calibration)[w]});
  for (const auto& points :
       {operating_points(watched, 0.1), operating_points(watched, 0.1, {classes(calibration), 4})}) {
    graph::Graph graph;
    const auto x = graph.input("x", torch::kFloat64, {});
    const auto decision = graph::decision_values(points, {(x - 1.0) * (x - 1.0) * -1.0, x, x * -1.0, x * x * x},
                                                 cast(x > 0.0, torch::kInt64));
    graph.output("p_value", decision.p_value, {-1});
    graph.output("verdict", decision.verdict, {-1});
    graph.output("verdict_by", decision.by, {-1});
    graph::write_torchscript(folder / "rule.pt", graph, {});
    auto module = torch::jit::load((folder / "rule.pt").string());

    const auto known =
        torch::cat({reference, other, torch::tensor({points.watches[0].threshold, 40.0, -40.0, 0.0}, torch::kFloat64)});
    const auto inputs = torch::cat({known, known * (1 + 1e-13), known * (1 - 1e-13), known * (1 + 1e-9), draw(500)});
    auto answers = answers_of(module, inputs);
    const auto decisions = decide(points, columns(inputs), classes(inputs));
    std::array<int, kVerdictNames.size()> seen{};
    for (size_t i = 0; i < decisions.size(); ++i) {
      const auto row = static_cast<int64_t>(i);
      EXPECT_EQ(answers["p_value"][row].item<double>(), decisions[i].p_value) << inputs[row].item<double>();
      EXPECT_EQ(answers["verdict"][row].item<int64_t>(), static_cast<int64_t>(decisions[i].verdict)) << i;
      const auto by = answers["verdict_by"][row].item<int64_t>();
      EXPECT_EQ(by < 0 ? "" : std::to_string(by), decisions[i].watch) << inputs[row].item<double>();
      ++seen[static_cast<size_t>(decisions[i].verdict)];
    }
    EXPECT_GT(*std::min_element(seen.begin(), seen.end()), 0);
  }
}

TEST(Export, TakesImagesAsNumbersUpToOne) {
  const TemporaryFolder folder;
  auto cases = export_cases(601);
  auto& [name, model, inputs, calibration_rows] = cases[4];
  export_torchscript(model, folder / "bytes.pt");
  const auto signature = export_torchscript(model, folder / "unit.pt", ImageInput::kUnit);
  EXPECT_EQ(signature.input.name, "images");
  EXPECT_EQ(signature.input.type, torch::kFloat32);
  EXPECT_EQ(signature.input.shape, (std::vector<int64_t>{-1, 1, 9, 9}));
  auto bytes = torch::jit::load((folder / "bytes.pt").string());
  auto unit = torch::jit::load((folder / "unit.pt").string());
  EXPECT_TRUE(
      near(answers_of(unit, inputs.to(torch::kFloat32) / 255)["entropy"], answers_of(bytes, inputs)["entropy"], 1e-5));
}

TEST(Export, DrawsDropoutAnewInEveryPass) {
  const TemporaryFolder folder;
  auto cases = export_cases(601);
  auto& [name, model, inputs, calibration_rows] = cases[4];
  model.points.reset();
  model.dropout_samples = 6;
  const auto signature = export_torchscript(model, folder / "drop.pt");
  EXPECT_EQ(signature.outputs.back().name, "logits");
  EXPECT_EQ(signature.outputs.back().shape, (std::vector<int64_t>{6, -1, 5}));
  auto module = torch::jit::load((folder / "drop.pt").string());
  auto first = answers_of(module, inputs);
  const auto logits = first["logits"];
  EXPECT_FALSE(logits[0].equal(logits[1]));
  EXPECT_FALSE(logits.equal(answers_of(module, inputs)["logits"]));
  EXPECT_GT(first["mutual_information_y_theta"].min().item<double>(), 0.0);
  // On average the same as the library's dropout gives.
  const auto ours = Predictor(model).predict(inputs);
  EXPECT_NEAR(first["entropy"].mean().item<double>(), ours.score("entropy")->mean().item<double>(), 0.05);
}

TEST(Export, KeepsThePromiseOfADropoutModelThoughItDrawsAnew) {
  const TemporaryFolder folder;
  auto cases = export_cases(1200);
  auto& [name, model, inputs, calibration_rows] = cases[4];
  model.points.reset();
  model.dropout_samples = 3;
  CalibrationOptions options;
  options.false_alarm = 0.1;
  model.points =
      calibrate(Predictor(model).predict(inputs.narrow(0, 0, 600)), {}, watched_measures(true, true), options);
  export_torchscript(model, folder / "drop.pt");
  auto module = torch::jit::load((folder / "drop.pt").string());
  torch::manual_seed(1);
  const auto verdicts = answers_of(module, inputs.narrow(0, 600, 600))["verdict"];
  EXPECT_LT(verdicts.ne(0).to(torch::kFloat64).mean().item<double>(), 0.16);  // 0.1 and three deviations
}

TEST(Export, RejectsAnInputWithoutNumbersInsteadOfTrustingIt) {
  const TemporaryFolder folder;
  auto cases = export_cases(601);
  auto& [name, model, inputs, calibration_rows] = cases[0];
  export_torchscript(model, folder / "logits.pt");
  auto module = torch::jit::load((folder / "logits.pt").string());
  auto answers = answers_of(module, torch::full({1, 10}, NAN));
  EXPECT_EQ(answers["verdict"][0].item<int64_t>(), static_cast<int64_t>(Verdict::kUnfamiliar));
  EXPECT_NEAR(answers["p_value"][0].item<double>(), 1.0 / 601, 1e-12);
}

TEST(Export, RefusesWhatItCannotWrite) {
  const TemporaryFolder folder;
  auto cases = export_cases(601);
  auto& [name, model, inputs, calibration_rows] = cases[0];
  auto watching = model;
  watching.points->watches[0].measure = "mutual_information_mu_theta";
  EXPECT_THROWS(ArgumentError, export_onnx(watching, folder / "a.onnx"),
                "export: the model watches mutual_information_mu_theta, which the exported graph cannot compute");
  auto detecting = model;
  detecting.detectors = {make_detector("max_logit"), make_detector("ash")};
  EXPECT_THROWS(ArgumentError, export_onnx(detecting, folder / "a.onnx"),
                "export: the detector ash cannot be written for other runtimes: calibrate without it");
  model.points.reset();
  model.dropout_samples = 3;
  EXPECT_THROWS(ArgumentError, export_onnx(model, folder / "a.onnx"),
                "export: the network has no dropout, so its dropout samples would all be the same");
  EXPECT_TRUE(folder.names().empty());
}

class UnwritableLayer : public Layer {
 public:
  std::string label() const override { return "sine"; }
  Shape output_shape(const Shape& input) const override { return input; }
  Size size(const Shape&) const override { return {}; }
  torch::Tensor forward(const torch::Tensor& x) override { return x.sin(); }
};

TEST(Export, NamesTheLayerThatCannotBeWritten) {
  const TemporaryFolder folder;
  auto model = logits_model("dpn", 1);
  NetworkPlan plan({10}, 10);
  plan.add("", std::make_shared<UnwritableLayer>());
  model.run.members = {std::make_shared<Network>(std::move(plan), make_generator(1))};
  EXPECT_THROWS(ArgumentError, export_onnx(model, folder / "a.onnx"),
                "export: the layer \"sine\" cannot be written for other runtimes");
  EXPECT_TRUE(folder.names().empty());
}

// Bytes worked out by hand from protobuf's encoding: key = field << 3 | wire type, 300 = 0xAC 0x02.
TEST(ProtobufMessage, IsWrittenAsTheFormatSays) {
  graph::Message inner, message;
  inner.add(1, int64_t{300});
  message.add(2, "ab");
  message.add(20, int64_t{-1});
  message.add_float(3, 1.0F);
  message.add(4, inner);
  EXPECT_EQ(inner.bytes(), std::string("\x08\xAC\x02", 3));
  EXPECT_EQ(message.bytes(), std::string("\x12\x02"
                                         "ab"
                                         "\xA0\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"
                                         "\x1D\x00\x00\x80\x3F"
                                         "\x22\x03\x08\xAC\x02",
                                         26));
}

TEST(ExportGraph, NamesAValueForEachOutputThatItIs) {
  graph::Graph graph;
  const auto rows = graph.input("rows", torch::kFloat32, {2});
  const auto twice = rows * 2.0;
  graph.output("a", twice, {-1, 2});
  graph.output("b", twice, {-1, 2});
  EXPECT_NE(graph.outputs()[0].value, graph.outputs()[1].value);
  EXPECT_EQ(graph.entries()[graph.outputs()[1].value].operation, "Identity");
}

}  // namespace
}  // namespace priornet
