#pragma once

#include <bench/load.h>
#include <priornet/learning/trained_run.h>

#include <filesystem>
#include <functional>

namespace priornet::bench {

/// A server that is asked for single images over HTTP: in batches, and with one forward pass per request.
struct ServingTimes {
  std::string network;
  int64_t batch = 0;
  int connections = 0;
  LoadResult batched;
  LoadResult one_by_one;
  LoadResult at_half_load;  ///< for the batched server: half its requests per second

  double ratio() const { return batched.requests_per_second / one_by_one.requests_per_second; }
};

/// The named model file, or networks with random weights: an MLP (256, 256) of 784 numbers, a small VGG-6 (8, 16
/// channels) and the paper's VGG-6 of 28x28 images. Each server is asked in turn, several times, and the best result of
/// each is kept; clients and server share the machine.
void measure_serving(const OpenOptions& open, const std::filesystem::path& model, double seconds,
                     const std::function<void(const ServingTimes&)>& report);

}  // namespace priornet::bench
