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

#include "learning/base/json_text.h"
#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"
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
  std::string only;
  std::string out;
  std::vector<std::string> overrides;
  bool plan = false;
  bool json = false;
};

const std::map<std::string, Profile> kProfiles = {
    {"quick", Profile::kQuick}, {"paper", Profile::kPaper}, {"modern", Profile::kModern}};

constexpr const char* kAll = "all";

/// Every experiment named, once each, before the first starts; or misuse.
std::vector<const Experiment*> chosen_experiments(const std::vector<std::string>& names) {
  std::vector<const Experiment*> found;
  const auto add = [&](const Experiment& experiment) {
    if (std::find(found.begin(), found.end(), &experiment) == found.end()) found.push_back(&experiment);
  };
  for (const auto& name : names) {
    if (name == kAll) {
      for (const auto& experiment : experiments())
        if (experiment.is_of_paper) add(experiment);
      continue;
    }
    if (name.find('=') != std::string::npos)
      throw Misuse(fmt::format("WHAT: '{}' is not an experiment; write --set before each setting", name));
    try {
      add(experiment_named(name));
    } catch (const ConfigError& error) {
      throw Misuse(fmt::format("WHAT: {}, {}", error.what(), kAll));
    }
  }
  return found;
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
  for (const auto& table : summary.tables) json["tables"].push_back(parse_json(priornet::to_json(table)));
  for (const auto& file : summary.files) json["files"].push_back(file.string());
  return json;
}

/// Ctrl-C ends the command, in training after a checkpoint.
ExperimentSummary run_stoppably(const Experiment& experiment, ExperimentOptions run) {
  try {
    StoppableProgress progress;
    run.stop = [&] { return progress.stopping(); };
    return experiment.run(run, progress);
  } catch (const TrainingStopped&) {
    complain("stopped; the same command goes on from there");
    throw Stopped();
  }
}

