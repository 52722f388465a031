#include "deploy/export/torchscript_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/uncertainty/errors.h>
#include <torch/csrc/jit/api/module.h>

#include <cctype>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"

namespace priornet::graph {
namespace {

using Operands = std::vector<std::string>;
using Entry = Graph::Entry;

std::string joined(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

std::string ints(const Entry& entry, const char* key) {
  return joined(std::get<std::vector<int64_t>>(entry.attributes.at(key)));
}

std::string first_two(const Entry& entry, const char* key) {
  const auto& values = std::get<std::vector<int64_t>>(entry.attributes.at(key));
  return joined({values.at(0), values.at(1)});
}

int64_t integer(const Entry& entry, const char* key) { return std::get<int64_t>(entry.attributes.at(key)); }
double real(const Entry& entry, const char* key) { return std::get<double>(entry.attributes.at(key)); }
const char* keeps(const Entry& entry) { return integer(entry, "keepdims") != 0 ? "True" : "False"; }

// Generated TorchScript names dtypes by their numbers.
int dtype_number(torch::Dtype type) { return static_cast<int>(type); }

using Translation = std::function<std::string(const Entry&, const Operands&)>;

Translation infix(const char* sign) {
  return [sign](const Entry&, const Operands& o) { return fmt::format("{} {} {}", o[0], sign, o[1]); };
}

Translation call(const char* function) {
  return
      [function](const Entry&, const Operands& o) { return fmt::format("torch.{}({})", function, fmt::join(o, ", ")); };
}

Translation reduction(const char* function) {
  return [function](const Entry& e, const Operands& o) {
    return fmt::format("torch.{}({}, {}, {})", function, o[0], ints(e, "axes"), keeps(e));
  };
}

const std::map<std::string, Translation>& translations() {
  static const std::map<std::string, Translation> all = {
      {"Add", infix("+")},
      {"Sub", infix("-")},
      {"Mul", infix("*")},
      {"Div", infix("/")},
      {"Less", infix("<")},
      {"LessOrEqual", infix("<=")},
      {"Greater", infix(">")},
      {"Equal", infix("==")},
      {"Identity", [](const Entry&, const Operands& o) { return o[0]; }},
      {"Or", call("logical_or")},
      {"Abs", call("abs")},
      {"Neg", call("neg")},
      {"Exp", call("exp")},
      {"Log", call("log")},
      {"Sqrt", call("sqrt")},
      {"MatMul", call("matmul")},
      {"RandomUniformLike", call("rand_like")},
      {"Relu", call("relu")},
      {"Clip", call("clamp")},
      {"Where", call("where")},
      {"Cast",
       [](const Entry& e, const Operands& o) { return fmt::format("torch.to({}, {})", o[0], dtype_number(e.type)); }},
      {"ReduceSum", reduction("sum")},
      {"ReduceMean", reduction("mean")},
      {"ReduceMax", reduction("amax")},
      {"ArgMax",
       [](const Entry& e, const Operands& o) {
         return fmt::format("torch.argmax({}, {}, {})", o[0], integer(e, "axis"), keeps(e));
       }},
      {"Unsqueeze",
       [](const Entry& e, const Operands& o) {
         return fmt::format("torch.unsqueeze({}, {})", o[0],
                            std::get<std::vector<int64_t>>(e.attributes.at("axes")).at(0));
       }},
      {"Concat",
       [](const Entry& e, const Operands& o) {
         return fmt::format("torch.cat([{}], {})", fmt::join(o, ", "), integer(e, "axis"));
       }},
      {"Flatten", [](const Entry& e,
                     const Operands& o) { return fmt::format("torch.flatten({}, {})", o[0], integer(e, "axis")); }},
      {"LeakyRelu",
       [](const Entry& e, const Operands& o) {
         return fmt::format("torch.leaky_relu({}, {:#})", o[0], real(e, "alpha"));
       }},
      {"Gemm", call("linear")},
      {"Conv",
       [](const Entry& e, const Operands& o) {
         return fmt::format("torch.conv2d({}, {}, {}, {}, {}, [1, 1], 1)", o[0], o[1], o.size() > 2 ? o[2] : "None",
                            ints(e, "strides"), first_two(e, "pads"));
       }},
      {"BatchNormalization",
       [](const Entry& e, const Operands& o) {
         return fmt::format("torch.batch_norm({}, False, 0.0, {:#}, False)", fmt::join(o, ", "), real(e, "epsilon"));
       }},
      {"MaxPool", [](const Entry& e, const Operands& o) {
         return fmt::format("torch.max_pool2d({}, {}, {}, {})", o[0], ints(e, "kernel_shape"), ints(e, "strides"),
                            e.attributes.contains("pads") ? first_two(e, "pads") : "[0, 0]");
       }}};
  return all;
}

// The graph as a function: forward(self, INPUT) -> Dict[str, Tensor].
class SourceWriter {
 public:
  explicit SourceWriter(const Graph& graph) : graph_(graph) {
    std::set<std::string> taken;
    for (size_t i = 0; i < graph.entries().size(); ++i) {
      if (graph.entries()[i].kind != Entry::Kind::kTensor) continue;
      auto name = graph.entries()[i].name;
      for (auto& character : name)
        if (std::isalnum(static_cast<unsigned char>(character)) == 0) character = '_';
      while (!taken.insert(name).second) name += '_';  // a.b and a_b
      buffer_names_[i] = std::move(name);
    }
  }

  /// Of a tensor.
  const std::string& buffer_name(size_t index) const { return buffer_names_.at(index); }

  std::string source() const {
    std::string body, input;
    for (size_t i = 0; i < graph_.entries().size(); ++i) {
      const auto& entry = graph_.entries()[i];
      if (entry.kind == Entry::Kind::kInput) input = entry.name;
      if (entry.kind == Entry::Kind::kResult) body += fmt::format("    v{} = {}\n", i, expression(entry));
    }
    Operands outputs;
    for (const auto& output : graph_.outputs())
      outputs.push_back(fmt::format("\"{}\": {}", output.name, text_of(output.value)));
    return fmt::format("def forward(self, {}: Tensor) -> Dict[str, Tensor]:\n{}    return {{{}}}\n", input, body,
                       fmt::join(outputs, ", "));
  }

 private:
  std::string text_of(size_t index) const {
    const auto& entry = graph_.entries()[index];
    switch (entry.kind) {
      case Entry::Kind::kInput:
        return entry.name;
      case Entry::Kind::kNumber:
        return torch::isFloatingType(entry.type) ? fmt::format("{:#}", entry.number)
                                                 : fmt::format("{}", static_cast<int64_t>(entry.number));
      case Entry::Kind::kTensor:
        return "self." + buffer_name(index);
      case Entry::Kind::kResult:
        break;
    }
    return fmt::format("v{}", index);
  }

  std::string expression(const Entry& entry) const {
    const auto found = translations().find(entry.operation);
    if (found == translations().end())
      throw ArgumentError(fmt::format("write_torchscript: no translation for {}", entry.operation));
    Operands operands;
    for (const auto operand : entry.operands) operands.push_back(text_of(operand));
    // If one side of a choice is a number, it becomes a tensor first.
    if (entry.operation == "Where")
      for (const size_t side : {1, 2})
        if (graph_.entries()[entry.operands[side]].kind == Entry::Kind::kNumber)
          operands[side] = fmt::format("torch.full_like({}, {})", operands[3 - side], operands[side]);
    return found->second(entry, operands);
  }

  const Graph& graph_;
  std::map<size_t, std::string> buffer_names_;  ///< by the place of the tensor
};

}  // namespace

void write_torchscript(const std::filesystem::path& path, const Graph& graph,
                       const std::map<std::string, std::string>& metadata) {
  const SourceWriter writer(graph);
  torch::jit::Module module("priornet");
  for (size_t i = 0; i < graph.entries().size(); ++i)
    if (const auto& entry = graph.entries()[i]; entry.kind == Entry::Kind::kTensor)
      module.register_buffer(writer.buffer_name(i), entry.tensor);
  module.define(writer.source());
  module.eval();
  std::ostringstream bytes;
  module.save(bytes, {{"metadata.json", json_text(nlohmann::ordered_json(metadata), 2)}});
  AtomicFile file(path);
  file.write(bytes.str());
  file.commit();
}

}  // namespace priornet::graph
