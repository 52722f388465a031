#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>
#include <torch/nn/modules/linear.h>

namespace priornet {
namespace {

ModelOptions options_of(const std::string& name) {
  ModelOptions options;
  options.name = name;
  options.input = name == "mlp" ? std::vector<int64_t>{7} : std::vector<int64_t>{3, 32, 32};
  options.classes = 5;
  return options;
}

TEST(Model, IsMadeByName) {
  for (const auto& name : model_names()) {
    const auto network = make_model(options_of(name), make_generator(1));
    network->eval();
    auto shape = network->input_shape();
    shape.insert(shape.begin(), 2);
    EXPECT_EQ(network->forward(torch::zeros(shape)).sizes(), (std::vector<int64_t>{2, 5})) << name;
  }
}

// The size limits of a model file are checked before its weights are read.
TEST(Model, KnowsItsSizeBeforeItHasWeights) {
  for (const auto& name : model_names()) {
    auto options = options_of(name);
    const auto network = make_model(options, make_generator(1));
    EXPECT_EQ(plan_model(options)->size().parameters, static_cast<double>(parameter_count(*network))) << name;
    int64_t sum = 0;
    network->eval();
    auto shape = network->input_shape();
    shape.insert(shape.begin(), 2);
    auto values = torch::zeros(shape);
    const auto rows = network->describe();
    for (size_t i = 0; i < rows.size(); ++i) {
      values = dynamic_cast<Network&>(*network).plan().layer(i).forward(values);
      EXPECT_EQ(values.sizes().slice(1), torch::IntArrayRef(rows[i].output)) << name << ", " << rows[i].name;
      sum += rows[i].parameters;
    }
    EXPECT_EQ(sum, parameter_count(*network)) << name;
  }
}

TEST(Model, CountsAbsurdSizesWithoutOverflowOrRefusesThem) {
  auto options = options_of("mlp");
  options.dense = {int64_t{1} << 62, int64_t{1} << 62};
  EXPECT_GT(plan_model(options)->size().parameters, 1e37);
  options = options_of("vgg6");
  options.blocks.emplace(1, std::vector<int64_t>(1, int64_t{1} << 62));
  EXPECT_THROWS(ArgumentError, plan_model(options), "network: a layer of 4611686018427387904 x 16 values is too large");
}

TEST(Model, TellsWhichNetworksHaveAnOption) {
  EXPECT_EQ(model_option_meaning("blocks"), "vgg6, vgg16: channels of each convolution, one list per block");
  EXPECT_THROWS(ArgumentError, model_option_meaning("colour"), "networks have no option colour");
  for (const auto& row : model_table())
    for (const auto& option : row.options) EXPECT_NE(model_option_meaning(option).find(row.name), std::string::npos);
}

// A layer from outside this repository: it has only the interface.
class OwnLayer : public Layer {
 public:
  std::string label() const override { return "own"; }
  Shape output_shape(const Shape&) const override { return {3}; }
  Size size(const Shape& input) const override { return {3.0 * static_cast<double>(input[0]) + 3.0, 0.0}; }
  void make_weights(const at::Generator&) override { linear_ = torch::nn::Linear(4, 3); }
  Modules modules() const override { return {{"", linear_.ptr()}}; }
  torch::Tensor forward(const torch::Tensor& x) override { return linear_->forward(x).sin(); }

 private:
  torch::nn::Linear linear_ = nullptr;
};

TEST(Network, TakesLayersOfOthers) {
  NetworkPlan plan({4}, 3);
  plan.add("mine", std::make_shared<OwnLayer>());
  Network network(std::move(plan), make_generator(1));
  EXPECT_EQ(network.named_parameters().keys().front(), "mine.weight");
  EXPECT_EQ(network.forward(torch::zeros({2, 4})).sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(network.has_dropout());
  NetworkPlan wrong({4}, 5);
  wrong.add("mine", std::make_shared<OwnLayer>());
  EXPECT_THROWS(ArgumentError, Network(std::move(wrong), make_generator(1)),
                "network: its last layer should give [5] logits, found [3]");
}

// The 18-layer network for CIFAR in He et al. has 11,173,962 weights for 10 classes.
TEST(Model, HasTheParametersOfResNet18) {
  auto options = options_of("resnet18");
  options.classes = 10;
  EXPECT_EQ(parameter_count(*make_model(options, make_generator(1))), 11'173'962);
}

/// For ImageNet's photographs.
ModelOptions imagenet(const std::string& name) {
  auto options = options_of(name);
  options.input = {3, 224, 224};
  options.classes = 1000;
  return options;
}

// torchvision's.
TEST(Model, HasTheParametersOfResNetsForPhotographs) {
  EXPECT_EQ(plan_model(imagenet("resnet18"))->size().parameters, 11'689'512);
  EXPECT_EQ(plan_model(imagenet("resnet34"))->size().parameters, 21'797'672);
  EXPECT_EQ(plan_model(imagenet("resnet50"))->size().parameters, 25'557'032);
}

// As the published implementations have it, for 10 classes.
TEST(Model, HasTheParametersOfWideResNet) {
  auto options = options_of("wide-resnet-28-10");
  options.classes = 10;
  EXPECT_EQ(plan_model(options)->size().parameters, 36'479'194);
}

TEST(Model, HalvesLargeImagesTwiceBeforeTheBlocks) {
  auto options = options_of("resnet18");
  options.input = {3, 65, 64};
  const auto layers = plan_model(options)->describe();
  EXPECT_EQ(layers[0].output, (std::vector<int64_t>{64, 33, 32}));
  EXPECT_EQ(layers[1].output, (std::vector<int64_t>{64, 17, 16}));
  options.input = {3, 64, 64};
  EXPECT_EQ(plan_model(options)->describe()[1].output, (std::vector<int64_t>{64, 64, 64}));
}

// 3x3 convolutions of 3 to 64, and of 64 to 64 four times, at 32x32; then three groups of 64 x 128 x 9 and three times
// 128 x 128 x 9 and a shortcut of 64 x 128 at 16x16, or what halves and doubles make of it; 5120 at the end.
TEST(Model, CountsTheMultiplyAddsOfResNet18) {
  auto options = options_of("resnet18");
  options.classes = 10;
  const int64_t group = (64 * 128 * 9 + 3 * 128 * 128 * 9 + 64 * 128) * 256;
  EXPECT_EQ(static_cast<int64_t>(plan_model(options)->size().multiply_adds),
            (3 * 64 * 9 + 4 * 64 * 64 * 9) * 1024 + 3 * group + 5120);
}

TEST(Model, TakesWhatIsAskedFor) {
  auto options = options_of("vgg6");
  options.blocks = {{8}, {16}};
  options.dense = {20};
  options.batch_norm = true;
  // 3x3x3x8, its norm, 3x3x8x16, its norm, 16x8x8 to 20, 20 to 5.
  EXPECT_EQ(parameter_count(*make_model(options, make_generator(1))), 216 + 16 + 1152 + 32 + 1025 * 20 + 21 * 5);
}

TEST(Model, RefusesWhatItDoesNotHave) {
  const auto wanted = fmt::format("there is no model vgg7: should be one of {}", fmt::join(model_names(), ", "));
  EXPECT_THROWS(ConfigError, make_model(options_of("vgg7"), make_generator(1)), wanted.c_str());
  auto options = options_of("mlp");
  options.batch_norm = true;
  EXPECT_THROWS(ConfigError, make_model(options, make_generator(1)), "model mlp has no option batch_norm");
}

}  // namespace
}  // namespace priornet