/// If one of several fails, the others still run; if there is only one, the command fails.
ExperimentOutcome outcome_of(const Experiment& experiment, const ExperimentOptions& run, bool is_alone) {
  const auto start = std::chrono::steady_clock::now();
  ExperimentOutcome outcome;
  outcome.name = experiment.name;
  try {
    outcome.summary = run_stoppably(experiment, run);
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception& error) {  // also LibTorch's, such as a GPU without memory
    if (is_alone) throw;
    outcome.error = words_of(error);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

void print_outcome(const ExperimentOutcome& outcome) {
  if (outcome.error.empty())
    print(to_text(outcome.summary) + fmt::format("{}: {:.1f} s\n\n", outcome.name, outcome.seconds));
  else
    complain(fmt::format("{}: {}", outcome.name, outcome.error));
}

void finish_several(const std::vector<ExperimentOutcome>& outcomes, const Invocation& invocation, bool json,
                    const fs::path& folder) {
  const auto files = write_outcomes(outcomes, invocation.command_line({{"--out", {folder.string()}}}), folder);
  if (!json) {
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

/// Where one of `count` experiments leaves its results.
fs::path folder_of(const Experiment& experiment, size_t count, const ReproduceOptions& options) {
  const fs::path folder = options.out.empty() ? "out" : options.out;
  return options.out.empty() || count > 1 ? folder / experiment.name : folder;
}

std::string training_line(const TrainingCommand& network, const std::string& device) {
  return fmt::format("priornet train {} --out {} --resume{}", shell_word(network.config.string()),
                     shell_word(network.folder.string()), device == "auto" ? "" : " --device " + device);
}

/// A shell script, one command per line; those of one stage may run at the same time.
std::string plan_text(const std::vector<TrainingCommand>& networks, const std::string& device) {
  if (networks.empty()) return "# nothing is left to train\n";
  std::string text;
  int64_t stage = 0;
  for (const auto& network : networks) {
    if (network.stage != stage) {
      const auto count = std::count_if(networks.begin(), networks.end(),
                                       [&](const auto& other) { return other.stage == network.stage; });
      text += fmt::format("# stage {}: {} network{}{}\n", network.stage, count, count == 1 ? "" : "s",
                          network.stage == 1 ? "" : ", to learn from those above");
    }
    stage = network.stage;
    text += training_line(network, device) + "\n";
  }
  return text;
}

/// Prints what is left to train, and trains nothing.
void print_plan(const std::vector<const Experiment*>& chosen, ExperimentOptions run, const ReproduceOptions& options) {
  auto json = nlohmann::ordered_json::array();
  for (const auto* experiment : chosen) {
    if (experiment->networks == nullptr)
      throw Misuse(fmt::format("--plan: {} has no configurations that priornet train could take", experiment->name));
    run.out = folder_of(*experiment, chosen.size(), options);
    const auto networks = experiment->networks(run);
    if (!options.json) print(plan_text(networks, options.device));
    for (const auto& network : networks)
      json.push_back({{"experiment", experiment->name},
                      {"stage", network.stage},
                      {"folder", network.folder.string()},
                      {"command", training_line(network, options.device)}});
  }
  if (options.json) print(json_text(json, 2) + "\n");
}

void reproduce(const ReproduceOptions& options, const Invocation& invocation) {
  const auto chosen = chosen_experiments(options.names);
  ExperimentOptions run;
  run.profile = kProfiles.at(options.profile);
  if (options.device != "auto") run.device = chosen_device(options.device);
  run.seed = options.seed;
  run.seeds = options.seeds;
  run.only = options.only;
  run.overrides = options.overrides;
  if (options.plan) return print_plan(chosen, run, options);
  const fs::path folder = options.out.empty() ? "out" : options.out;
  auto json = nlohmann::ordered_json::array();
  std::vector<ExperimentOutcome> outcomes;
  for (const auto* experiment : chosen) {
    run.out = folder_of(*experiment, chosen.size(), options);
    run.command = invocation.command_line({{"WHAT", {std::string(experiment->name)}}, {"--out", {run.out.string()}}});
    outcomes.push_back(outcome_of(*experiment, run, chosen.size() == 1));
    if (options.json)
      json.push_back(to_json(outcomes.back()));
    else
      print_outcome(outcomes.back());
  }
  if (options.json) print(json_text(json, 2) + "\n");
  if (chosen.size() > 1) finish_several(outcomes, invocation, options.json, folder);
}

}  // namespace

void describe_reproduce(Command& command) {
  const auto options = std::make_shared<ReproduceOptions>();
  command.options = {
      {.name = "WHAT", .to = &options->names, .help = "Experiments to run", .required = true},
      {.name = "--profile",
       .to = &options->profile,
       .help = "Recipe: quick, paper or modern",
       .shows_default = true,
       .choices = {"quick", "paper", "modern"}},
      device_option(options->device, "Where to train"),
      {.name = "--seed", .to = &options->seed, .help = "Seed of everything random", .shows_default = true},
      {.name = "--seeds",
       .to = &options->seeds,
       .help = "Number of runs, with seeds from --seed on",
       .shows_default = true,
       .range = whole_range(1, 1000)},
      {.name = "--only",
       .to = &options->only,
       .help = "Train and evaluate only these models, named as in the tables and split by commas; rows of other models "
               "that OUT already holds are kept",
       .value_text = "MODEL,..."},
      {.name = "--set",
       .to = &options->overrides,
       .help = "Change a setting in the configuration of every network (configs/); may be given several times",
       .value_text = "KEY=VALUE",
       .one_value_each = true},
      {.name = "--out",
       .to = &options->out,
       .help = "Folder for the results: OUT for one experiment, OUT/WHAT for several; by default out/WHAT"},
      {.name = "--plan",
       .to = &options->plan,
       .help = "Train nothing: print the commands that train the networks that are not there yet, one per line, "
               "teachers before students; their configurations are left in OUT/plan"},
      {.name = "--json", .to = &options->json, .help = "Print tables and files as JSON"}};
  command.notes = "Experiments:";
  for (const auto& experiment : experiments())
    command.notes += fmt::format("\n  {:<12} {}", experiment.name, experiment.description);
  command.notes += fmt::format("\n  {:<12} all experiments of the paper, with a summary at the end", kAll);
  command.notes +=
      "\n\nNetworks are kept in OUT/runs. If a command was stopped, call it again: it goes on from there. The commands "
      "of\n"
      "one stage of --plan may run at the same time. The same command without --plan then trains nothing more.";
  command.examples = {"priornet reproduce synthetic --out out/synthetic",
                      "priornet reproduce synthetic mnist --profile quick",
                      "priornet reproduce cifar10 --profile modern --seeds 5 --device cuda --out out/cifar10-modern",
                      "priornet reproduce cifar10 --profile modern --seeds 5 --out out/cifar10-modern --plan",
                      "priornet reproduce cifar10 --profile modern --seeds 5 --only \"DPN,DPN ensemble\"",
                      "priornet reproduce reasons --profile modern --device cuda --out out/reasons",
                      "priornet reproduce all --out out"};
  command.run = [options](const Invocation& invocation) { reproduce(*options, invocation); };
}

}  // namespace priornet::tool
