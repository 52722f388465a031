#include <fmt/format.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/predictor.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/learning/trained_run.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_runs.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/nn/modules/linear.h>

namespace priornet {
namespace {

// A network as a user writes it who does not know priornet.
struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl(int64_t inputs, int64_t classes)
      : first(register_module("first", torch::nn::Linear(inputs, 6))),
        last(register_module("last", torch::nn::Linear(6, classes))) {}
  torch::Tensor hidden(const torch::Tensor& x) { return first->forward(x.flatten(1)).relu(); }
  torch::Tensor forward(const torch::Tensor& x) { return last->forward(hidden(x)); }

  torch::nn::Linear first, last;
};
TORCH_MODULE(TwoLayers);

std::shared_ptr<Classifier> two_layers(const ModelOptions& options) {
  int64_t inputs = 1;
  for (const auto size : options.input) inputs *= size;
  TwoLayers net(inputs, options.classes);
  ModuleOptions module;
  module.input_shape = options.input;
  module.classes = options.classes;
  module.forward = [net](const torch::Tensor& x) mutable { return net->forward(x); };
  module.features = [net](const torch::Tensor& x) mutable { return net->hidden(x); };
  module.from_features = [net](const torch::Tensor& x) mutable { return net->last->forward(x); };
  module.last_parameters = net->last->parameters();
  return as_classifier(net.ptr(), std::move(module));
}

void register_two_layers() {
  for (const auto& row : model_table())
    if (row.name == "two-layers") return;
  register_model({.name = "two-layers",
                  .summary = "of a test",
                  .options = {},
                  .plan = {},
                  .make = [](const ModelOptions& options, const at::Generator&) { return two_layers(options); }});
}

TEST(Classifier, OfAHolderNeedsItsShapeAlone) {
  const auto classifier = as_classifier(TwoLayers(4, 3), {4}, 3);
  EXPECT_EQ(classifier->forward(torch::zeros({5, 4})).sizes(), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(parameter_count(*classifier), 4 * 6 + 6 + 6 * 3 + 3);
  EXPECT_FALSE(classifier->gives_features());
  EXPECT_THROW(classifier->features(torch::zeros({5, 4})), ArgumentError);
  EXPECT_THROWS(ArgumentError, classifier->forward(torch::zeros({5, 7})),
                "classifier: inputs should be [N, 4], found [5, 7]");
}

TEST(Classifier, OfOursGivesFeaturesThatMakeItsLogits) {
  ModelOptions options;
  options.name = "vgg6";
  options.blocks = {{4}, {8}};
  options.dense = {{10}};
  options.input = {1, 8, 8};
  options.classes = 3;
  const auto network = make_model(options, make_generator(1));
  network->eval();
  const auto inputs = torch::rand({4, 1, 8, 8});
  const auto features = network->features(inputs);
  EXPECT_EQ(features.sizes(), (std::vector<int64_t>{4, 10}));
  EXPECT_TRUE(network->from_features(features).equal(network->forward(inputs)));
  EXPECT_EQ(network->last_parameters().size(), 2U);
}

TEST(Classifier, OfAUserIsTrainedStoredAndAskedAsOursAre) {
  register_two_layers();
  const TemporaryFolder folder;
  auto config = small_config();
  config.model = {};
  config.model.name = "two-layers";
  const auto network = trained(config, RunFolder(folder / "run", RunFolder::Start::kNew));
  const auto inputs = small_sets().train.inputs;
  EXPECT_TRUE(infer(*load_run(folder / "run").members[0], inputs).equal(infer(*network, inputs)));
  write_model_file(folder / "m.priornet", model_of_run(folder / "run"));
  const auto said = Predictor(read_model_file(folder / "m.priornet")).predict(inputs);
  EXPECT_TRUE(torch::allclose(said.logits.to(torch::kFloat32), infer(*network, inputs), 1e-4, 1e-5));
}

TEST(Classifier, ThatIsFrozenLearnsInItsLastLayersAlone) {
  register_two_layers();
  const TemporaryFolder folder;
  for (const auto* name : {"two-layers", "vgg6"}) {
    auto config = small_config();
    if (config.model.name != name) config.model = {};
    config.model.name = name;
    config.epochs = 1;
    config.freeze = true;
    const auto start = make_model(model_for(config, small_sets().train), make_generator(0));
    write_tensor_file(folder / "start.safetensors", [&] {
      std::vector<NamedTensor> weights;
      for (const auto& item : start->named_parameters()) weights.push_back({item.key(), item.value().detach()});
      for (const auto& item : start->named_buffers()) weights.push_back({item.key(), item.value()});
      return weights;
    }());
    config.weights = folder / "start.safetensors";
    const auto network = trained(config, RunFolder(folder / name, RunFolder::Start::kNew));
    size_t changed = 0;
    for (const auto& item : network->named_parameters())
      changed += item.value().equal(start->named_parameters()[item.key()]) ? 0 : 1;
    EXPECT_EQ(changed, network->last_parameters().size()) << name;
    for (const auto& item : network->named_buffers())
      EXPECT_TRUE(item.value().equal(start->named_buffers()[item.key()])) << item.key();
  }
}

TEST(Classifier, NormalisesImagesPerChannel) {
  ModelOptions options;
  options.name = "resnet18";
  options.channels = {4};
  options.input = {3, 8, 8};
  options.classes = 3;
  const auto plain = make_model(options, make_generator(1));
  options.mean = {{0.5, 0.4, 0.3}};
  options.deviation = {{0.2, 0.25, 0.3}};
  const auto scaled = make_model(options, make_generator(1));
  plain->eval();
  scaled->eval();
  const auto unit = torch::rand({2, 3, 8, 8});
  const auto per_channel = [](const std::vector<double>& values) {
    return torch::tensor(values, torch::kFloat32).view({1, 3, 1, 1});
  };
  const auto wanted = plain->forward((unit - per_channel(*options.mean)) / per_channel(*options.deviation));
  EXPECT_TRUE(torch::allclose(scaled->forward(unit * 2 - 1), wanted, 1e-4, 1e-5));
  options.mean = {{0.5}};
  EXPECT_THROWS(ConfigError, make_model(options, make_generator(1)),
                "data.mean and data.deviation should have 3 numbers each, one per channel");
  options.mean.reset();
  EXPECT_THROWS(ConfigError, make_model(options, make_generator(1)),
                "data.mean and data.deviation should be given together");
}

// What torch.jit.script makes of a small network: a hidden layer whose output is rectified, and a last one.
std::string scripted(const TemporaryFolder& folder, int64_t inputs, int64_t classes, const char* last) {
  torch::jit::Module script("net");
  torch::jit::Module fc("fc");
  auto generator = make_generator(7);
  const auto weight = [&](int64_t to, int64_t from) { return torch::randn({to, from}, generator); };
  script.register_parameter("weight", weight(5, inputs), false);
  fc.register_parameter("weight", weight(classes, 5), false);
  fc.register_parameter("bias", weight(1, classes)[0], false);
  script.register_module("fc", fc);
  script.register_buffer("shift", torch::ones({5}));
  script.define(fmt::format(R"(
def forward(self, x):
    hidden = torch.relu(torch.matmul(torch.flatten(x, 1), self.weight.t()) + self.shift)
    return {}
)",
                            last));
  const auto path = (folder / "net.pt").string();
  script.save(path);
  return path;
}

constexpr const char* kLinear = "torch.linear(hidden, self.fc.weight, self.fc.bias)";
constexpr const char* kProduct = "torch.addmm(self.fc.bias, hidden, self.fc.weight.t())";

ModelOptions scripted_options(const std::string& path) {
  ModelOptions options;
  options.file = path;
  options.input = {2, 3, 3};
  options.classes = 4;
  return options;
}

TEST(TorchScript, GivesTheLogitsOfItsFileAndFeaturesThatMakeThem) {
  const TemporaryFolder folder;
  for (const auto* last : {kLinear, kProduct}) {
    const auto path = scripted(folder, 18, 4, last);
    const auto network = make_model(scripted_options(path), make_generator(1));
    network->eval();
    const auto inputs = torch::randn({3, 2, 3, 3});
    auto script = torch::jit::load(path);
    EXPECT_TRUE(network->forward(inputs).equal(script.forward({inputs}).toTensor())) << last;
    ASSERT_TRUE(network->gives_features()) << last;
    EXPECT_EQ(network->features(inputs).sizes(), (std::vector<int64_t>{3, 5}));
    EXPECT_TRUE(network->from_features(network->features(inputs)).equal(network->forward(inputs))) << last;
    EXPECT_EQ(parameter_count(*network), 5 * 18 + 4 * 5 + 4);
    EXPECT_TRUE(network->named_parameters().contains("script.fc.weight"));
  }
}

TEST(TorchScript, TakesTheFeaturesThatItGivesBesideTheLogitsWhereTheyMakeThem) {
  const TemporaryFolder folder;
  const auto inputs = torch::randn({3, 2, 3, 3});
  const auto made = [&](const char* last) {
    auto network = make_model(scripted_options(scripted(folder, 18, 4, last)), make_generator(1));
    network->eval();
    return network;
  };
  const auto wanted = made(kLinear)->forward(inputs);

  // Two layers follow the features: the last dense layer alone would have other features.
  const auto named = made("torch.linear(2 * hidden, self.fc.weight, self.fc.bias), hidden");
  EXPECT_TRUE(torch::allclose(named->features(inputs), made(kLinear)->features(inputs)));
  EXPECT_TRUE(named->from_features(named->features(inputs)).equal(named->forward(inputs)));
  EXPECT_EQ(named->last_parameters().size(), 2u);

  // The second output is not what the logits are made from, so the input of the last dense layer counts as the
  // features.
  const auto unrelated = made("torch.linear(hidden, self.fc.weight, self.fc.bias), torch.flatten(x, 1)");
  EXPECT_TRUE(unrelated->forward(inputs).equal(wanted));
  EXPECT_EQ(unrelated->features(inputs).size(1), 5);
  EXPECT_TRUE(unrelated->from_features(unrelated->features(inputs)).equal(wanted));
}

TEST(TorchScript, GetsANewLastLayerWhereTheClassesDiffer) {
  const TemporaryFolder folder;
  const auto path = scripted(folder, 18, 7, kLinear);
  auto options = scripted_options(path);
  const auto network = make_model(options, make_generator(1));
  const auto inputs = torch::randn({3, 2, 3, 3});
  EXPECT_EQ(network->forward(inputs).sizes(), (std::vector<int64_t>{3, 4}));
  EXPECT_TRUE(network->named_parameters().contains("head.layer0.weight"));
  EXPECT_EQ(network->last_parameters().size(), 2U);
  options.dense = {{6}};
  EXPECT_EQ(make_model(options, make_generator(1))->last_parameters().size(), 4U);
}

TEST(TorchScript, IsRefusedWithAReason) {
  const TemporaryFolder folder;
  auto options = scripted_options(folder.file("no.pt", "no network"));
  try {
    make_model(options, make_generator(1));
    FAIL() << "a text was taken for a network";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("is not a TorchScript network"), std::string::npos) << error.what();
  }
  options = scripted_options(scripted(folder, 20, 4, kLinear));
  try {
    make_model(options, make_generator(1));
    FAIL() << "inputs of another size were taken";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("does not take inputs [N, 2, 3, 3]"), std::string::npos) << error.what();
  }
  options = scripted_options(scripted(folder, 18, 7, "torch.matmul(hidden, self.fc.weight.t())"));
  try {
    make_model(options, make_generator(1));
    FAIL() << "a last layer was replaced that cannot be found";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("gives 7 classes but 4 are needed"), std::string::npos) << error.what();
  }
}

