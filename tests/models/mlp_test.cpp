#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/throws.h>

#include "learning/networks/architectures.h"

namespace priornet {
namespace {

MLPOptions small() { return {.inputs = 2, .hidden = {50}, .classes = 3, .input_scale = 0.1}; }

TEST(MLP, ComputesReluBetweenItsLayers) {
  MLP network(small(), make_generator(1));
  const auto weights = network->named_parameters();
  const auto points = torch::randn({7, 2}) * 10;
  const auto hidden = (0.1 * points.matmul(weights["layer0.weight"].t()) + weights["layer0.bias"]).clamp_min(0);
  const auto wanted = hidden.matmul(weights["layer1.weight"].t()) + weights["layer1.bias"];
  EXPECT_TRUE(network->forward(points).allclose(wanted, 1e-5, 1e-6));
}

TEST(MLP, HasTheLayersItWasAskedFor) {
  MLP deep(MLPOptions{.inputs = 4, .hidden = {8, 6}, .classes = 5}, make_generator(1));
  EXPECT_EQ(deep->parameters().size(), 6u);
  EXPECT_EQ(deep->forward(torch::zeros({3, 4})).sizes(), (std::vector<int64_t>{3, 5}));
  MLP linear(MLPOptions{.inputs = 4, .hidden = {}, .classes = 5}, make_generator(1));
  EXPECT_EQ(linear->parameters().size(), 2u);
}

TEST(MLP, StartsFromItsGeneratorAlone) {
  torch::manual_seed(1);
  MLP first(small(), make_generator(3));
  torch::manual_seed(2);
  MLP second(small(), make_generator(3));
  MLP other(small(), make_generator(4));
  EXPECT_TRUE(first->parameters()[0].equal(second->parameters()[0]));
  EXPECT_FALSE(first->parameters()[0].equal(other->parameters()[0]));
  for (const auto& parameter : first->parameters()) EXPECT_TRUE(parameter.requires_grad());
}

TEST(MLP, RejectsWhatItCannotTake) {
  EXPECT_THROWS(ArgumentError, MLP(MLPOptions{.inputs = 2, .hidden = {0}, .classes = 3}, make_generator(1)),
                "MLP: hidden should be at least 1 unit per layer, found 0");
  EXPECT_THROWS(ArgumentError, MLP(MLPOptions{.inputs = 2, .hidden = {}, .classes = 1}, make_generator(1)),
                "network: classes should be at least 2, found 1");
  MLP network(small(), make_generator(1));
  EXPECT_THROWS(ArgumentError, network->forward(torch::zeros({4, 3})),
                "network: inputs should be [N, 2], found [4, 3]");
}

}  // namespace
}  // namespace priornet
