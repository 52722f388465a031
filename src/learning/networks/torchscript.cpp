#include "learning/networks/torchscript.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/network.h>
#include <priornet/uncertainty/errors.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/lower_tuples.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/version.h>

// LibTorch runs AOTInductor packages from 2.6 on.
#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#define PRIORNET_RUNS_PACKAGES 1
#else
#define PRIORNET_RUNS_PACKAGES 0
#endif

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "learning/base/file_io.h"
#include "learning/networks/architectures.h"
#include "learning/networks/layers.h"

namespace priornet {
namespace {

namespace jit = torch::jit;

/// The error itself, without the program's and library's traces around it.
std::string reason_of(const std::exception& error) {
  const auto* from_library = dynamic_cast<const c10::Error*>(&error);
  const std::string text = from_library != nullptr ? from_library->what_without_backtrace() : error.what();
  const auto said = text.rfind("Error: ");
  const auto begin = said == std::string::npos ? 0 : said + std::strlen("Error: ");
  return text.substr(begin, text.find('\n', begin) - begin);
}

// A module of ours with the parameters and buffers of a script, under the names that PyTorch gives them. The tensors
// are the script's own: moving or changing them here changes the script too.
std::shared_ptr<torch::nn::Module> tensors_of(const jit::Module& script) {
  auto root = std::make_shared<torch::nn::Module>("script");
  const auto place = [&](const std::string& name) {
    auto* module = root.get();
    size_t begin = 0;
    for (auto dot = name.find('.'); dot != std::string::npos; begin = dot + 1, dot = name.find('.', begin)) {
      const auto child = name.substr(begin, dot - begin);
      if (!module->named_children().contains(child))
        module->register_module(child, std::make_shared<torch::nn::Module>(child));
      module = module->named_children()[child].get();
    }
    return std::pair{module, name.substr(begin)};
  };
  for (const auto& item : script.named_parameters()) {
    const auto [module, name] = place(item.name);
    module->register_parameter(name, item.value, item.value.requires_grad());
  }
  for (const auto& item : script.named_buffers()) {
    const auto [module, name] = place(item.name);
    module->register_buffer(name, item.value);
  }
  return root;
}

/// forward() of a script cut at its features: the features that it gives beside the logits, or the input of its last
/// dense layer.
struct Cut {
  std::unique_ptr<jit::GraphFunction> features;       ///< (self, inputs) to features
  std::unique_ptr<jit::GraphFunction> from_features;  ///< (self, features) to logits
  std::vector<std::string> last;                      ///< the parameters behind the cut, by name
};

// The attributes that a chain of GetAttr reads from self: "classifier.1.weight".
std::string attribute_path(const jit::Value* value) {
  std::string path;
  for (const auto* node = value->node(); node->kind() == c10::prim::GetAttr; node = node->input()->node())
    path = node->s(c10::attr::name) + (path.empty() ? "" : "." + path);
  return path;
}

// torch.nn.functional.linear, or its form in a trace, with the place of the input among the operands.
std::optional<size_t> dense_input(const jit::Node& node) {
  static const auto kLinear = c10::Symbol::fromQualString("aten::linear");
  static const auto kProduct = c10::Symbol::fromQualString("aten::addmm");
  if (node.kind() == kLinear) return 0;
  if (node.kind() == kProduct) return 1;
  return std::nullopt;
}

std::unique_ptr<jit::GraphFunction> function_of(std::shared_ptr<jit::Graph> graph, const char* name) {
  jit::EliminateDeadCode(graph);
  return std::make_unique<jit::GraphFunction>(c10::QualifiedName(name), std::move(graph), nullptr);
}

// The part of a program from a value to an output, (self, value) to output: nothing before the value runs. Null if that
// part also uses the inputs.
std::shared_ptr<jit::Graph> what_follows(jit::Graph& whole, jit::Value* value, jit::Value* output) {
  auto graph = std::make_shared<jit::Graph>();
  std::unordered_map<const jit::Value*, jit::Value*> copies;
  for (auto* given : {whole.inputs()[0], value}) copies[given] = graph->addInput()->setType(given->type());
  std::unordered_set<const jit::Node*> needed;
  bool looks_at_inputs = false;
  const std::function<void(const jit::Value*)> need = [&](const jit::Value* wanted) {
    if (copies.contains(wanted)) return;
    const auto* node = wanted->node();
    if (node->kind() == c10::prim::Param) {
      looks_at_inputs = looks_at_inputs || node->owningBlock() == whole.block();
      return;
    }
    if (!needed.insert(node).second) return;
    const std::function<void(const jit::Node*)> need_operands = [&](const jit::Node* of) {
      for (const auto* operand : of->inputs()) need(operand);
      for (const auto* block : of->blocks()) {
        for (const auto* inner : block->nodes()) need_operands(inner);
        for (const auto* given : block->outputs()) need(given);
      }
    };
    need_operands(node);
  };
  need(output);
  if (looks_at_inputs) return nullptr;
  for (auto* node : whole.nodes()) {
    if (!needed.contains(node)) continue;
    auto* copy = graph->insertNode(graph->createClone(node, [&](jit::Value* of) { return copies.at(of); }));
    for (size_t i = 0; i < copy->outputs().size(); ++i) copies[node->output(i)] = copy->output(i);
  }
  graph->registerOutput(copies.at(output));
  return graph;
}

// Where a program is cut.
struct Features {
  jit::Value* value = nullptr;
  jit::Value* output = nullptr;  ///< that is made from the value
};

// The output of a program, or its first element.
jit::Value* logits_of(jit::Graph& graph) {
  auto* given = graph.outputs()[0];
  auto* node = given->node();
  return node->kind() == c10::prim::TupleConstruct && !node->inputs().empty() ? node->input(0) : given;
}

// The output beside the logits; null if the program gives something else.
Features given_features(jit::Graph& graph) {
  auto* node = graph.outputs()[0]->node();
  const auto is_tensor = [](const jit::Value* value) { return value->type()->kind() == c10::TypeKind::TensorType; };
  if (node->kind() != c10::prim::TupleConstruct || node->inputs().size() != 2) return {};
  if (!is_tensor(node->input(0)) || !is_tensor(node->input(1))) return {};
  return {node->input(1), logits_of(graph)};
}

// The input of the last dense layer of the program itself; null if there is none: a layer inside a branch is not found.
Features last_dense_input(jit::Graph& graph) {
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node)
    if (const auto place = dense_input(**node)) return {node->input(*place), logits_of(graph)};
  return {};
}

std::optional<Cut> cut_at(jit::Graph& program, Features (*find)(jit::Graph&)) {
  Cut cut;
  {
    const auto graph = program.copy();
    const auto features = find(*graph);
    if (features.value == nullptr) return std::nullopt;
    graph->eraseOutput(0);
    graph->registerOutput(features.value);
    cut.features = function_of(graph, "features");
  }
  const auto whole = program.copy();
  const auto features = find(*whole);
  auto rest = what_follows(*whole, features.value, features.output);
  if (!rest) return std::nullopt;
  for (const auto* node : rest->nodes()) {
    if (node->kind() == c10::prim::GetAttr) continue;
    for (const auto* operand : node->inputs())
      if (auto path = attribute_path(operand); !path.empty()) cut.last.push_back(std::move(path));
  }
  cut.from_features = function_of(std::move(rest), "from_features");
  return cut;
}

std::optional<Cut> cut_before_last_layer(const jit::Module& script) {
  const auto whole = script.get_method("forward").graph()->copy();
  jit::Inline(*whole);
  jit::LowerSimpleTuples(whole);  // a trace packs and unpacks the values that modules pass to one another
  if (whole->inputs().size() != 2) return std::nullopt;
  if (auto cut = cut_at(*whole, given_features)) return cut;
  return cut_at(*whole, last_dense_input);
}

std::string name_of(const ModelOptions& options) { return options.file.value_or("its network"); }

std::string bytes_of(const ModelOptions& options) {
  if (!options.program.defined()) return InputFile(*options.file).read_rest();
  return {static_cast<const char*>(options.program.data_ptr()), static_cast<size_t>(options.program.numel())};
}

torch::Tensor tensor_of_bytes(const std::string& bytes) {
  auto result = torch::empty({static_cast<int64_t>(bytes.size())}, torch::kUInt8);
  std::memcpy(result.data_ptr(), bytes.data(), bytes.size());
  return result;
}

/// A network that is a program in a file. It takes images as `mean` and `deviation` make them.
class ProgramClassifier : public Classifier {
 public:
  ProgramClassifier(const char* kind, const ModelOptions& options, const at::Generator& generator)
      : Classifier(kind), shape_(options.input), classes_(options.classes), name_(name_of(options)) {
    if (!options.mean) return;
    scale_ = std::make_shared<NormaliseLayer>(*options.mean, *options.deviation);
    scale_->output_shape(shape_);
    scale_->make_weights(generator);
    for (const auto& [suffix, module] : scale_->modules()) register_module("scale" + suffix, module);
  }

