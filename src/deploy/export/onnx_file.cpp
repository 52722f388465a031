#include "deploy/export/onnx_file.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <limits>
#include <set>

#include "learning/base/file_io.h"

// Field numbers are those of onnx.proto3.

namespace priornet::graph {
namespace {

constexpr int64_t kIrVersion = 7;  // that of operator set 13
constexpr int64_t kOperatorSet = 13;

int64_t onnx_type(torch::Dtype type) {
  switch (type) {
    case torch::kFloat32:
      return 1;
    case torch::kUInt8:
      return 2;
    case torch::kInt64:
      return 7;
    case torch::kBool:
      return 9;
    case torch::kFloat64:
      return 11;
    default:
      throw ArgumentError(fmt::format("write_onnx: no element type for {}", torch::toString(type)));
  }
}

Message tensor_proto(const std::string& name, const torch::Tensor& tensor) {
  Message proto;
  for (const auto size : tensor.sizes()) proto.add(1, size);
  proto.add(2, onnx_type(tensor.scalar_type()));
  proto.add(8, name);
  proto.add(9, std::string_view(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()));
  return proto;
}

Message value_proto(const std::string& name, torch::Dtype type, const std::vector<int64_t>& shape) {
  Message dimensions;
  for (const auto size : shape) {
    Message dimension;
    if (size < 0)
      dimension.add(2, "N");
    else
      dimension.add(1, size);
    dimensions.add(1, dimension);
  }
  Message tensor_type, type_proto, proto;
  tensor_type.add(1, onnx_type(type));
  tensor_type.add(2, dimensions);
  type_proto.add(1, tensor_type);
  proto.add(1, name);
  proto.add(2, type_proto);
  return proto;
}

Message attribute_proto(const std::string& name, const Attribute& attribute) {
  Message proto;
  proto.add(1, name);
  if (const auto* number = std::get_if<double>(&attribute)) {
    proto.add_float(2, static_cast<float>(*number));
    proto.add(20, 1);
  } else if (const auto* integer = std::get_if<int64_t>(&attribute)) {
    proto.add(3, *integer);
    proto.add(20, 2);
  } else {
    for (const auto i : std::get<std::vector<int64_t>>(attribute)) proto.add(8, i);
    proto.add(20, 7);
  }
  return proto;
}

// What operator set 13 takes as inputs, though our graphs have them as attributes.
bool is_input(const std::string& operation, const std::string& attribute) {
  return attribute == "axes" && (operation == "ReduceSum" || operation == "Unsqueeze");
}

class GraphWriter {
 public:
  explicit GraphWriter(const Graph& graph) : graph_(graph) {}

  Message written() {
    const auto& entries = graph_.entries();
    for (const auto& output : graph_.outputs()) names_[output.value] = output.name;
    for (size_t i = 0; i < entries.size(); ++i) add(i);
    proto_.add(2, "priornet");
    for (const auto& output : graph_.outputs())
      proto_.add(12, value_proto(output.name, entries[output.value].type, output.shape));
    return std::move(proto_);
  }

 private:
  std::string name(size_t index) const {
    if (const auto found = names_.find(index); found != names_.end()) return found->second;
    const auto& entry = graph_.entries()[index];
    return entry.name.empty() ? fmt::format("v{}", index) : entry.name;
  }

  void add(size_t index) {
    const auto& entry = graph_.entries()[index];
    switch (entry.kind) {
      case Graph::Entry::Kind::kInput: {
        auto shape = graph_.input_shape();
        shape.insert(shape.begin(), -1);
        proto_.add(11, value_proto(entry.name, entry.type, shape));
        return;
      }
      case Graph::Entry::Kind::kNumber:
        proto_.add(5, tensor_proto(name(index), torch::scalar_tensor(entry.number, torch::dtype(entry.type))));
        return;
      case Graph::Entry::Kind::kTensor:
        proto_.add(5, tensor_proto(entry.name, entry.tensor));
        return;
      case Graph::Entry::Kind::kResult:
        add_node(index, entry);
        return;
    }
  }

  void add_node(size_t index, const Graph::Entry& entry) {
    Message node;
    for (const auto operand : entry.operands) node.add(1, name(operand));
    for (const auto& [key, value] : entry.attributes)
      if (is_input(entry.operation, key)) node.add(1, axes(std::get<std::vector<int64_t>>(value)));
    node.add(2, name(index));
    node.add(3, name(index));
    node.add(4, entry.operation);
    if (entry.operation == "Cast") node.add(5, attribute_proto("to", onnx_type(entry.type)));
    for (const auto& [key, value] : entry.attributes)
      if (!is_input(entry.operation, key)) node.add(5, attribute_proto(key, value));
    proto_.add(1, node);
  }

  std::string axes(const std::vector<int64_t>& values) {
    std::string label = "axes";
    for (const auto axis : values) label += fmt::format("_{}", axis);
    if (axes_.insert(label).second) proto_.add(5, tensor_proto(label, torch::tensor(values, torch::kInt64)));
    return label;
  }

  const Graph& graph_;
  Message proto_;
  std::map<size_t, std::string> names_;  ///< of outputs
  std::set<std::string> axes_;
};

}  // namespace

void write_onnx(const std::filesystem::path& path, const Graph& graph,
                const std::map<std::string, std::string>& metadata) {
  Message operator_set, model;
  operator_set.add(1, "");
  operator_set.add(2, kOperatorSet);
  model.add(1, kIrVersion);
  model.add(2, "priornet");
  model.add(7, GraphWriter(graph).written());
  model.add(8, operator_set);
  for (const auto& [key, value] : metadata) {
    Message entry;
    entry.add(1, key);
    entry.add(2, value);
    model.add(14, entry);
  }
  if (model.bytes().size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    throw ArgumentError(fmt::format("{}: would have {} bytes; an ONNX file may have {}", path.string(),
                                    model.bytes().size(), std::numeric_limits<int32_t>::max()));
  AtomicFile file(path);
  file.write(model.bytes());
  file.commit();
}

}  // namespace priornet::graph
