#include <bench/reading.h>
#include <bench/timing.h>
#include <fmt/format.h>
#include <priornet/dirichlet/instruction_set.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace priornet::tool {
namespace {

struct BenchOptions {
  bench::Options work;
  std::filesystem::path data;
  bool only_reading = false;
  bool only_training = false;
  bool json = false;
};

void print(const bench::Comparison& line) {
  const std::string classes = line.classes == 0 ? "-" : std::to_string(line.classes);
  fmt::print("{:<22} {:<8} {:>5} {:>8} {:>13.4g} {:>13.4g} {:>7.1f}x\n", line.work, line.dtype, classes, line.threads,
             line.rows_per_second, line.plain_rows_per_second, line.ratio());
  std::fflush(stdout);
}

nlohmann::json to_json(const std::vector<bench::Comparison>& lines, const std::vector<bench::ReadingTimes>& readings) {
  auto results = nlohmann::json::array();
  for (const auto& line : lines)
    results.push_back({{"work", line.work},
                       {"dtype", line.dtype},
                       {"classes", line.classes == 0 ? nlohmann::json() : nlohmann::json(line.classes)},
                       {"threads", line.threads},
                       {"rows_per_second", line.rows_per_second},
                       {"plain_rows_per_second", line.plain_rows_per_second},
                       {"ratio", line.ratio()}});
  auto reading = nlohmann::json::array();
  for (const auto& line : readings)
    reading.push_back({{"work", line.work},
                       {"bytes", line.bytes},
                       {"seconds", line.seconds},
                       {"plain_seconds", line.plain_seconds},
                       {"ratio", line.ratio()}});
  return {{"instructions", name_of(best_instruction_set())}, {"results", results}, {"reading", reading}};
}

std::vector<bench::ReadingTimes> run_reading(const BenchOptions& options) {
  std::vector<bench::ReadingTimes> all;
  if (options.data.empty()) return all;
  if (!options.json) {
    fmt::print("Reading data sets. Plain: the same files read and expanded into one buffer, in the same run.\n");
    fmt::print("{:<26} {:>8} {:>10} {:>10} {:>8}\n", "work", "MB", "ms", "plain ms", "ratio");
  }
  bench::compare_reading(
      options.data, options.work.seconds,
      [&](const bench::ReadingTimes& line) {
        if (!options.json)
          fmt::print("{:<26} {:>8.1f} {:>10.1f} {:>10.1f} {:>7.2f}x\n", line.work,
                     static_cast<double>(line.bytes) / 1e6, 1e3 * line.seconds, 1e3 * line.plain_seconds, line.ratio());
        std::fflush(stdout);
        all.push_back(line);
      },
      [&](const std::string& work, const std::filesystem::path& missing) {
        if (!options.json) fmt::print("{:<26} left out: no {}\n", work, missing.string());
      });
  return all;
}

std::vector<bench::Comparison> run_kernels(const BenchOptions& options) {
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
  if (!options.only_training) {
    bench::compare_measures(options.work, report);
    bench::compare_losses(options.work, report);
    bench::compare_images(options.work, report);
  }
  bench::compare_training(options.work, report);
  return all;
}

void run(const BenchOptions& options) {
  const auto all = options.only_reading ? std::vector<bench::Comparison>() : run_kernels(options);
  const auto readings = options.only_training ? std::vector<bench::ReadingTimes>() : run_reading(options);
  if (options.json) fmt::print("{}\n", to_json(all, readings).dump(2));
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
  command->add_option("--data", options->data, "Folder of data sets: also time reading those that are there")
      ->envname("PRIORNET_DATA");
  auto* reading = command->add_flag("--only-reading", options->only_reading, "Only time reading data sets");
  command->add_flag("--only-training", options->only_training, "Only time training steps")->excludes(reading);
  command->add_flag("--json", options->json, "Print the results as JSON");
  command->footer("Example:\n  priornet bench --classes 10,1000");
  command->callback([options] { run(*options); });
}

}  // namespace priornet::tool
