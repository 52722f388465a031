#include <priornet/learning/networks.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

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

// Of the 18-layer network for CIFAR in He et al.: 11,173,962 for 10 classes.
TEST(Model, HasTheParametersOfResNet18) {
  auto options = options_of("resnet18");
  options.classes = 10;
  EXPECT_EQ(parameter_count(*make_model(options, make_generator(1))), 11'173'962);
}

// 3x3 convolutions of 3 to 64, and of 64 to 64 four times, at 32x32; then three groups of 64 x 128 x 9 and three times
// 128 x 128 x 9 and a shortcut of 64 x 128 at 16x16, or what halves and doubles make of it; 5120 at the end.
TEST(Model, CountsTheMultiplyAddsOfResNet18) {
  auto options = options_of("resnet18");
  options.classes = 10;
  const int64_t group = (64 * 128 * 9 + 3 * 128 * 128 * 9 + 64 * 128) * 256;
  EXPECT_EQ(multiply_adds(*make_model(options, make_generator(1))),
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
  EXPECT_THROWS(ConfigError, make_model(options_of("vgg7"), make_generator(1)),
                "there is no model vgg7: should be one of mlp, vgg6, vgg16, resnet18");
  auto options = options_of("mlp");
  options.batch_norm = true;
  EXPECT_THROWS(ConfigError, make_model(options, make_generator(1)), "model mlp has no option batch_norm");
}

}  // namespace
}  // namespace priornet
