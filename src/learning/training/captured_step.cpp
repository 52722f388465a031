#include "learning/training/captured_step.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <cuda_runtime_api.h>

#include "learning/training/kernel_batches.h"

namespace priornet {
namespace {

// Libraries choose their kernels, and get the memory for them, in the first steps.
constexpr int kPlainSteps = 3;

class CapturedStep final : public TrainingStep {
 public:
  CapturedStep(Network& network, FlatParameters& parameters, Optimiser& optimiser, Options options)
      : TrainingStep(network, parameters, optimiser, std::move(options)) {
    at::globalContext().setBenchmarkCuDNN(true);  // shapes never change
  }

  // The batch is copied to where the graph finds it.
  void run(const torch::Tensor& inputs, const BatchTargets& targets) override {
    if (is_plain()) return run_plainly(inputs, targets);
    if (!graph_) hold(inputs, targets);
    const bool recorded = record([this] { run_plainly(inputs_, targets_); });
    if (!recorded) return run_plainly(inputs, targets);
    inputs_.copy_(inputs);
    if (targets.labels.defined()) targets_.labels.copy_(targets.labels);
    if (targets.teacher.defined()) targets_.teacher.copy_(targets.teacher);
    graph_->replay();
  }

  // The batch is made within the graph.
  void run(TrainingBatches& batches, int64_t step) override {
    auto* const kernel = batches.by_kernel();
    if (kernel == nullptr) return TrainingStep::run(batches, step);
    const auto whole = [&] {
      kernel->make();
      run_plainly(kernel->batch().inputs, kernel->batch().targets);
    };
    kernel->prepare(step);
    if (is_plain() || !record(whole)) return whole();
    graph_->replay();
  }

 private:
  bool is_plain() { return failed_ || plain_steps_++ < kPlainSteps; }

  void hold(const torch::Tensor& inputs, const BatchTargets& targets) {
    inputs_ = inputs.clone();
    if (targets.labels.defined()) targets_.labels = targets.labels.clone();
    if (targets.teacher.defined()) targets_.teacher = targets.teacher.clone();
  }

  // Whether there is a graph to replay now.
  template <class Work>
  bool record(const Work& work) {
    if (graph_) return true;
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    graph->capture_begin();
    try {
      work();
      graph->capture_end();
    } catch (const std::exception&) {
      abandon(*graph);
      failed_ = true;
      return false;
    }
    graph_ = std::move(graph);
    return true;
  }

  // The recording must be ended and its error taken before the stream works again.
  static void abandon(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
    }
    static_cast<void>(cudaGetLastError());
  }

  int plain_steps_ = 0;
  bool failed_ = false;
  torch::Tensor inputs_;
  BatchTargets targets_;
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

}  // namespace

std::unique_ptr<TrainingStep> captured_step(Network& network, FlatParameters& parameters, Optimiser& optimiser,
                                            TrainingStep::Options options) {
  return std::make_unique<CapturedStep>(network, parameters, optimiser, std::move(options));
}

}  // namespace priornet
