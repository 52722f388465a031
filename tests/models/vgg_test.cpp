#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

#include "learning/networks/architectures.h"

namespace priornet {
namespace {

// Weights and biases counted by hand: 640 + 36,928 + 73,856 + 147,584 + 627,300 + 1,010.
TEST(VGG, HasThePapersNetworkForMnist) {
  VGG network(vgg6(), make_generator(1));
  EXPECT_EQ(parameter_count(*network), 887'318);
  EXPECT_EQ(network->forward(torch::zeros({2, 1, 28, 28})).sizes(), (std::vector<int64_t>{2, 10}));
}

// 14,710,464 of 13 convolutions without biases, 4,224 biases, then 512, 2048, 2048 and 10 units.
TEST(VGG, HasThePapersNetworkForCifar) {
  VGG network(vgg16(), make_generator(1));
  EXPECT_EQ(parameter_count(*network), 14'710'464 + 4'224 + 513 * 2048 + 2049 * 2048 + 2049 * 10);
}

TEST(VGG, DescribesItsLayers) {
  auto options = vgg6();
  options.keep_dense = 0.5;
  VGG network(options, make_generator(1));
  const auto layers = network->describe();
  ASSERT_EQ(layers.size(), 8u);
  EXPECT_EQ(layers[0].name, "conv 3x3, 64");
  EXPECT_EQ(layers[0].output, (std::vector<int64_t>{64, 28, 28}));
  EXPECT_EQ(layers[0].parameters, 640);
  EXPECT_EQ(layers[3].name, "conv 3x3, 128, max pool 2x2");
  EXPECT_EQ(layers[3].output, (std::vector<int64_t>{128, 7, 7}));
  EXPECT_EQ(layers[6].name, "keep 0.5");
  EXPECT_EQ(layers[7].name, "logits, 10");
  EXPECT_EQ(layers[0].multiply_adds, 28 * 28 * 64 * 9);
  EXPECT_EQ(layers[3].multiply_adds, 14 * 14 * 128 * 128 * 9);
  EXPECT_EQ(layers[7].multiply_adds, 1000);
  EXPECT_TRUE(network->is_training());
}

TEST(VGG, CanBeCutWhereItsDropoutBegins) {
  auto options = vgg6();
  options.blocks = {{4}};
  EXPECT_FALSE(VGG(options, make_generator(1))->has_dropout());
  options.keep_dense = 0.5;
  VGG network(options, make_generator(1));
  EXPECT_TRUE(network->has_dropout());
  const auto inputs = torch::randn({3, 1, 28, 28}, make_generator(2));
  network->train();
  const auto values = network->before_dropout(inputs);
  EXPECT_EQ(values.sizes(), (std::vector<int64_t>{3, 100}));
  EXPECT_TRUE(values.equal(network->before_dropout(inputs)));
  EXPECT_FALSE(network->from_dropout(values).equal(network->from_dropout(values)));
  network->eval();
  EXPECT_TRUE(network->from_dropout(values).equal(network->forward(inputs)));
}

// With gain sqrt(2) the mean square of a layer's output equals that of its input, however deep the network is.
TEST(VGG, StartsWithValuesOfOneSize) {
  auto options = vgg16();
  options.blocks = {{64, 64, 64, 64, 64, 64}};
  options.dense = {256, 256, 256};
  VGG network(options, make_generator(5));
  const torch::NoGradGuard no_gradient;
  const auto logits = network->forward(torch::randn({64, 3, 32, 32}, make_generator(6)));
  const auto size = logits.square().mean().item<double>();
  EXPECT_GT(size, 0.2);
  EXPECT_LT(size, 10.0);
}

TEST(VGG, StartsWithTheGainItIsGiven) {
  auto options = vgg6();
  options.gain = 0.5;
  const VGG network(options, make_generator(5));
  for (const auto& item : network->named_parameters()) {
    if (item.value().dim() < 2 || item.key() == "logits.weight") continue;
    const auto fan_in = static_cast<double>(item.value().numel() / item.value().size(0));
    EXPECT_NEAR(fan_in * item.value().square().mean().item<double>(), 0.5, 0.1) << item.key();
  }
}

// Dropout does not change the output of the last convolution of a block, which goes to the pooling.
TEST(VGG, DropsNothingBeforePooling) {
  auto options = vgg16();
  options.keep_convolution = 0.8;
  int64_t dropped = 0;
  for (const auto& layer : VGG(options, make_generator(1))->describe()) dropped += layer.name == "keep 0.8" ? 1 : 0;
  EXPECT_EQ(dropped, 13 - 5);
}

TEST(VGG, DropsOnlyWhileItTrains) {
  auto options = vgg6();
  options.keep_convolution = 0.8;
  options.keep_dense = 0.5;
  VGG network(options, make_generator(1));
  const auto images = torch::randn({3, 1, 28, 28}, make_generator(2));
  EXPECT_FALSE(network->forward(images).equal(network->forward(images)));
  network->eval();
  EXPECT_TRUE(network->forward(images).equal(network->forward(images)));
}

TEST(VGG, KeepsItsParametersNamesWhateverIsDropped) {
  auto options = vgg6();
  const auto plain = VGG(options, make_generator(1))->named_parameters().keys();
  options.keep_convolution = 0.8;
  EXPECT_EQ(VGG(options, make_generator(1))->named_parameters().keys(), plain);
  EXPECT_EQ(plain.front(), "conv1.weight");
  EXPECT_EQ(plain.back(), "logits.bias");
}

TEST(VGG, RejectsWhatItCannotTake) {
  auto options = vgg6();
  options.keep_dense = 0.0;
  EXPECT_THROWS(ArgumentError, VGG(options, make_generator(1)),
                "VGG: each keep probability should be in (0, 1], found 0");
  options = vgg16();
  options.input = {3, 28, 28};
  EXPECT_THROWS(ArgumentError, VGG(options, make_generator(1)),
                "VGG: the image should be large enough to be halved 5 times, found 28");
  VGG network(vgg6(), make_generator(1));
  EXPECT_THROWS(ArgumentError, network->forward(torch::zeros({2, 3, 28, 28})),
                "network: inputs should be [N, 1, 28, 28], found [2, 3, 28, 28]");
}

}  // namespace
}  // namespace priornet
