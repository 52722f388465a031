#include <fmt/format.h>
#include <priornet/learning/logits.h>

#include <memory>

#include "tool/commands/calibration_report.h"
#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/commands/uncalibrated.h"

namespace priornet::tool {
namespace {

// What is wrong with the options, whatever is calibrated.
void check_options(const CalibrateOptions& options) {
  // The server's addresses contain the name.
  if (options.name.find('/') != std::string::npos)
    throw Misuse(fmt::format("--name: {} has a slash: the name of a model must not have one", options.name));
  if (int{!options.run.empty()} + int{!options.logits.files.empty()} + int{!options.network.empty()} != 1)
    throw Misuse("give one of RUN, --logits (of your own network) or --network (its file)");
  if (!options.run.empty() && !options.logits.kind.empty())
    throw Misuse("--kind: is for --logits and --network; a RUN knows what its network gives");
}

struct Calibrated {
  ModelFile model;
  std::vector<Behaviour> behaviours;
};

Calibrated calibrated(UncalibratedModel from, const CalibrateOptions& options) {
  auto& model = from.model;
  if (!options.name.empty()) model.name = options.name;
  model.dropout_samples = options.dropout_samples;
  model.preprocessing.resize = !options.no_resize;
  const auto [name, labels, said] = from.held_out(model);
  if (!options.network.empty() && said.logits.size(-1) <= said.size())
    for (const auto& doubt : doubts_about_logits(said.logits)) warn(fmt::format("{}: {}", options.network, doubt));
  auto watched = watched_measures(model.run.gives_dirichlet(), model.asks_several());
  for (const auto& detector : from.watched) watched.emplace_back(Verdict::kUnfamiliar, detector);
  model.points = calibrate(said, labels, watched, options.calibration, from.cross_validated);
  model.points->calibration_set = name;
  say_what_is_short(model);

  std::vector<Behaviour> behaviours = {behaviour_of(judge_again(model, said), labels, "calibration set itself")};
  if (!options.check.empty()) {
    const auto other = from.check(model);
    behaviours.push_back(behaviour_of(other.said, other.labels, other.name));
  }
  return {std::move(model), std::move(behaviours)};
}

void write_and_print(const Calibrated& made, const CalibrateOptions& options) {
  const auto& [model, behaviours] = made;
  const auto out = options.out.empty() ? model.name + ".priornet" : options.out;
  write_model_file(out, model);  // last: a command that fails leaves an older file as it was
  print(options.json ? calibration_json(model, behaviours, out) : calibration_text(model, behaviours, out));
}

void run(const CalibrateOptions& options) {
  check_options(options);
  if (!options.logits.files.empty()) return write_and_print(calibrated(uncalibrated_logits(options), options), options);
  StoppableProgress progress;
  std::vector<std::string> notes;
  LoadOptions load;
  load.progress = &progress;
  load.notes = &notes;
  const auto made = calibrated(
      options.network.empty() ? uncalibrated_run(options, load) : uncalibrated_network(options, load), options);
  for (const auto& line : notes) note(line);
  write_and_print(made, options);
}

}  // namespace

void describe_calibrate(Command& command) {
  const auto options = std::make_shared<CalibrateOptions>();
  command.options = {
      {.name = "RUN",
       .to = &options->run,
       .help = "Folder of the run; instead you can give --logits or --network",
       .exists = Exists::kFolder},
      {.name = "--network",
       .to = &options->network,
       .help = "Instead of RUN: the file of a network that PyTorch scripted or traced, or compiled (.pt2, needs "
               "LibTorch 2.6). It is not trained here. It is a program: it runs what its author wrote",
       .exists = Exists::kFile},
      {.name = "--training",
       .to = &options->training,
       .help = "With --network: the set that the network learnt from; detectors learn from it. Without it they learn "
               "from one half of --data",
       .needs = "--network"},
      {.name = "--mean",
       .to = &options->mean,
       .help = "With --network: the mean per channel of the images, or one number for all channels. The network takes "
               "(value - mean) / deviation of values in [0, "
               "1]; without it, values in [-1, 1]",
       .needs = "--network"},
      {.name = "--deviation",
       .to = &options->deviation,
       .help = "With --network: the deviation, likewise",
       .range = kPositive,
       .needs = "--mean"},
      {.name = "--data",
       .to = &options->data,
       .help =
           "A set with the run's classes that it did not learn from; by default the rows that train --data kept back"},
      {.name = "--false-alarm",
       .to = &options->calibration.false_alarm,
       .help = "Share of in-distribution inputs that may be rejected",
       .shows_default = true,
       .range = real_range(1e-6, 0.999)},
      {.name = "--per-class",
       .to = &options->calibration.per_class,
       .help = "Set thresholds for each predicted class: the share then holds within each class"},
      {.name = "--checkpoint",
       .to = &options->checkpoint,
       .help = "Which weights to take: last, or best (by validation error)",
       .shows_default = true,
       .choices = {"last", "best"}},
      {.name = "--out",
       .to = &options->out,
       .help = "Model file to write; by default NAME.priornet in this folder",
       .endings = {".priornet"}},
      {.name = "--name",
       .to = &options->name,
       .help = "Name of the model; by default that of the run's folder, with --logits that of the model file"},
      {.name = "--check",
       .to = &options->check,
       .help = "Another set, of the same classes or of none of them: print its verdicts by the new thresholds"},
      {.name = "--watch",
       .to = &options->watch,
       .help =
           "Detectors that can call an input unfamiliar, beside the measure; by default those that suit the network"},
      {.name = "--detectors",
       .to = &options->detectors,
       .help = "More detectors to store in the model file, each a column of the predictions: names, or all"},
      {.name = "--no-detectors", .to = &options->no_detectors, .help = "Watch the measures alone"},
      {.name = "--dropout-samples",
       .to = &options->dropout_samples,
       .help = "Number of passes with dropout; 0: one pass without dropout",
       .range = whole_range(0, 10'000)},
      {.name = "--no-resize", .to = &options->no_resize, .help = "Make a model that refuses images of another size"},
      device_option(options->device, "Where to compute"),
      torchscript_option(options->allow_torchscript),
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  for (auto& option : logits_options(options->logits, "Instead of RUN")) {
    if (option.name == "--kind") {
      option.needs.clear();
      option.help =
          "What --logits or --network gives: softmax, dirichlet (alpha = exp logits), or ensemble (logits of softmax "
          "members)";
    }
    command.options.push_back(std::move(option));
  }
  command.notes =
      "At most the chosen share of new inputs like those of the calibration set is rejected, whatever the network\n"
      "(docs/deploy.md). Detectors learn from the run's training set, which is read again; with --network from\n"
      "--training. Without --training, and with --features, they learn from one half of the inputs, and the other "
      "half\n"
      "calibrates.";
  command.examples = {
      "priornet calibrate runs/photos --false-alarm 0.05 --out photos.priornet",
      "priornet calibrate --network net.pt --data ./held-out,size=224 --kind softmax --out net.priornet",
      "priornet calibrate --logits val.npy --labels y.npy --kind softmax --out mine.priornet"};
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
