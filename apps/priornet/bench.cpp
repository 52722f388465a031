#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/deploy/serve/http_server.h>
#include <priornet/dirichlet/instruction_set.h>

#include <algorithm>

#include "bench_output.h"
#include "command.h"
#include "device_option.h"
#include "number_checks.h"

namespace priornet::tool {
namespace {

struct BenchOptions {
  bench::Options work;
  std::string device = "cpu";
  std::filesystem::path data;
  std::vector<std::string> only;
  std::filesystem::path trace;
  std::filesystem::path model;
  bool json = false;

  bool asks_for(const std::string& name) const {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  }
};

void run_reading(const BenchOptions& options, BenchOutput& output) {
  if (options.data.empty()) return;
  output.say("Reading data sets. Plain: the same files read and expanded into one buffer, in the same run.");
  output.say(fmt::format("{:<26} {:>8} {:>10} {:>10} {:>8}", "work", "MB", "ms", "plain ms", "ratio"));
  bench::compare_reading(
      options.data, options.work.seconds, [&](const auto& line) { output.add(line); },
      [&](const std::string& work, const std::filesystem::path& missing) {
        output.say(fmt::format("{:<26} left out: no {}", work, missing.string()));
      });
}

void run_gpu_training(const BenchOptions& options, BenchOutput& output) {
  const auto& device = options.work.device;
  output.add(bench::measure_ceilings(device, options.work.seconds));
  output.say(
      "Whole training steps in bfloat16: batch, forward, loss, backward, clipping, update. host: ms of a step in "
      "which the host is busy; share: of the product above. Plain: LibTorch's modules, step by step.");
  output.say(fmt::format("{:<9} {:<4} {:>4} + {:<4} {:<7} {:>10} {:>8} {:>8} {:>8} {:>7} {:>12} {:>7}", "network", "",
                         "in", "out", "out is", "images/s", "ms", "host ms", "TFLOP/s", "share", "plain img/s",
                         "ratio"));
  bench::measure_training(device, options.work.seconds, [&](const auto& line) { output.add(line); });
  output.say("Parts of a step by themselves:");
  bench::measure_training_parts(device, options.work.seconds, [&](const auto& line) { output.add(line); });
}

void run_scoring(const BenchOptions& options, BenchOutput& output) {
  output.say(
      fmt::format("What uncertainty costs: images in memory to all measures, {}.",
                  options.work.device.is_cpu() ? "VGG-6 on 28x28 images" : "VGG-16 on 32x32 images in bfloat16"));
  output.say(fmt::format("{:<28} {:>6} {:>12} {:>8}", "way", "passes", "images/s", "cost"));
  bench::measure_scoring(options.work.device, options.work.seconds, [&](const auto& line) { output.add(line); });
}

void run_kernels(const BenchOptions& options, BenchOutput& output) {
  const auto report = [&](const bench::Comparison& line) { output.add(line); };
  const bool on_cpu = options.work.device.is_cpu();
  std::vector<std::pair<std::string, std::function<void()>>> kinds = {
      {"measures", [&] { bench::compare_measures(options.work, report); }},
      {"losses", [&] { bench::compare_losses(options.work, report); }},
      {"images", [&] { bench::compare_images(options.work, report); }}};
  if (on_cpu) kinds.push_back({"training", [&] { bench::compare_training(options.work, report); }});
  const auto asked = [&](const auto& kind) { return options.asks_for(kind.first); };
  if (!std::any_of(kinds.begin(), kinds.end(), asked)) return;
  output.say(on_cpu ? fmt::format("CPU kernels: {}. Plain: textbook formulas and image operations of LibTorch, in the "
                                  "same run.",
                                  name_of(best_instruction_set()))
                    : "GPU kernels. Plain: textbook formulas and image operations of LibTorch, in the same run.");
  output.say(fmt::format("{:<22} {:<8} {:>5} {:>8} {:>13} {:>13} {:>8} {:>7}", "work", "dtype", "K", "threads",
                         "rows/s", "plain rows/s", "ratio", "GB/s"));
  for (const auto& [name, run] : kinds)
    if (options.asks_for(name)) run();
}

void run_serving(const BenchOptions& options, BenchOutput& output) {
  if (!serving::has_http_server()) return;
  output.say(
      "Serving single inputs over HTTP, clients on the same machine. One by one: the same server with one forward pass "
      "a request. Then the batched server at half its requests a second.");
  output.say(fmt::format("{:<12} {:>5} {:>6} {:>12} {:>12} {:>8} {:>10} {:>12} {:>10} {:>10}", "network", "batch",
                         "conn.", "requests/s", "one by one", "ratio", "p99 ms", "half: req/s", "median ms", "p99 ms"));
  bench::measure_serving(options.work.device, options.model, 3 * options.work.seconds,
                         [&](const auto& line) { output.add(line); });
}

void run(BenchOptions& options) {
  options.work.device = chosen_device(options.device);
  BenchOutput output(options.json);
  if (!options.trace.empty()) {
    bench::trace_training(options.work.device, options.trace);
    output.say("Trace of training steps: " + options.trace.string());
  } else {
    run_kernels(options, output);
    if (options.asks_for("training") && !options.work.device.is_cpu()) run_gpu_training(options, output);
    if (options.asks_for("scoring")) run_scoring(options, output);
    if (options.asks_for("reading")) run_reading(options, output);
    if (options.asks_for("serve")) run_serving(options, output);
  }
  output.finish();
}

}  // namespace

void add_bench(CLI::App& tool) {
  const auto options = std::make_shared<BenchOptions>();
  auto* command =
      tool.add_subcommand("bench", "Speed of our kernels beside the plain LibTorch way of doing the same work");
  command->add_option("--classes", options->work.classes, "Numbers of classes K")
      ->delimiter(',')
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  command->add_option("--seconds", options->work.seconds, "Time spent on each line")
      ->check(kPositive)
      ->capture_default_str();
  add_device_option(*command, options->device, "Where the work is done");
  command->add_option("--data", options->data, "Folder of data sets: also time reading those that are there")
      ->envname("PRIORNET_DATA");
  command->add_option("--only", options->only, "Only some of it")
      ->delimiter(',')
      ->check(CLI::IsMember({"measures", "losses", "images", "training", "scoring", "reading", "serve"}));
  command->add_option("--trace", options->trace, "Only record a few training steps, for chrome://tracing");
  command->add_option("--model", options->model, "The model file to serve; else networks with weights at random")
      ->check(CLI::ExistingFile);
  command->add_flag("--json", options->json, "Print the results as JSON");
  command->footer("Example:\n  priornet bench --classes 10,1000\n  priornet bench --device cuda --only training");
  command->callback([options] { run(*options); });
}

}  // namespace priornet::tool
