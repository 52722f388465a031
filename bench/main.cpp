#include <bench/output.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <memory>

#include "tool/base/embedded_files.h"
#include "tool/commands/bench.h"
#include "tool/commands/command.h"
#include "tool/server/http_server.h"
#include "uncertainty/dirichlet/instruction_set.h"

// priornet-bench: what `priornet bench` runs. It is a program of its own, because its measurements take minutes to
// compile and few people need them; it takes the same command line.

namespace priornet::bench {
namespace {

struct Work : tool::BenchOptions {
  explicit Work(const tool::BenchOptions& options)
      : BenchOptions(options), work{tool::chosen_device(options.device), options.seconds, options.classes} {}

  bool asks_for(const std::string& name) const {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  }

  bench::Options work;
};

void run_reading(const Work& options, Output& output) {
  if (options.data.empty()) return;
  output.say("Reading data sets. Plain: the same files, only read and expanded into one buffer, in the same run.");
  output.say(fmt::format("{:<26} {:>8} {:>10} {:>10} {:>8}", "work", "MB", "ms", "plain ms", "ratio"));
  compare_reading(
      options.data, options.work.seconds, [&](const auto& line) { output.add(line); },
      [&](const std::string& work, const std::filesystem::path& missing) {
        output.say(fmt::format("{:<26} left out: no {}", work, missing.string()));
      });
}

void run_gpu_training(const Work& options, Output& output) {
  const auto& device = options.work.device;
  output.add(measure_ceilings(device, options.work.seconds));
  output.say(
      "Whole training steps in bfloat16: batch, forward, loss, backward, clipping, update. host: ms per step in which "
      "the host is busy; share: of the matrix product above. Plain: LibTorch's modules, step by step.");
  output.say(fmt::format("{:<17} {:<4} {:>4} + {:<4} {:<7} {:>10} {:>8} {:>8} {:>8} {:>7} {:>12} {:>7}", "network", "",
                         "in", "out", "out is", "images/s", "ms", "host ms", "TFLOP/s", "share", "plain img/s",
                         "ratio"));
  measure_training(device, options.work.seconds, options.networks, [&](const auto& line) { output.add(line); });
  if (!options.networks.empty()) return;
  output.say("Parts of a step by themselves:");
  measure_training_parts(device, options.work.seconds, [&](const auto& line) { output.add(line); });
}

void run_ways(const Work& options, Output& output) {
  output.say(
      "What second ways gain on the whole training step: images per second with all of them and without one, in "
      "turns.");
  output.say(fmt::format("{:<9} {:>4} + {:<4} {:<20} {:>10} {:>12} {:>8}", "network", "in", "out", "way", "with",
                         "without it", "gain"));
  measure_training_ways(options.work.device, options.work.seconds, [&](const auto& line) { output.add(line); });
}

OpenOptions opening(const Work& options) {
  OpenOptions open(options.work.device);
  open.allow_torchscript = options.allow_torchscript;
  return open;
}

void run_scoring(const Work& options, Output& output) {
  const auto what = options.work.device.is_cpu() ? "VGG-6 on 28x28 images" : "VGG-16 on 32x32 images in bfloat16";
  output.say(fmt::format("What uncertainty costs: from images in memory to all measures, {}.",
                         options.model.empty() ? what : options.model));
  output.say(fmt::format("{:<28} {:>6} {:>12} {:>8}", "way", "passes", "images/s", "cost"));
  if (!options.model.empty())
    return measure_scoring_of(opening(options), model_path(options.model), options.work.seconds,
                              [&](const auto& line) { output.add(line); });
  measure_scoring(options.work.device, options.work.seconds, [&](const auto& line) { output.add(line); });
}

void run_kernels(const Work& options, Output& output) {
  const auto report = [&](const Comparison& line) { output.add(line); };
  const bool on_cpu = options.work.device.is_cpu();
  std::vector<std::pair<std::string, std::function<void()>>> kinds = {
      {"measures", [&] { compare_measures(options.work, report); }},
      {"losses", [&] { compare_losses(options.work, report); }},
      {"images", [&] { compare_images(options.work, report); }}};
  if (on_cpu) kinds.push_back({"training", [&] { compare_training(options.work, report); }});
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

void run_prediction(const Work& options, Output& output) {
  if (options.model.empty()) return;
  output.say("What serve and predict compute: from inputs in memory to all outputs of the model.");
  output.say(fmt::format("{:>5} {:>12} {:>20}", "batch", "inputs/s", "inputs per CPU s"));
  measure_prediction(opening(options), model_path(options.model), options.work.seconds,
                     [&](const auto& line) { output.add(line); });
}

void run_serving(const Work& options, Output& output) {
  if (!serving::has_http_server()) return;
  output.say(
      "Serving single inputs over HTTP, clients on the same machine. One by one: the same server with one forward pass "
      "per request. Then the batched server at half its requests per second.");
  output.say(fmt::format("{:<12} {:>5} {:>6} {:>12} {:>12} {:>8} {:>10} {:>12} {:>10} {:>10}", "network", "batch",
                         "conn.", "requests/s", "one by one", "ratio", "p99 ms", "half: req/s", "median ms", "p99 ms"));
  measure_serving(opening(options), model_path(options.model), 3 * options.work.seconds,
                  [&](const auto& line) { output.add(line); });
}

// What is measured with everything else only if it can be.
void check_what_was_asked_for(const Work& options) {
  const auto refuse = [&](const char* name, bool is_possible, const char* needed) {
    if (!options.only.empty() && options.asks_for(name) && !is_possible)
      throw tool::Misuse(fmt::format("--only {}: needs {}", name, needed));
  };
  refuse("ways", !options.work.device.is_cpu(), "a GPU: --device cuda");
  refuse("reading", !options.data.empty(), "--data FOLDER");
  refuse("prediction", !options.model.empty(), "--model MODEL");
  refuse("serve", serving::has_http_server(), "a build with Boost.Beast");
}

void run(const tool::BenchOptions& asked) {
  const Work options(asked);
  check_what_was_asked_for(options);
  Output output(options.json);
  if (!options.trace.empty()) {
    trace_training(options.work.device, options.networks.empty() ? "vgg16" : options.networks.front(), options.trace);
    output.say("Trace of training steps: " + options.trace);
  } else {
    run_kernels(options, output);
    if (options.asks_for("training") && !options.work.device.is_cpu()) run_gpu_training(options, output);
    if (options.asks_for("ways") && !options.work.device.is_cpu()) run_ways(options, output);
    if (options.asks_for("scoring")) run_scoring(options, output);
    if (options.asks_for("reading")) run_reading(options, output);
    if (options.asks_for("prediction")) run_prediction(options, output);
    if (options.asks_for("serve")) run_serving(options, output);
  }
  output.finish();
}

}  // namespace

}  // namespace priornet::bench

int main(int argc, char** argv) {
  using namespace priornet;
  const auto options = std::make_shared<tool::BenchOptions>();
  tool::Command command{"bench", "What priornet bench runs"};
  tool::describe_bench_options(command, *options);
  command.run = [options](const tool::Invocation&) { bench::run(*options); };
  return tool::run_tool({std::move(command)}, {argv + 1, argv + argc});
}
