#include <priornet/deploy/model_file.h>
#include <priornet/uncertainty/measure_table.h>
#include <testing/small_models.h>
#include <testing/tool.h>
#include <torch/csrc/jit/serialization/import.h>

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

TEST(Export, WritesBothFormatsOfAModelFileAndSaysWhatTheyTake) {
  const TemporaryFolder folder;
  write_model_file(folder / "small.priornet", small_model());
  const auto onnx = (folder / "small.onnx").string();
  const auto script = (folder / "small.pt").string();
  const auto [status, out, err] =
      run_tool({"export", (folder / "small.priornet").string(), "--onnx", onnx, "--torchscript", script, "--json"});
  ASSERT_EQ(status, 0) << err;
  const auto said = nlohmann::json::parse(out);
  EXPECT_EQ(said["written"], (std::vector<std::string>{onnx, script}));
  EXPECT_EQ(said["input"], nlohmann::json::parse(R"({"name": "images", "type": "uint8", "shape": [-1, 1, 8, 8]})"));
  std::vector<std::string> names;
  for (const auto& output : said["outputs"]) names.push_back(output["name"]);
  std::vector<std::string> wanted{"prediction", "probability", "probabilities"};
  for (const auto& measure : measure_table())
    if ((measure.dirichlet != nullptr && is_score(measure.name)) || measure.name == "energy")
      wanted.emplace_back(measure.name);
  wanted.insert(wanted.end(), {"logits", "p_value", "verdict", "verdict_by"});
  EXPECT_EQ(names, wanted);
  EXPECT_GT(std::filesystem::file_size(onnx), 1000u);
  auto module = torch::jit::load(script);
  EXPECT_EQ(module.forward({small_images(3, 1).inputs}).toGenericDict().size(), names.size());
}

TEST(Export, TakesTheFolderOfARun) {
  const TemporaryFolder folder;
  const auto onnx = (folder / "small.onnx").string();
  const auto [status, out, err] =
      run_tool({"export", small_run().string(), "--onnx", onnx, "--dropout-samples", "4", "--input", "unit"});
  ASSERT_EQ(status, 0) << err;
  EXPECT_TRUE(out.starts_with("Written: " + onnx + " (")) << out;
  EXPECT_NE(out.find("input   images                      float32  [N, 1, 8, 8]\n"), std::string::npos) << out;
  EXPECT_NE(out.find("output  mutual_information_y_theta  float64  [N]\n"), std::string::npos) << out;
  EXPECT_NE(out.find("output  logits                      float32  [4, N, 3]\n"), std::string::npos) << out;
  EXPECT_EQ(out.find("verdict"), std::string::npos) << out;
}

TEST(Export, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto model = (folder / "small.priornet").string();
  write_model_file(model, small_model());
  const auto neither = run_tool({"export", model});
  EXPECT_EQ(neither.status, 2);
  EXPECT_EQ(neither.err, "priornet: --onnx or --torchscript is required (see priornet export --help)\n");
  const auto text = (folder / "small.txt").string();
  expect_misuse(run_tool({"export", model, "--onnx", text}),
                "--onnx: " + text + " should end in .onnx (see priornet export --help)");
  expect_misuse(
      run_tool({"export", model, "--torchscript", (folder / "small").string()}),
      "--torchscript: " + (folder / "small").string() + " should end in .pt, .pth or .ts (see priornet export --help)");
  expect_failure(
      run_tool({"export", model, "--onnx", (folder / "small.onnx").string(), "--dropout-samples", "5"}),
      model + ": was calibrated with 0 dropout samples: its verdicts would not hold with 5 (calibrate it again)");
  const auto nowhere = (folder / "none/small.onnx").string();
  const auto unwritten = run_tool({"export", model, "--onnx", nowhere});
  EXPECT_EQ(unwritten.status, 1);
  EXPECT_TRUE(unwritten.err.starts_with("priornet: " + nowhere + ": cannot be written: ")) << unwritten.err;
  const auto junk = folder.file("junk", "no model").string();
  const auto refused = run_tool({"export", junk, "--onnx", (folder / "small.onnx").string()});
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(refused.err.starts_with("priornet: " + junk + ": ")) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "small.onnx"));
}

TEST(Export, HasHelpWithAnExample) {
  const auto [status, out, err] = run_tool({"export", "--help"});
  EXPECT_EQ(status, 0);
  EXPECT_NE(out.find("priornet export fashion.priornet --onnx fashion.onnx"), std::string::npos) << out;
}

}  // namespace
}  // namespace priornet
