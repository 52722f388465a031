#include "learning/training/training_step.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGraph.h>
#include <cuda_runtime_api.h>

namespace priornet {
namespace {

// In the first steps libraries choose their kernels and get the memory for them.
constexpr int kPlainSteps = 3;

class CapturedStep final : public TrainingStep {
 public:
  CapturedStep(Classifier& network, FlatParameters& parameters, Optimiser& optimiser, Options options)
      : TrainingStep(network, parameters, optimiser, std::move(options)) {
    at::globalContext().setBenchmarkCuDNN(true);  // shapes never change
  }

 private:
  void execute(const std::function<void()>& work) override {
    if (is_plain() || !record(work)) return work();
    graph_->replay();
  }

  bool is_plain() { return failed_ || plain_steps_++ < kPlainSteps; }

  // Whether there is a graph to replay now.
  bool record(const std::function<void()>& work) {
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

  // The recording must be ended, and its error read, before the stream works again.
  static void abandon(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
    }
    static_cast<void>(cudaGetLastError());
  }

  int plain_steps_ = 0;
  bool failed_ = false;
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

}  // namespace

std::unique_ptr<TrainingStep> captured_step(Classifier& network, FlatParameters& parameters, Optimiser& optimiser,
                                            TrainingStep::Options options) {
  return std::make_unique<CapturedStep>(network, parameters, optimiser, std::move(options));
}

}  // namespace priornet
