#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/experiments/experiment.h>
#include <priornet/train/trainer.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "device_option.h"
#include "shell_word.h"
#include "standard_output.h"
#include "stoppable_progress.h"

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

/// Every experiment named before the first of them starts, or misuse.
std::vector<const Experiment*> find_all(const std::vector<std::string>& names) {
  std::vector<const Experiment*> found;
  for (const auto& name : names) {
    try {
      found.push_back(&find_experiment(name));
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

nlohmann::ordered_json to_json(std::string_view name, const ExperimentSummary& summary) {
  nlohmann::ordered_json json{{"experiment", name}, {"tables", nlohmann::json::array()}, {"remarks", summary.remarks}};
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

void reproduce(const ReproduceOptions& options) {
  const auto chosen = find_all(options.names);
  ExperimentOptions run;
  run.profile = kProfiles.at(options.profile);
  if (options.device != "auto") run.device = chosen_device(options.device);
  run.seed = options.seed;
  run.seeds = options.seeds;
  run.overrides = options.overrides;
  auto json = nlohmann::ordered_json::array();
  for (const auto* experiment : chosen) {
    const fs::path folder = options.out.empty() ? "out" : options.out;
    run.out = options.out.empty() || chosen.size() > 1 ? folder / experiment->name : folder;
    run.command = command_line(options, experiment->name, run.out);
    const auto summary = run_stoppably(*experiment, run);
    if (options.json)
      json.push_back(to_json(experiment->name, summary));
    else
      print(to_text(summary));
  }
  if (options.json) print(json.dump(2) + "\n");
}

}  // namespace

void add_reproduce(CLI::App& tool) {
  auto options = std::make_shared<ReproduceOptions>();
  auto* command = tool.add_subcommand("reproduce", "Run the paper's experiments and report on them");
  std::string known;
  for (const auto& experiment : experiments())
    known += fmt::format("\n  {:<12} {}", experiment.name, experiment.description);
  command->footer(fmt::format(
      "Experiments:{}\n\nNetworks are left in OUT/runs: a command that was stopped goes on where it was.\n\nExamples:\n"
      "  priornet reproduce synthetic --out out/synthetic\n"
      "  priornet reproduce synthetic mnist --profile quick\n"
      "  priornet reproduce mnist --seeds 5 --device cuda --out out/mnist",
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
                   "KEY=VALUE: changes a setting of every network's configuration (configs/); again for more")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "Print tables and files as JSON");
  command->callback([options] { reproduce(*options); });
}

}  // namespace priornet::tool