// What torch.jit.freeze leaves: constants instead of parameters.
TEST(TorchScript, NeedsNoParametersAndSaysHowManyClassesItGives) {
  const TemporaryFolder folder;
  torch::jit::Module script("net");
  script.define("def forward(self, x):\n    return 2.0 * torch.flatten(x, 1)[:, :6]\n");
  script.save((folder / "frozen.pt").string());
  auto options = scripted_options((folder / "frozen.pt").string());
  options.classes = 0;
  const auto network = make_model(options, make_generator(1));
  EXPECT_EQ(network->classes(), 6);
  const auto inputs = torch::rand({5, 2, 3, 3});
  EXPECT_TRUE(infer(*network, inputs).equal(2.0 * inputs.flatten(1).narrow(1, 0, 6)));
}

// A package runs only if LibTorch can load it, and it is never trained.
TEST(Package, IsRefusedWithAReason) {
  const TemporaryFolder folder;
  const auto options = scripted_options(folder.file("net.pt2", "no package"));
  try {
    make_model(options, make_generator(1));
    FAIL() << "a text was taken for a package";
  } catch (const DataError& error) {
    const std::string said = error.what();
    EXPECT_TRUE(said.find("is an AOTInductor package, which needs LibTorch 2.6 or later") != std::string::npos ||
                said.find("is not an AOTInductor package") != std::string::npos)
        << said;
    EXPECT_EQ(said.find(*options.file), 0U) << said;
  }
  auto config = small_config();
  config.model = {};
  config.model.file = options.file;
  const RunFolder run(folder / "run", RunFolder::Start::kNew);
  EXPECT_THROWS(ConfigError, trained(config, run),
                ("model.file: " + *options.file +
                 " is an AOTInductor package, which cannot be trained: use priornet calibrate --network")
                    .c_str());
}

