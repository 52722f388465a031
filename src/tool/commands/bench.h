#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/commands/command.h"

namespace priornet::tool {

/// What `priornet bench` and the program behind it, priornet-bench, are asked for.
struct BenchOptions {
  std::vector<int64_t> classes{10, 100, 1000};
  double seconds = 1.0;  ///< spent on each line
  std::string device = "cpu";
  std::string data;
  std::vector<std::string> only;
  std::string trace;
  std::string model;
  bool allow_torchscript = false;
  bool json = false;
};

/// All but what runs it. The options outlive the command.
void describe_bench_options(Command& command, BenchOptions& options);

}  // namespace priornet::tool
