#include <bench/timing.h>
#include <fmt/format.h>
#include <priornet/dirichlet/instruction_set.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace priornet::tool {
namespace {

struct BenchOptions {
  bench::Options work;
  bool json = false;
};

void print(const bench::Comparison& line) {
  const std::string classes = line.classes == 0 ? "-" : std::to_string(line.classes);
  fmt::print("{:<22} {:<8} {:>5} {:>8} {:>13.4g} {:>13.4g} {:>7.1f}x\n", line.work, line.dtype, classes, line.threads,
             line.rows_per_second, line.plain_rows_per_second, line.ratio());
  std::fflush(stdout);
}

nlohmann::json to_json(const std::vector<bench::Comparison>& lines) {
  auto results = nlohmann::json::array();
  for (const auto& line : lines)
    results.push_back({{"work", line.work},
                       {"dtype", line.dtype},
                       {"classes", line.classes == 0 ? nlohmann::json() : nlohmann::json(line.classes)},
                       {"threads", line.threads},
                       {"rows_per_second", line.rows_per_second},
                       {"plain_rows_per_second", line.plain_rows_per_second},
                       {"ratio", line.ratio()}});
  return {{"instructions", name_of(best_instruction_set())}, {"results", results}};
}

void run(const BenchOptions& options) {
  if (!options.json) {
    fmt::print("CPU kernels: {}. Plain: textbook formulas and image operations of LibTorch, in the same run.\n",
               name_of(best_instruction_set()));
    fmt::print("{:<22} {:<8} {:>5} {:>8} {:>13} {:>13} {:>8}\n", "work", "dtype", "K", "threads", "rows/s",
               "plain rows/s", "ratio");
  }
  std::vector<bench::Comparison> all;
  const auto report = [&](const bench::Comparison& line) {
    if (!options.json) print(line);
    all.push_back(line);
  };
  bench::compare_measures(options.work, report);
  bench::compare_losses(options.work, report);
  bench::compare_images(options.work, report);
  if (options.json) fmt::print("{}\n", to_json(all).dump(2));
}

}  // namespace

void add_bench(CLI::App& tool) {
  const auto options = std::make_shared<BenchOptions>();
  auto* command =
      tool.add_subcommand("bench", "Speed of our kernels beside the plain LibTorch way of doing the same work");
  command->add_option("--classes", options->work.classes, "Numbers of classes K")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--seconds", options->work.seconds, "Time spent on each line")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print the results as JSON");
  command->footer("Example:\n  priornet bench --classes 10,1000");
  command->callback([options] { run(*options); });
}

}  // namespace priornet::tool
