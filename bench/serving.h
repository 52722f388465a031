#pragma once

#include <bench/load.h>
#include <torch/types.h>

#include <filesystem>

namespace priornet::bench {

/// A server asked for single images over HTTP: in batches, and with one forward pass a request.
struct ServingTimes {
  std::string network;
  int64_t batch = 0;
  int connections = 0;
  LoadResult batched;
  LoadResult one_by_one;
  LoadResult at_half_load;  ///< of the batched server: half its requests a second

  double ratio() const { return batched.requests_per_second / one_by_one.requests_per_second; }
};

/// VGG-6 on 28x28 images with weights at random, or the model file that is named. Each server is asked in turn, several
/// times, and the best of each kept; clients and server share the machine.
ServingTimes measure_serving(const torch::Device& device, const std::filesystem::path& model, double seconds);

}  // namespace priornet::bench