TEST(TorchScript, IsTrainedStoredAndOpenedOnlyWhereItIsAllowed) {
  const TemporaryFolder folder;
  const auto set = small_sets().train;
  auto config = small_config();
  config.model = {};
  const auto inputs = set.inputs[0].numel();
  config.model.file = scripted(folder, inputs, 9, kLinear);  // more classes than the set has
  const RunFolder run(folder / "run", RunFolder::Start::kNew);
  const auto network = trained(config, run);
  std::filesystem::remove(*config.model.file);  // the run does not need the file any more
  const auto wanted = infer(*network, set.inputs);
  EXPECT_THROWS(DataError, load_run(folder / "run"),
                ((folder / "run").string() +
                 ": holds a network that PyTorch scripted or compiled, which is a program: give --allow-torchscript "
                 "(in Python allow_torchscript=True) if you trust the person who made it")
                    .c_str());
  OpenOptions open;
  open.allow_torchscript = true;
  EXPECT_TRUE(infer(*load_run(folder / "run", open).members[0], set.inputs).equal(wanted));

  write_model_file(folder / "m.priornet", model_of_run(folder / "run", open));
  EXPECT_THROW(read_model_file(folder / "m.priornet"), DataError);
  Predictor predictor(read_model_file(folder / "m.priornet", open));
  EXPECT_TRUE(torch::allclose(predictor.predict(set.inputs).logits.to(torch::kFloat32), wanted, 1e-4, 1e-5));
}