  const std::vector<int64_t>& input_shape() const override { return shape_; }
  int64_t classes() const override { return classes_; }
  bool has_dropout() const override { return false; }

 protected:
  const std::string& file() const { return name_; }

  torch::Tensor scaled(const torch::Tensor& inputs) const {
    if (inputs.dim() == 0 || inputs.sizes().slice(1) != torch::IntArrayRef(shape_))
      throw ArgumentError(fmt::format("network: inputs should be [N, {}], found [{}]", fmt::join(shape_, ", "),
                                      fmt::join(inputs.sizes(), ", ")));
    return scale_ ? scale_->forward(inputs) : inputs;
  }

  // Runs the program on two inputs, so that a network that mixes inputs is noticed.
  torch::Tensor of_example(const std::function<torch::Tensor(const torch::Tensor&)>& ask) {
    const torch::NoGradGuard no_gradient;
    eval();
    auto shape = shape_;
    shape.insert(shape.begin(), 2);
    try {
      auto given = ask(torch::zeros(shape));
      train();
      return given;
    } catch (const std::exception& error) {
      throw DataError(
          fmt::format("{}: does not take inputs [N, {}]: {}", name_, fmt::join(shape_, ", "), reason_of(error)));
    }
  }

  /// How many classes the program gives; the network takes that number if none was given.
  int64_t classes_of_example(const std::function<torch::Tensor(const torch::Tensor&)>& ask) {
    const auto logits = of_example(ask);
    if (logits.dim() != 2 || logits.size(0) != 2)
      throw DataError(
          fmt::format("{}: should give logits [N, K], gives [{}] of 2 inputs", name_, fmt::join(logits.sizes(), ", ")));
    if (classes_ == 0) classes_ = logits.size(1);
    return logits.size(1);
  }

