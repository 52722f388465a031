// Your own network with the loss of Prior Networks: three classes in the plane, and points around them.
//
// In every batch the first rows have labels; the rows after them are out of distribution. The loss asks for a sharp
// Dirichlet at the label for the first rows, and for a flat one for the others.

#include <priornet/uncertainty.h>
#include <torch/nn.h>
#include <torch/optim.h>

#include <cmath>
#include <cstdio>

namespace {

constexpr int64_t kClasses = 3;
constexpr double kPi = 3.141592653589793;

// Points around the centre of their class; the centres lie on a circle of radius 2.
torch::Tensor points_of(const torch::Tensor& labels) {
  const auto angle = labels.to(torch::kFloat32) * (2 * kPi / kClasses);
  return 2 * torch::stack({angle.cos(), angle.sin()}, 1) + 0.5 * torch::randn({labels.size(0), 2});
}

// A ring around all classes.
torch::Tensor points_outside(int64_t count) {
  const auto angle = 2 * kPi * torch::rand({count});
  const auto radius = 5 + 5 * torch::rand({count});
  return torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);
}

}  // namespace

int main() {
  torch::manual_seed(1);
  torch::nn::Sequential network(torch::nn::Linear(2, 64), torch::nn::ReLU(), torch::nn::Linear(64, 64),
                                torch::nn::ReLU(), torch::nn::Linear(64, kClasses));
  torch::optim::Adam optimiser(network->parameters(), 2e-3);
  priornet::PriorNetworkLossOptions options;
  options.divergence = priornet::Divergence::kReverse;
  options.target.alpha0 = 100;  // how sharp the Dirichlet of a familiar input should be

  for (int step = 1; step <= 1000; ++step) {
    const auto labels = torch::randint(kClasses, {128}, torch::kInt64);
    const auto inputs = torch::cat({points_of(labels), points_outside(128)});
    const auto loss = priornet::prior_network_loss(network->forward(inputs), labels, options);
    optimiser.zero_grad();
    loss.total.backward();
    optimiser.step();
    if (step % 250 == 0)
      std::printf("step %4d: loss %.3f inside, %.3f outside\n", step, loss.in.item<double>(), loss.out.item<double>());
  }

  // A class's centre, a point between two classes, and one far away.
  const auto asked = torch::tensor({{2.0, 0.0}, {0.5, 0.87}, {-8.0, 0.0}}).to(torch::kFloat32);
  const auto said = priornet::dirichlet_measures(network->forward(asked).detach());
  const char* places[] = {"on a class", "between two", "far away"};
  for (int64_t i = 0; i < 3; ++i)
    std::printf("%-12s class %ld, probability %.3f, entropy %.3f, differential entropy %.2f\n", places[i],
                said.prediction[i].item<int64_t>(), said.max_prob[i].item<double>(), said.entropy[i].item<double>(),
                said.differential_entropy[i].item<double>());
  const auto sharp = said.differential_entropy;
  return sharp[0].item<double>() < sharp[2].item<double>() && sharp[1].item<double>() < sharp[2].item<double>() ? 0 : 1;
}
