#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/commands/command.h"

namespace priornet::tool {

/// The options of `priornet bench` and of the program behind it, priornet-bench.
struct BenchOptions {
  std::vector<int64_t> classes{10, 100, 1000};
  double seconds = 1.0;  ///< spent on each line
  std::string device = "cpu";
  std::string data;
  std::vector<std::string> only;
  std::vector<std::string> networks;  ///< whose training steps are measured; all if empty
  std::string trace;
  std::string model;
  bool allow_torchscript = false;
  bool json = false;
};

/// Everything but the function that runs it. The options must outlive the command.
void describe_bench_options(Command& command, BenchOptions& options);

}  // namespace priornet::tool
