#include <priornet/core/errors.h>
#include <priornet/deploy/export/export_model.h>
#include <priornet/deploy/export/onnx_file.h>
#include <priornet/deploy/export/torchscript_file.h>

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
  if (model.run.members.empty()) throw ArgumentError("export: the model should have a network, has none");
  if (model.dropout_samples > 0 && !model.run.members[0]->has_dropout())
    throw ArgumentError("export: the network has no dropout, so that its dropout samples would all be the same");
  graph::Graph graph;
  graph::add_model(graph, model, input);
  write(path, graph, graph::model_metadata(model));
  return signature_of(graph);
}

}  // namespace

ExportSignature export_onnx(const ModelFile& model, const std::filesystem::path& path, ImageInput input) {
  return export_by(graph::write_onnx, model, path, input);
}

ExportSignature export_torchscript(const ModelFile& model, const std::filesystem::path& path, ImageInput input) {
  return export_by(graph::write_torchscript, model, path, input);
}

}  // namespace priornet