 private:
  std::vector<int64_t> shape_;
  int64_t classes_;
  std::string name_;
  std::shared_ptr<NormaliseLayer> scale_;
};

class TorchScriptClassifier final : public ProgramClassifier {
 public:
  TorchScriptClassifier(const ModelOptions& options, const at::Generator& generator)
      : ProgramClassifier("TorchScript", options, generator), script_(loaded(options)), program_(program_of(script_)) {
    register_module("script", tensors_of(script_));
    if (auto cut = cut_before_last_layer(script_)) cut_ = std::make_shared<Cut>(*std::move(cut));
    const auto given = classes_of_example([this](const torch::Tensor& inputs) { return of_script(inputs); });
    if (cut_) feature_count_ = features_of_example();
    if (given == classes() && !options.dense) return;
    if (!cut_)
      throw ConfigError(
          fmt::format("{}: gives {} classes but {} are needed, and its last dense layer cannot be found to be "
                      "replaced: give it {} outputs in PyTorch",
                      file(), given, classes(), classes()));
    auto head = options;
    head.classes = classes();
    head.input = {feature_count_};
    head.dense = options.dense.value_or(std::vector<int64_t>{});
    head_ = register_module("head", std::make_shared<Network>(mlp_plan(head), generator));
  }

  torch::Tensor forward(const torch::Tensor& inputs) override {
    if (head_) return head_->forward(features(inputs));
    return of_script(inputs);
  }

