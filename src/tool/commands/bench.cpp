#include "tool/commands/bench.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"

namespace priornet::tool {
namespace {

// Replaces this process by priornet-bench, which lies beside this program if it was built.
[[noreturn]] void run_beside(const std::vector<std::string>& arguments) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "priornet-bench";
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  if (errno == ENOENT)
    throw Error(
        fmt::format("{} is missing: the benchmarks are a separate program (./priornet bench builds it; so does cmake "
                    "--build FOLDER --target priornet_bench_tool)",
                    words[0]));
  throw Error(fmt::format("{}: cannot be run: {}", words[0], std::generic_category().message(errno)));
}

}  // namespace

void describe_bench_options(Command& command, BenchOptions& options) {
  command.options = {
      {.name = "--classes",
       .to = &options.classes,
       .help = "Numbers of classes K",
       .shows_default = true,
       .range = whole_range(2, 1000000),
       .separator = ','},
      {.name = "--seconds",
       .to = &options.seconds,
       .help = "Time spent on each line",
       .shows_default = true,
       .range = kPositive},
      device_option(options.device, "Device to compute on"),
      {.name = "--data",
       .to = &options.data,
       .help = "Folder of data sets: also measure how fast the sets in it are read",
       .environment = "PRIORNET_DATA"},
      {.name = "--only",
       .to = &options.only,
       .help = "Measure only these parts",
       .choices = {"measures", "losses", "images", "training", "ways", "scoring", "reading", "prediction", "serve"},
       .separator = ','},
      {.name = "--networks",
       .to = &options.networks,
       .help = "On a GPU: measure or record training steps of these networks alone",
       .choices = {"vgg16", "resnet18", "wide-resnet-28-10", "resnet50", "vgg6"},
       .separator = ','},
      {.name = "--trace",
       .to = &options.trace,
       .help = "Measure nothing; record a few training steps, of VGG-16 unless --networks says otherwise, for "
               "chrome://tracing"},
      {.name = "--model",
       .to = &options.model,
       .help = "Model file or run to use for scoring, prediction and serving; without it, networks with random weights "
               "are scored and served",
       .exists = Exists::kModel},
      torchscript_option(options.allow_torchscript),
      {.name = "--json", .to = &options.json, .help = "Print the results as JSON"}};
  command.examples = {"priornet bench --classes 10,1000", "priornet bench --device cuda --only training",
                      "priornet bench --device cuda --networks resnet18 --trace trace.json",
                      "priornet bench --only scoring --model runs/dpn"};
}

void describe_bench(Command& command) {
  const auto options = std::make_shared<BenchOptions>();
  describe_bench_options(command, *options);
  command.run = [options](const Invocation& invocation) { run_beside(invocation.arguments()); };
}

}  // namespace priornet::tool
