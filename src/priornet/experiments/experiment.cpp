#include <priornet/experiments/experiment.h>

#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/experiments/cifar10.h>
#include <priornet/experiments/mnist.h>
#include <priornet/experiments/svhn.h>
#include <priornet/experiments/synthetic_run.h>

namespace priornet {
namespace {

constexpr Experiment kExperiments[] = {
    {"synthetic", "three Gaussian classes in the plane, apart and overlapping (section 5.1, figure 3)",
     reproduce_synthetic},
    {"mnist", "MNIST against OMNIGLOT, SEMEION, SVHN, CIFAR-10 and Fashion-MNIST (section 5.2, appendix B.1)",
     reproduce_mnist},
    {"mnist-noise", "MNIST against OMNIGLOT in Gaussian noise of sigma 0 and 3 (section 5.2)", reproduce_mnist_noise},
    {"svhn", "SVHN against CIFAR-10, CIFAR-100, TinyImageNet, LSUN and other scenes (appendix B.2)", reproduce_svhn},
    {"cifar10", "CIFAR-10 against CIFAR-100, SVHN, TinyImageNet, LSUN and other scenes (section 5.2, appendix B.3)",
     reproduce_cifar10},
};

}  // namespace

std::span<const Experiment> experiments() { return kExperiments; }

const Experiment& find_experiment(std::string_view name) {
  std::string known;
  for (const auto& experiment : kExperiments) {
    if (experiment.name == name) return experiment;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", experiment.name);
  }
  throw ConfigError(fmt::format("unknown experiment '{}'; known: {}", name, known));
}

}  // namespace priornet
