#pragma once

#include <cstdint>
#include <string>

namespace priornet::bench {

struct LoadOptions {
  int port = 0;
  std::string request;  ///< complete, as it goes over the wire
  int connections = 64;
  double seconds = 1.0;
  double rate = 0.0;  ///< requests per second, evenly spaced; 0: each connection asks again as soon as it is answered
};

struct LoadResult {
  int64_t answered = 0;
  int64_t failed = 0;  ///< answers other than 200, and connections that broke
  double requests_per_second = 0.0;
  double median_seconds = 0.0;  ///< from the time a request was due to its complete answer
  double p99_seconds = 0.0;
};

/// Asks a server on the loopback device from one thread over several connections. Error if it cannot connect.
LoadResult run_load(const LoadOptions& options);

}  // namespace priornet::bench
