#include "tool/commands/bench.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstdio>

#include "tool/commands/command.h"
#include "tool/commands/options.h"
#include "tool/server/http_server.h"
#include "uncertainty/dirichlet/instruction_set.h"

namespace priornet::tool {
namespace {

nlohmann::json number_or_null(int64_t value) { return value == 0 ? nlohmann::json() : nlohmann::json(value); }

}  // namespace

BenchOutput::BenchOutput(bool json)
    : json_(json),
      all_({{"instructions", name_of(best_instruction_set())},
            {"results", nlohmann::json::array()},
            {"reading", nlohmann::json::array()}}) {}

void BenchOutput::say(const std::string& line) const {
  if (json_) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void BenchOutput::add(const bench::Comparison& line) {
  const auto or_dash = [](int64_t value) { return value == 0 ? std::string("-") : std::to_string(value); };
  const auto rate = line.bytes_per_row * line.rows_per_second;
  say(fmt::format("{:<22} {:<8} {:>5} {:>8} {:>13.4g} {:>13.4g} {:>7.1f}x{}", line.work, line.dtype,
                  or_dash(line.classes), or_dash(line.threads), line.rows_per_second, line.plain_rows_per_second,
                  line.ratio(), rate == 0 ? "" : fmt::format(" {:>7.1f}", rate / 1e9)));
  all_["results"].push_back({{"work", line.work},
                             {"dtype", line.dtype},
                             {"classes", number_or_null(line.classes)},
                             {"threads", number_or_null(line.threads)},
                             {"rows_per_second", line.rows_per_second},
                             {"plain_rows_per_second", line.plain_rows_per_second},
                             {"bytes_per_second", rate == 0 ? nlohmann::json() : nlohmann::json(rate)},
                             {"ratio", line.ratio()}});
}

void BenchOutput::add(const bench::ReadingTimes& line) {
  say(fmt::format("{:<26} {:>8.1f} {:>10.1f} {:>10.1f} {:>7.2f}x", line.work, static_cast<double>(line.bytes) / 1e6,
                  1e3 * line.seconds, 1e3 * line.plain_seconds, line.ratio()));
  all_["reading"].push_back({{"work", line.work},
                             {"bytes", line.bytes},
                             {"seconds", line.seconds},
                             {"plain_seconds", line.plain_seconds},
                             {"ratio", line.ratio()}});
}

void BenchOutput::add(const bench::Ceilings& found) {
  ceilings_ = found;
  say(fmt::format("This machine at best: {:.0f} TFLOP/s (bfloat16 product of 8192 x 8192), {:.2f} TB/s (copy)",
                  found.matmul_operations_per_second / 1e12, found.copy_bytes_per_second / 1e12));
  all_["ceilings"] = {{"matmul_operations_per_second", found.matmul_operations_per_second},
                      {"copy_bytes_per_second", found.copy_bytes_per_second}};
}

void BenchOutput::add(const bench::TrainingTimes& line) {
  const auto method = method_name(line.what.method);
  const double share = line.operations_per_second() / ceilings_.matmul_operations_per_second;
  say(fmt::format("{:<9} {:<4} {:>4} + {:<4} {:<7} {:>10.0f} {:>8.3f} {:>8.3f} {:>8.1f} {:>6.1f}% {:>12.0f} {:>6.1f}x",
                  line.what.network, method, line.what.inside, line.what.outside,
                  line.what.factor_analysis ? "factors" : "set", line.images_per_second(), 1e3 * line.seconds,
                  1e3 * line.host_seconds, line.operations_per_second() / 1e12, 100 * share,
                  line.plain_images_per_second(), line.images_per_second() / line.plain_images_per_second()));
  all_["training"].push_back({{"network", line.what.network},
                              {"method", method},
                              {"inside", line.what.inside},
                              {"outside", line.what.outside},
                              {"factor_analysis", line.what.factor_analysis},
                              {"images_per_second", line.images_per_second()},
                              {"plain_images_per_second", line.plain_images_per_second()},
                              {"seconds_a_step", line.seconds},
                              {"host_seconds_a_step", line.host_seconds},
                              {"operations_per_second", line.operations_per_second()},
                              {"share_of_matmul", share}});
}

void BenchOutput::add(const bench::PartTimes& line) {
  say(fmt::format("{:<34} {:>9.1f} us {:>9.1f} GB/s", line.part, 1e6 * line.seconds, line.bytes / line.seconds / 1e9));
  all_["parts"].push_back(
      {{"part", line.part}, {"seconds", line.seconds}, {"bytes_per_second", line.bytes / line.seconds}});
}

void BenchOutput::add(const bench::ScoringCost& line) {
  if (first_scoring_ == 0) first_scoring_ = line.images_per_second;
  const double cost = first_scoring_ / line.images_per_second;
  say(fmt::format("{:<28} {:>6} {:>12.0f} {:>7.1f}x", line.how, line.passes, line.images_per_second, cost));
  all_["scoring"].push_back(
      {{"how", line.how}, {"passes", line.passes}, {"images_per_second", line.images_per_second}, {"cost", cost}});
}

void BenchOutput::add(const bench::ServingTimes& line) {
  say(fmt::format("{:<12} {:>5} {:>6} {:>12.0f} {:>12.0f} {:>7.1f}x {:>10.1f} {:>12.0f} {:>10.1f} {:>10.1f}",
                  line.network, line.batch, line.connections, line.batched.requests_per_second,
                  line.one_by_one.requests_per_second, line.ratio(), 1e3 * line.batched.p99_seconds,
                  line.at_half_load.requests_per_second, 1e3 * line.at_half_load.median_seconds,
                  1e3 * line.at_half_load.p99_seconds));
  const auto json = [](const bench::LoadResult& load) {
    return nlohmann::json{{"requests_per_second", load.requests_per_second},
                          {"median_seconds", load.median_seconds},
                          {"p99_seconds", load.p99_seconds},
                          {"answered", load.answered},
                          {"failed", load.failed}};
  };
  all_["serving"].push_back({{"network", line.network},
                             {"batch", line.batch},
                             {"connections", line.connections},
                             {"batched", json(line.batched)},
                             {"one_by_one", json(line.one_by_one)},
                             {"at_half_load", json(line.at_half_load)},
                             {"ratio", line.ratio()}});
}

void BenchOutput::finish() const {
  if (json_) fmt::print("{}\n", all_.dump(2));
}

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
