#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/training.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tool/commands/command.h"
#include "tool/commands/options.h"
#include "tool/commands/terminal.h"
#include "tool/experiments/experiment.h"

namespace priornet::tool {
namespace {

namespace fs = std::filesystem;

struct ReproduceOptions {
  std::vector<std::string> names;
  std::string profile = "paper";
  std::string device = "auto";
  uint64_t seed = 1;
  int64_t seeds = 1;
  std::string out;
  std::vector<std::string> overrides;
  bool json = false;
};

const std::map<std::string, Profile> kProfiles = {
    {"quick", Profile::kQuick}, {"paper", Profile::kPaper}, {"modern", Profile::kModern}};

constexpr const char* kAll = "all";

/// Every experiment named, before the first of them starts, each once; or misuse.
std::vector<const Experiment*> find_all(const std::vector<std::string>& names) {
  std::vector<const Experiment*> found;
  const auto add = [&](const Experiment& experiment) {
    if (std::find(found.begin(), found.end(), &experiment) == found.end()) found.push_back(&experiment);
  };
  for (const auto& name : names) {
    if (name == kAll) {
      for (const auto& experiment : experiments()) add(experiment);
      continue;
    }
    if (name.find('=') != std::string::npos)
      throw CLI::ValidationError("WHAT",
                                 fmt::format("'{}' is no experiment; a setting follows a --set of its own", name));
    try {
      add(find_experiment(name));
    } catch (const ConfigError& error) {
      throw CLI::ValidationError("WHAT", error.what());
    }
  }
  return found;
}

/// The command that gives the same result, without what is as by default.
std::string command_line(const ReproduceOptions& options, std::string_view name, const fs::path& out) {
  auto command = fmt::format("priornet reproduce {}", name);
  if (options.profile != "paper") command += " --profile " + options.profile;
  if (options.device != "auto") command += " --device " + options.device;
  if (options.seed != 1) command += fmt::format(" --seed {}", options.seed);
  if (options.seeds != 1) command += fmt::format(" --seeds {}", options.seeds);
  for (const auto& setting : options.overrides) command += " --set " + shell_word(setting);
  return command + " --out " + shell_word(out.string());
}

std::string to_text(const ExperimentSummary& summary) {
  std::string text;
  for (const auto& table : summary.tables) text += priornet::to_text(table) + "\n";
  for (const auto& remark : summary.remarks) text += fmt::format("Note: {}\n\n", remark);
  text += "Written:\n";
  for (const auto& file : summary.files) text += fmt::format("  {}\n", file.string());
  return text;
}

nlohmann::ordered_json to_json(const ExperimentOutcome& outcome) {
  if (!outcome.error.empty())
    return {{"experiment", outcome.name}, {"seconds", outcome.seconds}, {"error", outcome.error}};
  const auto& summary = outcome.summary;
  nlohmann::ordered_json json{{"experiment", outcome.name},
                              {"seconds", outcome.seconds},
                              {"tables", nlohmann::json::array()},
                              {"remarks", summary.remarks}};
  for (const auto& table : summary.tables)
    json["tables"].push_back(nlohmann::ordered_json::parse(priornet::to_json(table)));
  for (const auto& file : summary.files) json["files"].push_back(file.string());
  return json;
}

/// Ctrl-C ends the process, in training after a checkpoint.
ExperimentSummary run_stoppably(const Experiment& experiment, ExperimentOptions run) {
  try {
    StoppableProgress progress;
    run.stop = [&] { return progress.stopping(); };
    return experiment.run(run, progress);
  } catch (const TrainingStopped&) {
    fmt::print(stderr, "priornet: stopped; the same command goes on from there\n");
    Stopped::end_process();
  } catch (const Stopped&) {
    Stopped::end_process();
  }
}

/// One of several that fails does not keep the others from running; one alone fails the command.
ExperimentOutcome outcome_of(const Experiment& experiment, const ExperimentOptions& run, bool is_alone) {
  const auto start = std::chrono::steady_clock::now();
  ExperimentOutcome outcome;
  outcome.name = experiment.name;
  try {
    outcome.summary = run_stoppably(experiment, run);
  } catch (const Error& error) {
    if (is_alone) throw;
    outcome.error = error.what();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

void print_outcome(const ExperimentOutcome& outcome) {
  if (outcome.error.empty())
    print(to_text(outcome.summary) + fmt::format("{}: {:.1f} s\n\n", outcome.name, outcome.seconds));
  else
    fmt::print(stderr, "priornet: {}: {}\n", outcome.name, outcome.error);
}

void finish_several(const std::vector<ExperimentOutcome>& outcomes, const ReproduceOptions& options,
                    const fs::path& folder) {
  const auto files =
      write_outcomes(outcomes, command_line(options, fmt::format("{}", fmt::join(options.names, " ")), folder), folder);
  if (!options.json) {
    for (const auto& table : outcome_tables(outcomes)) print(priornet::to_text(table) + "\n");
    for (const auto& file : files) print(fmt::format("Written: {}\n", file.string()));
  }
  std::vector<std::string> failed;
  for (const auto& outcome : outcomes)
    if (!outcome.error.empty()) failed.push_back(outcome.name);
  if (!failed.empty())
    throw Error(
        fmt::format("{} of {} experiments failed: {}", failed.size(), outcomes.size(), fmt::join(failed, ", ")));
}

void reproduce(const ReproduceOptions& options) {
  const auto chosen = find_all(options.names);
  ExperimentOptions run;
  run.profile = kProfiles.at(options.profile);
  if (options.device != "auto") run.device = chosen_device(options.device);
  run.seed = options.seed;
  run.seeds = options.seeds;
  run.overrides = options.overrides;
  const fs::path folder = options.out.empty() ? "out" : options.out;
  auto json = nlohmann::ordered_json::array();
  std::vector<ExperimentOutcome> outcomes;
  for (const auto* experiment : chosen) {
    run.out = options.out.empty() || chosen.size() > 1 ? folder / experiment->name : folder;
    run.command = command_line(options, experiment->name, run.out);
    outcomes.push_back(outcome_of(*experiment, run, chosen.size() == 1));
    if (options.json)
      json.push_back(to_json(outcomes.back()));
    else
      print_outcome(outcomes.back());
  }
  if (options.json) print(json.dump(2) + "\n");
  if (chosen.size() > 1) finish_several(outcomes, options, folder);
}

}  // namespace

void add_reproduce(CLI::App& tool) {
  auto options = std::make_shared<ReproduceOptions>();
  auto* command = tool.add_subcommand("reproduce", "Run the paper's experiments and report on them");
  std::string known;
  for (const auto& experiment : experiments())
    known += fmt::format("\n  {:<12} {}", experiment.name, experiment.description);
  known += fmt::format("\n  {:<12} every one of them, with a summary at the end", kAll);
  command->footer(fmt::format(
      "Experiments:{}\n\nNetworks are left in OUT/runs: a command that was stopped goes on where it was.\n\nExamples:\n"
      "  priornet reproduce synthetic --out out/synthetic\n"
      "  priornet reproduce synthetic mnist --profile quick\n"
      "  priornet reproduce cifar10 --profile modern --seeds 3 --device cuda --out out/cifar10-modern\n"
      "  priornet reproduce all --out out",
      known));
  command->add_option("WHAT", options->names, "Experiments to run")->required();
  command->add_option("--profile", options->profile, "Recipe: quick, paper or modern")
      ->check(CLI::IsMember({"quick", "paper", "modern"}))
      ->capture_default_str();
  add_device_option(*command, options->device, "Where to train");
  command->add_option("--seed", options->seed, "Seed of everything random")->capture_default_str();
  command->add_option("--seeds", options->seeds, "Number of runs, with seeds from --seed on")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  command->add_option("--out", options->out,
                      "Folder for the results: OUT for one experiment, OUT/WHAT for several; by default out/WHAT");
  command
      ->add_option("--set", options->overrides,
                   "Changes a setting of every network's configuration (configs/); again for more")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  command->add_flag("--json", options->json, "Print tables and files as JSON");
  command->callback([options] { reproduce(*options); });
}

}  // namespace priornet::tool
