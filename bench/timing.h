#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace priornet::bench {

/// One line of the result: the same work done by us and by plain LibTorch.
struct Comparison {
  std::string work;
  std::string dtype;
  int64_t classes;  ///< 0 if the work has none
  int threads;      ///< 0 on a GPU
  double rows_per_second;
  double plain_rows_per_second;
  double bytes_per_row = 0;  ///< bytes that have to be read and written; 0 if not needed

  double ratio() const { return rows_per_second / plain_rows_per_second; }
};

struct Options {
  torch::Device device = torch::kCPU;
  double seconds = 1.0;  ///< spent on each line
  std::vector<int64_t> classes{10, 100, 1000};
};

struct Fastest {
  double ours;
  double plain;
};

/// For the work alone.
double fastest(double seconds, const std::function<void()>& work);

/// Runs both in turn for about the given time and keeps the fastest of each, in seconds: on a busy machine the least
/// disturbed.
Fastest fastest(double seconds, const std::function<void()>& ours, const std::function<void()>& plain);

/// The same as rows per second, in a line whose other fields are given; on a GPU over consecutive calls, until it has
/// finished them.
Comparison compare(Comparison line, int64_t rows, const Options& options, const std::function<void()>& ours,
                   const std::function<void()>& plain);

/// Calls run(threads) with one thread and then with LibTorch's number of threads; on a GPU run(0).
void with_thread_counts(const torch::Device& device, const std::function<void(int threads)>& run);

/// Waits until a GPU has finished all its work; does nothing on a CPU.
void wait_for(const torch::Device& device);

/// float32 or float64 logits in [-5, 10], as trained networks give them; about 4 million elements, on a GPU 250
/// million, more than any cache holds.
torch::Tensor example_logits(int64_t classes, torch::Dtype dtype, const torch::Device& device);

/// Takes a line as soon as it is measured.
using Report = std::function<void(const Comparison& line)>;

/// All measures of float32 and float64 logits.
void compare_measures(const Options& options, const Report& report);

/// The multi-task loss with its gradient, half of the rows in-distribution.
void compare_losses(const Options& options, const Report& report);

/// Resizing (on a CPU) and augmenting RGB images; a row is one image.
void compare_images(const Options& options, const Report& report);

/// On a CPU: whole training steps of VGG-6 (batch, forward, loss, backward, clipping and update), compared with the
/// same written with LibTorch's modules and optimiser; and ours in the other memory format. A row is one image.
void compare_training(const Options& options, const Report& report);

}  // namespace priornet::bench
