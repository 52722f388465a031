#include "learning/networks/packed_network.h"

#include <priornet/learning/networks.h>
#include <priornet/uncertainty/random.h>
#include <testing/small_networks.h>
#include <testing/tensors.h>

#include "learning/networks/dense_rows.h"
#include "learning/networks/layers.h"
#include "learning/networks/packed_graph.h"

namespace priornet {
namespace {

/// A network of the table for 32 x 32 images, whose batch norms have seen data: their statistics are not 0 and 1.
std::shared_ptr<Network> image_network(const std::string& name) {
  auto options = small_network(name);
  options.input = {3, 32, 32};
  options.classes = 4;
  const auto network = std::dynamic_pointer_cast<Network>(make_model(options, make_generator(1)));
  const torch::NoGradGuard no_gradient;
  torch::manual_seed(2);
  for (const auto& item : network->named_parameters())
    if (item.value().dim() == 1) item.value().add_(0.3 * torch::rand_like(item.value()));
  for (const auto& item : network->named_buffers())
    if (item.value().is_floating_point()) item.value().add_(torch::rand_like(item.value()));
  network->eval();
  return network;
}

torch::Tensor images(int64_t count) {
  torch::manual_seed(3);
  return 2 * torch::rand({count, 3, 32, 32}) - 1;
}

/// The output of the layers one by one, as with gradients.
Activations by_layers(Network& network, const torch::Tensor& inputs) {
  const torch::AutoGradMode gradients(true);
  return network.activations(inputs, true);
}

class PackedNetworks : public testing::TestWithParam<std::string> {};

TEST_P(PackedNetworks, AnswerAsTheirLayersDo) {
  if (!can_pack_networks()) GTEST_SKIP() << "built without oneDNN";
  const auto network = image_network(GetParam());
  ASSERT_NE(PackedNetwork::of(network->plan()), nullptr);
  const auto inputs = images(700);  // more than one batch
  const auto kept = inputs.clone();
  const auto wanted = by_layers(*network, inputs);
  const torch::NoGradGuard no_gradient;
  const auto found = network->activations(inputs, true);
  EXPECT_TRUE(found.logits.allclose(wanted.logits, 1e-4, 1e-4));
  EXPECT_FALSE(found.logits.requires_grad());
  EXPECT_TRUE(found.logits.equal(network->forward(inputs)));
  EXPECT_TRUE(found.features.allclose(wanted.features, 1e-4, 1e-4));
  EXPECT_TRUE(found.features.equal(network->features(inputs)));
  ASSERT_EQ(found.layers.size(), wanted.layers.size());
  for (size_t i = 0; i < found.layers.size(); ++i)
    EXPECT_TRUE(found.layers[i].allclose(wanted.layers[i], 1e-4, 1e-4)) << i;
  EXPECT_TRUE(inputs.equal(kept));
  const auto last = inputs.narrow(0, 699, 1);
  EXPECT_TRUE(network->forward(last).allclose(wanted.logits.narrow(0, 699, 1), 1e-4, 1e-4));
}

TEST_P(PackedNetworks, SeeWeightsThatChange) {
  const auto network = image_network(GetParam());
  const auto inputs = images(2);
  const torch::NoGradGuard no_gradient;
  auto before = network->forward(inputs);
  const auto expect_another_answer = [&](const char* how) {
    const auto after = network->forward(inputs);
    EXPECT_FALSE(after.allclose(before, 1e-3, 1e-3)) << how;
    EXPECT_TRUE(after.allclose(by_layers(*network, inputs).logits, 1e-4, 1e-4)) << how;
    before = after;
  };
  auto weight = network->parameters().at(0);
  weight.mul_(2.0);
  expect_another_answer("written to");
  weight.set_data(weight * 0.25);
  expect_another_answer("replaced");
  network->train();
  auto* numbers = weight.data_ptr<float>();
  for (int64_t i = 0; i < weight.numel(); ++i) numbers[i] *= 3;  // as kernels of an optimiser do
  network->eval();
  expect_another_answer("changed while it was trained");
}

std::vector<std::string> networks_with_convolutions() {
  std::vector<std::string> names;
  for (const auto& name : model_names())
    if (takes_images(small_network(name))) names.push_back(name);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  auto name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, PackedNetworks, testing::ValuesIn(networks_with_convolutions()), test_name);

TEST(PackedNetwork, IsNotMadeWhereNothingIsGained) {
  auto options = small_network("mlp");
  options.classes = 3;
  if (options.input.empty()) options.input = {5};
  const auto network = std::dynamic_pointer_cast<Network>(make_model(options, make_generator(1)));
  EXPECT_EQ(PackedNetwork::of(network->plan()), nullptr);
}

TEST(PackedNetwork, LeavesDropoutAtWork) {
  auto options = small_network("vgg6");
  options.input = {3, 32, 32};
  options.classes = 4;
  options.keep_dense = 0.5;
  const auto network = std::dynamic_pointer_cast<Network>(make_model(options, make_generator(1)));
  network->eval();
  const auto inputs = images(4);
  const torch::NoGradGuard no_gradient;
  EXPECT_TRUE(network->forward(inputs).equal(network->forward(inputs)));
  for (const auto& module : network->modules())
    if (auto* layer = module->as<torch::nn::Dropout>()) layer->train();
  EXPECT_FALSE(network->forward(inputs).equal(network->forward(inputs)));
  EXPECT_TRUE(network->before_dropout(inputs).allclose(
      [&] {
        const torch::AutoGradMode gradients(true);
        return network->before_dropout(inputs);
      }(),
      1e-4, 1e-4));
}

// At sizes that do not fill the last vector; the largest numbers of rows go through a matrix product.
TEST(DenseRows, AreThoseOfLibTorchWithEveryInstructionSet) {
  for (const auto instructions : {InstructionSet::kPortable, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (!is_supported(instructions)) continue;
    for (const int64_t inputs : {1, 7, 16, 65, 200, 1568})
      for (const int64_t outputs : {1, 10})
        for (int64_t rows = 1; rows <= kFewRows; ++rows) {
          auto generator = make_generator(static_cast<uint64_t>(inputs * 100 + outputs * 10 + rows));
          const auto in = torch::randn({rows, inputs}, generator);
          const auto weight = torch::randn({outputs, inputs}, generator);
          const auto bias = torch::randn({outputs}, generator);
          const auto out = torch::full({rows, outputs + 2}, 7.0f);
          dense_rows({in.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), out.data_ptr<float>(),
                      outputs + 2, rows, inputs, outputs},
                     instructions);
          const auto wanted =
              torch::linear(in.to(torch::kFloat64), weight.to(torch::kFloat64), bias.to(torch::kFloat64));
          EXPECT_TRUE(near(out.narrow(1, 0, outputs), wanted.to(torch::kFloat32), 1e-3))
              << name_of(instructions) << ", " << rows << " x " << inputs << " x " << outputs;
          EXPECT_TRUE(out.narrow(1, outputs, 2).eq(7).all().item<bool>());
        }
  }
}

}  // namespace
}  // namespace priornet
