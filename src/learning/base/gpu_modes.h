#pragma once

#include <ATen/autocast_mode.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

namespace priornet {

/// While it lives, matrix products and convolutions on a GPU are computed in bfloat16, if asked.
class Autocast {
 public:
  explicit Autocast(bool bfloat16) : active_(bfloat16) {
    if (!active_) return;
    enable(true);
  }
  ~Autocast() {
    if (!active_) return;
    at::autocast::clear_cache();
    enable(false);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  // LibTorch 2.4 gave these functions another shape.
  static void enable(bool on);

  bool active_;
};

/// While it lives, what LibTorch does on a GPU happens on a stream of its own, as capturing a CUDA graph asks for. Its
/// end waits for that stream. Nothing on a CPU.
class SideStream {
 public:
  explicit SideStream(const torch::Device& device);
  ~SideStream();

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

/// A second stream of a GPU, for work that the current one need not wait for until join().
class AsideStream {
 public:
  explicit AsideStream(const torch::Device& device);
  ~AsideStream();

  /// Runs `work` there, after all that the current stream was given before. `reads`: the tensors that it reads, which
  /// live until join().
  void run(const std::function<void()>& work, std::vector<torch::Tensor> reads);

  /// What the current stream is given from here on comes after all of it: also before a capture of a graph ends.
  void join();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::vector<torch::Tensor> held_;
};

/// While it lives, forward passes on this thread let their backward passes compute gradients of weights aside
/// (fused::convolved): nothing else of a backward pass needs them, and convolutions compute while batch norm waits for
/// memory. Nobody may look at these gradients before the stream is joined. Nothing where the stream is null.
class WeightGradientsAside {
 public:
  explicit WeightGradientsAside(std::shared_ptr<AsideStream> stream);
  ~WeightGradientsAside();
  WeightGradientsAside(const WeightGradientsAside&) = delete;
  WeightGradientsAside& operator=(const WeightGradientsAside&) = delete;

  /// Of the one that lives on this thread, else null.
  static const std::shared_ptr<AsideStream>& stream();

 private:
  std::shared_ptr<AsideStream> before_;
};

}  // namespace priornet
