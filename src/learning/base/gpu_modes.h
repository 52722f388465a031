#pragma once

#include <ATen/autocast_mode.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

namespace priornet {

/// While this object lives, matrix products and convolutions on a GPU are computed in bfloat16, if asked.
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
  // LibTorch 2.4 changed the signature of these functions.
  static void enable(bool on);

  bool active_;
};

/// While this object lives, LibTorch works on a stream of its own on the GPU, which capturing a CUDA graph needs. The
/// destructor waits for that stream. Does nothing on a CPU.
class CaptureStream {
 public:
  explicit CaptureStream(const torch::Device& device);
  ~CaptureStream();

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

/// A second stream of a GPU, for work that the current stream needs only at join().
class SecondStream {
 public:
  explicit SecondStream(const torch::Device& device);
  ~SecondStream();

  /// Runs `work` there, after everything that the current stream was given before. `reads`: the tensors that it reads;
  /// they must live until join().
  void run(const std::function<void()>& work, std::vector<torch::Tensor> reads);

  /// Everything that the current stream gets from here on runs after that work. Call it also before the capture of a
  /// graph ends.
  void join();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
  std::vector<torch::Tensor> held_;
};

/// While this object lives, forward passes on this thread let their backward passes compute the gradients of weights on
/// the second stream (fused::convolved): nothing else in a backward pass needs them, and convolutions compute while
/// batch norm waits for memory. Do not read these gradients before the stream is joined. Does nothing if the stream is
/// null.
class WeightGradientsAside {
 public:
  explicit WeightGradientsAside(std::shared_ptr<SecondStream> stream);
  ~WeightGradientsAside();
  WeightGradientsAside(const WeightGradientsAside&) = delete;
  WeightGradientsAside& operator=(const WeightGradientsAside&) = delete;

  /// The object that lives on this thread, else null.
  static const std::shared_ptr<SecondStream>& stream();

 private:
  std::shared_ptr<SecondStream> before_;
};

}  // namespace priornet