TEST(Pretrained, WeightsMustFitButForTheLastLayer) {
  const TemporaryFolder folder;
  ModelOptions options;
  options.name = "resnet18";
  options.channels = {4, 8};
  options.input = {3, 16, 16};
  options.classes = 3;
  const auto source = make_model(options, make_generator(1));
  std::vector<NamedTensor> weights;
  for (const auto& item : source->named_parameters()) weights.push_back({item.key(), item.value().detach()});
  for (const auto& item : source->named_buffers()) weights.push_back({item.key(), item.value()});
  write_tensor_file(folder / "w.safetensors", weights);

  options.classes = 5;
  const auto other = make_model(options, make_generator(2));
  const auto last = other->last_parameters()[0].clone();
  load_pretrained(*other, folder / "w.safetensors");
  const auto inputs = torch::randn({2, 3, 16, 16});
  EXPECT_TRUE(other->features(inputs).equal(source->features(inputs)));
  EXPECT_TRUE(other->last_parameters()[0].equal(last));

  options.channels = {4, 9};
  const auto misfit = make_model(options, make_generator(2));
  try {
    load_pretrained(*misfit, folder / "w.safetensors");
    FAIL() << "weights of another network were taken";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("block2_1.first.weight is [8, 4, 3, 3], should be [9, 4, 3, 3], and "),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace priornet