  bool gives_features() const override { return cut_ != nullptr && feature_count_ > 0; }
  torch::Tensor features(const torch::Tensor& inputs) override {
    if (!cut_) return Classifier::features(inputs);
    return run(*cut_->features, {script_._ivalue(), scaled(inputs)});
  }
  torch::Tensor from_features(const torch::Tensor& features) override {
    if (head_) return head_->forward(features);
    if (!cut_) return Classifier::from_features(features);
    return run(*cut_->from_features, {script_._ivalue(), features});
  }
  std::vector<torch::Tensor> last_parameters() const override {
    if (head_) return head_->parameters();
    std::vector<torch::Tensor> last;
    if (!cut_) return last;
    for (const auto& item : script_.named_parameters())
      if (std::find(cut_->last.begin(), cut_->last.end(), item.name) != cut_->last.end()) last.push_back(item.value);
    return last;
  }

  void train(bool on = true) override {
    Classifier::train(on);
    script_.train(on);
  }
  using Classifier::to;
  void to(torch::Device device, bool non_blocking = false) override {
    Classifier::to(device, non_blocking);
    script_.to(device, non_blocking);  // constants of a trace, too
  }

  torch::Tensor program() const override { return program_; }

 private:
  // The program, with every weight replaced by one number: the weights are stored beside it, as for every network.
  // Called before anything runs the network, because its weights are away meanwhile.
  static torch::Tensor program_of(const jit::Module& script) {
    const torch::NoGradGuard no_gradient;
    std::vector<std::pair<torch::Tensor, torch::Tensor>> kept;
    const auto hollow = [&](torch::Tensor tensor) {
      kept.emplace_back(tensor, tensor.detach());
      tensor.set_data(torch::zeros({}, tensor.options().device(torch::kCPU)).expand(tensor.sizes()));
    };
    for (const auto& parameter : script.parameters()) hollow(parameter);
    for (const auto& buffer : script.buffers()) hollow(buffer);
    std::ostringstream stream;
    script.save(stream);
    // Backwards: a tensor that several modules share is kept several times, and only the first time with its values.
    for (auto one = kept.rbegin(); one != kept.rend(); ++one) one->first.set_data(one->second);
    return tensor_of_bytes(std::move(stream).str());
  }

  static jit::Module loaded(const ModelOptions& options) {
    std::istringstream stream(bytes_of(options));
    try {
      auto script = jit::load(stream, torch::kCPU);
      const torch::NoGradGuard no_gradient;
      // The weights in program() are placeholders.
      const auto fill = [](torch::Tensor tensor) { tensor.set_data(tensor.detach().contiguous().clone()); };
      for (const auto& parameter : script.parameters()) fill(parameter);
      for (const auto& buffer : script.buffers()) fill(buffer);
      return script;
    } catch (const std::exception& error) {
      throw DataError(fmt::format("{}: is not a TorchScript network: {}", name_of(options), reason_of(error)));
    }
  }

  static torch::Tensor tensor_of(const c10::IValue& value) {
    if (value.isTensor()) return value.toTensor();
    if (value.isTuple() && !value.toTuple()->elements().empty() && value.toTuple()->elements()[0].isTensor())
      return value.toTuple()->elements()[0].toTensor();
    throw DataError("a TorchScript network should give a tensor of logits, found " + value.tagKind());
  }

  // Runs the program as it is written, without rewriting it for speed, which would depend on earlier calls.
  template <class Call>
  static torch::Tensor as_written(const Call& call) {
    const jit::GraphOptimizerEnabledGuard no_rewriting(false);
    try {
      return tensor_of(call());
    } catch (const Error&) {
      throw;
    } catch (const std::runtime_error& error) {
      throw Error(fmt::format("the TorchScript network failed: {}", reason_of(error)));
    }
  }

  torch::Tensor of_script(const torch::Tensor& inputs) const {
    return as_written([&] { return script_.forward({scaled(inputs)}); });
  }

  static torch::Tensor run(jit::GraphFunction& function, jit::Stack stack) {
    return as_written([&] {
      function.run(stack);
      return stack.front();
    });
  }

