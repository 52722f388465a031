#include <fmt/format.h>
#include <priornet/deploy/model_export.h>
#include <priornet/deploy/model_file.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "learning/base/json_text.h"
#include "tool/base/embedded_files.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"

namespace priornet::tool {
namespace {

struct ExportOptions {
  std::string model;
  std::string onnx;
  std::string torchscript;
  std::string input = "bytes";
  std::optional<int64_t> dropout_samples;
  bool json = false;
};

// A program of the user's is neither written nor opened here: that would run what its author wrote.
ModelFile opened(const std::string& name) {
  try {
    return open_model(model_path(name), torch::kCPU);
  } catch (const ProgramNotAllowed&) {
    throw DataError(
        fmt::format("{}: holds a network that PyTorch scripted or compiled, and export writes only networks that "
                    "priornet trained: export it from PyTorch instead",
                    name));
  }
}

void set_dropout(ModelFile& model, const ExportOptions& options) {
  if (!options.dropout_samples || *options.dropout_samples == model.dropout_samples) return;
  if (model.points)
    throw ArgumentError(fmt::format(
        "{}: was calibrated with {} dropout samples: its verdicts would not hold with {} (calibrate it again)",
        options.model == kDigitModel ? model_path(options.model).string() : options.model, model.dropout_samples,
        *options.dropout_samples));
  model.dropout_samples = *options.dropout_samples;
  check_networks("--dropout-samples", model);
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const auto size : shape) text += (text.empty() ? "" : ", ") + (size < 0 ? "N" : std::to_string(size));
  return "[" + text + "]";
}

std::string text_of(const ExportSignature& signature, const std::vector<std::string>& files) {
  std::string text;
  for (const auto& file : files)
    text += fmt::format("Written: {} ({:.1f} MB)\n", file, static_cast<double>(std::filesystem::file_size(file)) / 1e6);
  const auto line = [&](const char* what, const ExportSignature::Tensor& tensor) {
    text += fmt::format("{:<8}{:<28}{:<9}{}\n", what, tensor.name, tensor.type_name(), shape_text(tensor.shape));
  };
  line("input", signature.input);
  for (const auto& output : signature.outputs) line("output", output);
  return text;
}

std::string json_of(const ExportSignature& signature, const std::vector<std::string>& files) {
  const auto described = [](const ExportSignature::Tensor& tensor) {
    return nlohmann::ordered_json{{"name", tensor.name}, {"type", tensor.type_name()}, {"shape", tensor.shape}};
  };
  nlohmann::ordered_json result = {{"written", files}, {"input", described(signature.input)}};
  for (const auto& output : signature.outputs) result["outputs"].push_back(described(output));
  return json_text(result, 2) + "\n";
}

void run_export(const ExportOptions& options) {
  if (options.onnx.empty() && options.torchscript.empty()) throw Misuse("--onnx or --torchscript is required");
  auto model = opened(options.model);
  set_dropout(model, options);
  const auto input = options.input == "bytes" ? ImageInput::kBytes : ImageInput::kUnit;
  ExportSignature signature;
  std::vector<std::string> files;
  if (!options.onnx.empty()) {
    signature = export_onnx(model, options.onnx, input);
    files.push_back(options.onnx);
  }
  if (!options.torchscript.empty()) {
    signature = export_torchscript(model, options.torchscript, input);
    files.push_back(options.torchscript);
  }
  print(options.json ? json_of(signature, files) : text_of(signature, files));
}

}  // namespace

void describe_export(Command& command) {
  const auto options = std::make_shared<ExportOptions>();
  command.options = {
      {.name = "MODEL",
       .to = &options->model,
       .help = "A model file from priornet calibrate, or the folder of a run",
       .required = true},
      {.name = "--onnx",
       .to = &options->onnx,
       .help = "Write an ONNX file (.onnx), for onnxruntime and others",
       .endings = {".onnx"}},
      {.name = "--torchscript",
       .to = &options->torchscript,
       .help = "Write a TorchScript file (.pt), for LibTorch and PyTorch",
       .endings = {".pt", ".pth", ".ts"}},
      {.name = "--input",
       .to = &options->input,
       .help =
           "Type of the images: bytes (uint8, 0 to 255) or unit (float32, 0 to 1); rows of tables are always float32",
       .shows_default = true,
       .choices = {"bytes", "unit"}},
      {.name = "--dropout-samples",
       .to = &options->dropout_samples,
       .help = "Number of passes with dropout, drawn again for every input; by default the number of the model file",
       .range = whole_range(0, 10'000)},
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  command.notes =
      "A calibrated model also gives p_value and verdict (docs/export.md). An older file with that name is replaced.";
  command.examples = {"priornet export fashion.priornet --onnx fashion.onnx",
                      "priornet export runs/dpn --onnx dpn.onnx --torchscript dpn.pt"};
  command.run = [options](const Invocation&) { run_export(*options); };
}

}  // namespace priornet::tool
