#include <priornet/models/evaluating.h>
#include <torch/nn/modules/dropout.h>

namespace priornet {

Evaluating::Evaluating(Network& network, bool dropout) : network_(network), was_training_(network.is_training()) {
  network_.eval();
  if (!dropout) return;
  for (const auto& module : network_.modules())
    if (auto* layer = module->as<torch::nn::Dropout>()) layer->train();
}

}  // namespace priornet
