#include <priornet/deploy/model_export.h>

#include "deploy/export/model_graph.h"
#include "deploy/export/onnx_file.h"
#include "deploy/export/torchscript_file.h"

namespace priornet {
namespace {

ExportSignature signature_of(const graph::Graph& graph) {
  ExportSignature signature;
  for (const auto& entry : graph.entries())
    if (entry.kind == graph::Graph::Entry::Kind::kInput) {
      auto shape = graph.input_shape();
      shape.insert(shape.begin(), -1);
      signature.input = {entry.name, entry.type, std::move(shape)};
    }
  for (const auto& output : graph.outputs())
    signature.outputs.push_back({output.name, graph.entries()[output.value].type, output.shape});
  return signature;
}

template <class Write>
ExportSignature export_by(const Write& write, const ModelFile& model, const std::filesystem::path& path,
                          ImageInput input) {
  check_networks("export", model);
  graph::Graph graph;
  graph::add_model(graph, model, input);
  write(path, graph, graph::model_metadata(model));
  return signature_of(graph);
}

}  // namespace

std::string ExportSignature::Tensor::type_name() const {
  switch (type) {
    case torch::kUInt8:
      return "uint8";
    case torch::kInt64:
      return "int64";
    case torch::kFloat32:
      return "float32";
    default:
      return "float64";
  }
}

ExportSignature export_onnx(const ModelFile& model, const std::filesystem::path& path, ImageInput input) {
  return export_by(graph::write_onnx, model, path, input);
}

ExportSignature export_torchscript(const ModelFile& model, const std::filesystem::path& path, ImageInput input) {
  return export_by(graph::write_torchscript, model, path, input);
}

}  // namespace priornet