  // 0 if they are not rows.
  int64_t features_of_example() {
    const auto features = of_example([this](const torch::Tensor& inputs) { return this->features(inputs); });
    return features.dim() == 2 && features.size(0) == 2 ? features.size(1) : 0;
  }

  mutable jit::Module script_;
  torch::Tensor program_;
  std::shared_ptr<Cut> cut_;
  std::shared_ptr<Network> head_;
  int64_t feature_count_ = 0;
};

#if PRIORNET_RUNS_PACKAGES

// Weights are part of the package, and so of the program: it has no parameters.
class PackageClassifier final : public ProgramClassifier {
 public:
  PackageClassifier(const ModelOptions& options, const at::Generator& generator)
      : ProgramClassifier("AOTInductor package", options, generator), program_(tensor_of_bytes(bytes_of(options))) {
    try {
      loader_ = loaded();
      const auto facts = loader_->get_metadata();
      const auto device = facts.find("AOTI_DEVICE_KEY");
      if (device != facts.end()) device_ = torch::Device(device->second);
    } catch (const std::exception& error) {
      throw DataError(fmt::format("{}: is not an AOTInductor package: {}", file(), reason_of(error)));
    }
    const auto given = classes_of_example([this](const torch::Tensor& inputs) { return forward(inputs); });
    if (given != classes() || options.dense)
      throw ConfigError(
          fmt::format("{}: gives {} classes but {} are needed, and the last layer of an AOTInductor package cannot be "
                      "replaced: give it {} outputs in PyTorch",
                      file(), given, classes(), classes()));
  }

  // On the device that it was compiled for, wherever the inputs lie.
  torch::Tensor forward(const torch::Tensor& inputs) override {
    if (inputs.requires_grad()) throw Error("an AOTInductor package gives no gradients");
    std::vector<torch::Tensor> given = {scaled(inputs).to(device_).contiguous()};
    std::vector<torch::Tensor> outputs;
    try {
      outputs = loader_->run(given);
    } catch (const std::exception& error) {  // by version: of LibTorch or of the standard library
      throw Error(fmt::format(
          "the AOTInductor package failed (export it with dynamic_shapes, so that it takes batches of any size): {}",
          reason_of(error)));
    }
    if (outputs.empty()) throw DataError("the AOTInductor package gives no tensor");
    return outputs[0].to(inputs.device());
  }

  torch::Tensor program() const override { return program_; }

 private:
  using Loader = torch::inductor::AOTIModelPackageLoader;

  // LibTorch reads packages only from files. Use a folder that no other user can write to, because what lies there is
  // run.
  std::unique_ptr<Loader> loaded() const {
    auto folder = (std::filesystem::temp_directory_path() / "priornet-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw Error("cannot make a folder in " + folder);
    const auto path = std::filesystem::path(folder) / "network.pt2";
    std::unique_ptr<Loader> loader;
    std::exception_ptr failure;
    try {
      AtomicFile file(path);
      file.write(program_.data_ptr(), program_.nbytes());
      file.commit();
      loader = std::make_unique<Loader>(path.string());
    } catch (...) {
      failure = std::current_exception();
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (failure) std::rethrow_exception(failure);
    return loader;
  }

  torch::Tensor program_;
  std::unique_ptr<Loader> loader_;
  torch::Device device_ = torch::kCPU;
};

std::shared_ptr<Classifier> make_package(const ModelOptions& options, const at::Generator& generator) {
  return std::make_shared<PackageClassifier>(options, generator);
}

#else

std::shared_ptr<Classifier> make_package(const ModelOptions& options, const at::Generator&) {
  throw DataError(
      fmt::format("{}: is an AOTInductor package, which needs LibTorch 2.6 or later, and this program has {}: make a "
                  "file of the network with torch.jit.script or torch.jit.trace",
                  name_of(options), TORCH_VERSION));
}

#endif

}  // namespace

bool is_package(const ModelOptions& options) { return options.file && options.file->ends_with(".pt2"); }

std::shared_ptr<Classifier> make_program(const ModelOptions& options, const at::Generator& generator) {
  if (is_package(options)) return make_package(options, generator);
  return std::make_shared<TorchScriptClassifier>(options, generator);
}

}  // namespace priornet
