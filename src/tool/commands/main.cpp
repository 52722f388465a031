#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <thread>

#include "tool/commands/command.h"

namespace {

// One line, whatever a library put into its message.
int fail(int status, std::string_view message, std::string_view hint = "") {
  fmt::print(stderr, "priornet: {}{}\n", message.substr(0, message.find('\n')), hint);
  return status;
}

int misuse(const CLI::App& tool, const CLI::ParseError& error) {
  // The subcommand that was reached, and its name with those above it.
  const CLI::App* reached = &tool;
  std::string command;
  for (auto chosen = tool.get_subcommands(); !chosen.empty(); chosen = reached->get_subcommands()) {
    reached = chosen.front();
    command += reached->get_name() + " ";
  }
  // CLI11 would only say that a subcommand is missing.
  const bool wants_subcommand = reached->get_require_subcommand_min() > 0;
  if (const auto rest = tool.remaining(true); wants_subcommand && !rest.empty())
    return fail(2, fmt::format("there is no subcommand {}{}", command, rest.front()),
                fmt::format(" (see priornet {}--help)", command));
  return fail(2, error.what(), fmt::format(" (see priornet {}--help)", command));
}

// LibTorch counts the cores of some virtual machines as one. OMP_NUM_THREADS in the environment is left alone.
void use_all_cores() {
  if (std::getenv("OMP_NUM_THREADS") == nullptr)
    at::set_num_threads(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App tool("priornet tells how sure a classifier is and why.", "priornet");
  tool.set_version_flag("--version", "priornet " PRIORNET_VERSION, "Print the version and exit");
  tool.require_subcommand(1);
  use_all_cores();
  tool.add_option_function<int>("--threads", at::set_num_threads, "CPU threads; by default all cores")
      ->check(CLI::Range(1, 4096));
  priornet::tool::add_reproduce(tool);
  priornet::tool::add_report(tool);
  priornet::tool::add_train(tool);
  priornet::tool::add_evaluate(tool);
  priornet::tool::add_calibrate(tool);
  priornet::tool::add_predict(tool);
  priornet::tool::add_export(tool);
  priornet::tool::add_serve(tool);
  priornet::tool::add_measure(tool);
  priornet::tool::add_detect(tool);
  priornet::tool::add_data(tool);
  priornet::tool::add_bench(tool);
  try {
    tool.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& asked) {  // --help, --version
    return tool.exit(asked);
  } catch (const CLI::ParseError& error) {
    return misuse(tool, error);
  } catch (const c10::Error& error) {
    return fail(1, error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return fail(1, "out of memory");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}
