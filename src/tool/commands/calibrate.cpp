#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/evaluation.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/logits.h>
#include <priornet/learning/networks.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

#include "tool/commands/calibration_report.h"
#include "tool/commands/command.h"
#include "tool/commands/own_logits.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"

namespace priornet::tool {
namespace {

struct CalibrateOptions {
  std::string run;
  LogitsSource logits;  ///< its kind is also that of `network`
  std::string network;
  std::string training;
  std::vector<double> mean;
  std::vector<double> deviation;
  std::string data;
  std::string check;
  std::string out;
  std::string name;
  std::string checkpoint = "last";
  std::string device = "auto";
  bool allow_torchscript = false;
  CalibrationOptions calibration;
  std::vector<std::string> watch;
  std::vector<std::string> detectors;
  bool no_detectors = false;
  int64_t dropout_samples = 0;
  bool no_resize = false;
  bool json = false;
};

// From the set that a run was trained on.
Dataset kept_rows_of(const Dataset& whole, const TrainedRun& run) {
  auto set = select(whole, run.split.calibration_rows);
  set.name = whole.name + " (rows kept back)";
  return set;
}

Dataset rows_kept_back(const TrainedRun& run, const std::string& folder, const LoadOptions& load) {
  const auto& rows = run.split.calibration_rows;
  if (!rows.defined())
    throw DataError(fmt::format(
        "{}: kept no rows back for calibration: give --data a set that the run did not learn from", folder));
  const auto whole = load_set(run.config.train, load);
  if (rows.numel() == 0 || rows.max().item<int64_t>() >= whole.size())
    throw DataError(
        fmt::format("{}: has {} rows, fewer than when {} was trained on it", run.config.train, whole.size(), folder));
  if (!run.split.may_be_of(training_content(whole)))
    throw DataError(
        fmt::format("{}: its rows have changed since {} was trained on it, so the rows kept back cannot be found: give "
                    "--data a set that the run did not learn from",
                    run.config.train, folder));
  return kept_rows_of(whole, run);
}

struct HeldOut {
  Dataset set;
  bool kept_back = false;  ///< from the set that the run was trained on: drawn from it at random
};

HeldOut held_out(const TrainedRun& run, const CalibrateOptions& options, const LoadOptions& load) {
  if (options.data.empty()) return {rows_kept_back(run, options.run, load), true};
  auto set = load_set(options.data, load);
  // Whether this is the set that the run was trained on, moved or not: then the rows that it kept back are known.
  const auto& split = run.split;
  if (split.calibration_rows.defined() && !split.content.empty() && split.content == training_content(set))
    return {kept_rows_of(set, run), true};
  if (is_same_set(options.data, run.config.train))
    warn(fmt::format("the run learnt from {}: on new inputs there will be more false alarms than promised",
                     options.data));
  return {std::move(set), false};
}

/// The detectors of a model file.
struct ChosenDetectors {
  std::vector<std::string> watched;  ///< they look for "unfamiliar" beside the measure
  std::vector<std::string> kept;     ///< in the model file: those, then the others that the user asked for
};

/// Those of `usable` that the user names or, if none are named, those of `usual`.
ChosenDetectors chosen_detectors(const CalibrateOptions& options, const std::vector<std::string>& usable,
                                 const std::vector<std::string>& usual) {
  if (options.no_detectors && !(options.watch.empty() && options.detectors.empty()))
    throw Misuse("--no-detectors: cannot be given together with --watch or --detectors");
  ChosenDetectors chosen;
  if (!options.no_detectors) chosen.watched = options.watch.empty() ? usual : options.watch;
  chosen.kept = chosen.watched;
  const bool all = options.detectors == std::vector<std::string>{"all"};
  for (const auto& name : all ? usable : options.detectors)
    if (std::find(chosen.kept.begin(), chosen.kept.end(), name) == chosen.kept.end()) chosen.kept.push_back(name);
  for (const auto& name : chosen.kept) {
    const auto* info = find_detector(name);
    if (info == nullptr || info->is_measure)
      throw Misuse(fmt::format("there is no detector {}: should be one of {}", name, fmt::join(usable, ", ")));
    if (info->needs.gradients)
      throw Misuse(
          fmt::format("the detector {} needs passes of its own through the network, which a model file does not make: "
                      "should be one of {}",
                      name, fmt::join(usable, ", ")));
  }
  return chosen;
}

std::vector<std::pair<Verdict, std::string>> watches_of(const ModelFile& model, const ChosenDetectors& chosen) {
  auto watched = watched_measures(model.run.gives_dirichlet(), model.asks_several());
  for (const auto& name : chosen.watched) watched.emplace_back(Verdict::kUnfamiliar, name);
  return watched;
}

/// Detectors and, if rows are few, their scores of held-out rows and then of the rows that the run learnt from.
struct LearntDetectors {
  std::vector<NamedDetector> detectors;
  std::vector<NamedTensor> cross_validated = {};
};

// If few rows of a table were kept back at random, they are like those that the run learnt from. Detectors of columns
// do not depend on the network, so all rows calibrate them: each row is scored by detectors that did not learn from it.
// The detectors in the model file then learn from all rows.
bool are_cross_validated(const ChosenDetectors& chosen, const HeldOut& held, const DetectorTraining& training,
                         const CalibrateOptions& options) {
  return held.kept_back && held.set.size() < kFewCalibrationInputs && !options.calibration.per_class &&
         held.set.size() + training.inputs.size(0) <= kDetectorTraining && !chosen.watched.empty() &&
         std::all_of(chosen.watched.begin(), chosen.watched.end(), [](const std::string& name) {
           const auto& info = *find_detector(name);
           return info.needs.rows && judges_inputs_alone(info);
         });
}

// Unless they are cross-validated, detectors learn from the rows that the run learnt from, and never from rows that
// were kept back.
LearntDetectors learnt_detectors(const ChosenDetectors& chosen, const TrainedRun& run, const HeldOut& held,
                                 const CalibrateOptions& options, Progress& progress) try {
  if (chosen.kept.empty()) return {};
  const auto training = training_of(run, progress);
  if (!are_cross_validated(chosen, held, training, options))
    return {fit_detectors(chosen.kept, run.members, training, progress)};
  const auto rows = run.split.standardised(fit_to_run(held.set, run).inputs);
  auto judged = cross_validate(chosen.watched, torch::cat({rows, training.inputs}),
                               torch::cat({labels_for(run, held.set), training.labels}));
  note(fmt::format("{} learn from all {} rows, and all of them calibrate, by cross-validation in {} parts",
                   fmt::join(chosen.watched, ", "), rows.size(0) + training.inputs.size(0), kCrossValidationParts));
  for (auto& [name, detector] : judged.detectors) detector->to(run.device());
  auto others =
      fit_detectors({chosen.kept.begin() + static_cast<std::ptrdiff_t>(chosen.watched.size()), chosen.kept.end()},
                    run.members, training, progress);
  std::move(others.begin(), others.end(), std::back_inserter(judged.detectors));
  return {std::move(judged.detectors), std::move(judged.columns)};
} catch (const DataError& error) {
  throw DataError(
      fmt::format("{}; detectors learn from the run's training set: --no-detectors does without them", error.what()));
}

// What the model says about a set, batch by batch.
Predictions said_of(Predictor& predictor, const Dataset& set, Progress& progress) {
  const auto inputs = fit_to_run(set, predictor.model().run).inputs;
  constexpr int64_t kBatch = 1000;
  std::vector<Predictions> parts;
  for (int64_t first = 0; first < inputs.size(0); first += kBatch) {
    progress.report("scores of " + set.name, first, inputs.size(0));
    parts.push_back(predictor.predict(inputs.narrow(0, first, std::min(kBatch, inputs.size(0) - first))));
  }
  progress.report("scores of " + set.name, inputs.size(0), inputs.size(0));
  return Predictions::joined(parts);
}

Behaviour behaviour_on(Predictor& predictor, const Dataset& set, Progress& progress) {
  torch::Tensor labels;
  try {
    labels = labels_for(predictor.model().run, set);
  } catch (const DataError&) {
    // Without labels, or with those of other classes, only what is rejected counts.
  }
  return behaviour_of(said_of(predictor, set, progress), labels, set.name);
}

void say_whether_finished(const std::string& run, int64_t epochs) {
  const auto trained = epochs_trained(run);
  if (trained < epochs)
    warn(fmt::format("{}: training did not finish: {} of {} epochs are done (train --resume goes on)", run, trained,
                     epochs));
}

/// Inputs with logits from another program; labels may be undefined.
struct LabelledOutputs {
  OwnOutputs outputs;
  torch::Tensor labels;

  LabelledOutputs select(const torch::Tensor& rows) const {
    return {outputs.select(rows), labels.defined() ? labels.index_select(0, rows) : labels};
  }
};

// Detectors learn from one half of the inputs, and the other half calibrates. No input may do both, or new ones would
// look stranger than those that the thresholds come from.
struct Halves {
  torch::Tensor training;
  torch::Tensor calibration;
};
Halves halves_of(const std::string& name, int64_t rows) {
  if (rows < 4) throw DataError(fmt::format("{}: has {} rows, needs at least 4", name, rows));
  auto generator = make_generator(derive_seed(0, "inputs that detectors learn from"));
  const auto order = torch::randperm(rows, generator, torch::kInt64);
  const auto half = rows / 2;
  const auto learnt_from = std::min(half, kDetectorTraining);
  note(fmt::format("detectors learn from {} of the {} inputs; the other {} calibrate", learnt_from, rows, rows - half));
  return {order.narrow(0, 0, learnt_from), std::get<0>(order.narrow(0, half, rows - half).sort())};
}

bool learns(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return find_detector(name)->needs.training; });
}

std::vector<NamedDetector> learnt_detectors(const std::vector<std::string>& names, bool dirichlet,
                                            LabelledOutputs& calibration) {
  const bool features = calibration.outputs.features.defined();
  for (const auto& name : names)
    if (const auto reason = why_not_without_network(*find_detector(name), features); !reason.empty())
      throw DataError(fmt::format("the detector {} cannot be used: {}", name, reason));
  auto training = calibration;
  if (learns(names)) {
    const auto halves = halves_of(calibration.outputs.name, calibration.outputs.rows());
    training = calibration.select(halves.training);
    calibration = calibration.select(halves.calibration);
  }
  DetectorInputs seen;
  seen.logits = training.outputs.logits;
  seen.features = training.outputs.features;
  seen.labels = training.labels;
  seen.dirichlet = dirichlet;
  return fit_detectors(names, seen);
}

// From logits that another program computed: the file holds no network.
void run_logits(const CalibrateOptions& options) {
  refuse_with_logits("--data", !options.data.empty());
  refuse_with_logits("--checkpoint", options.checkpoint != "last");
  refuse_with_logits("--dropout-samples", options.dropout_samples != 0);
  refuse_with_logits("--no-resize", options.no_resize);
  LabelledOutputs calibration{own_outputs(options.logits), {}};
  auto& outputs = calibration.outputs;
  const bool features = outputs.features.defined();
  if (!options.logits.labels.empty())
    calibration.labels = read_labels(options.logits.labels, outputs.rows(), outputs.classes());
  auto model = model_of_logits(options.logits, outputs, features ? outputs.features.size(1) : 0);
  model.name = options.name;
  if (model.name.empty())
    model.name = std::filesystem::path(options.out.empty() ? outputs.name : options.out).stem().string();
  const auto out = options.out.empty() ? model.name + ".priornet" : options.out;
  const auto chosen = chosen_detectors(options, usable_without_network(features),
                                       features ? std::vector<std::string>{"knn"} : std::vector<std::string>{});
  model.detectors = learnt_detectors(chosen.kept, model.run.gives_dirichlet(), calibration);
  model.points = calibrate(judged(model, outputs), calibration.labels, watches_of(model, chosen), options.calibration);
  model.points->calibration_set = outputs.name;
  say_what_is_short(model);
  std::vector<Behaviour> behaviours = {
      behaviour_of(judged(model, outputs), calibration.labels, "calibration set itself")};
  if (!options.check.empty())
    behaviours.push_back(behaviour_of(judged(model, other_outputs(options.logits, options.check)), {}, options.check));
  write_model_file(out, model);
  print(options.json ? calibration_json(model, behaviours, out) : calibration_text(model, behaviours, out));
}

// Adds thresholds to a model with its detectors, from a set that neither learnt from; then writes the file.
void calibrate_and_write(ModelFile model, Dataset set, const ChosenDetectors& chosen,
                         const std::vector<NamedTensor>& cross_validated, const LoadOptions& load,
                         const CalibrateOptions& options, Progress& progress) {
  if (!options.name.empty()) model.name = options.name;
  model.dropout_samples = options.dropout_samples;
  model.preprocessing.resize = !options.no_resize;
  const auto out = options.out.empty() ? model.name + ".priornet" : options.out;
  const auto labels = set.has_labels() ? labels_for(model.run, set) : torch::Tensor();
  Predictor plain(model);
  const auto said = said_of(plain, set, progress);
  if (!options.network.empty() && said.logits.size(-1) <= said.size())
    for (const auto& doubt : doubts_about_logits(said.logits)) warn(fmt::format("{}: {}", options.network, doubt));
  model.points = calibrate(said, labels, watches_of(model, chosen), options.calibration, cross_validated);
  model.points->calibration_set = set.name;
  say_what_is_short(model);

  Predictor predictor(model);
  std::vector<Behaviour> behaviours;
  set.name = "calibration set itself";
  behaviours.push_back(behaviour_on(predictor, set, progress));
  if (!options.check.empty()) behaviours.push_back(behaviour_on(predictor, load_set(options.check, load), progress));
  if (load.notes != nullptr)
    for (const auto& line : *load.notes) note(line);
  write_model_file(out, model);  // last: a command that fails leaves an older file as it was
  print(options.json ? calibration_json(model, behaviours, out) : calibration_text(model, behaviours, out));
}

// A network from a file, for inputs like those of a set: its classes are those of the set, in their order.
ModelFile model_of_network(const CalibrateOptions& options, const Dataset& set) {
  TrainedRun run;
  auto& config = run.config;
  config.train = options.training.empty() ? "its own data" : options.training;
  config.method.name = options.logits.kind == "dirichlet" ? "dpn" : "dnn";
  config.model.file = options.network;
  if (!options.mean.empty()) {
    config.model.mean = options.mean;
    config.model.deviation = options.deviation;
  }
  run.split.feature_names = set.feature_names;
  run.split.encoding = set.encoding;
  auto wanted = config.model;
  wanted.input = set.inputs.sizes().slice(1).vec();
  const auto network = make_model(wanted, make_generator(0));
  run.class_names = set.class_names;
  if (!set.has_labels())
    for (int64_t c = 0; c < network->classes(); ++c) run.class_names.push_back(fmt::format("{}", c));
  if (static_cast<int64_t>(run.class_names.size()) != network->classes())
    throw DataError(fmt::format("{}: gives {} classes, but {} has {}: give --data a set with the network's classes",
                                options.network, network->classes(), set.name, run.class_names.size()));
  if (set.has_labels())
    note(fmt::format(
        "{}: its outputs are taken as the classes of {}, in this order: {}{}", options.network, set.name,
        fmt::join(run.class_names.begin(), run.class_names.begin() + std::min<int64_t>(8, network->classes()), ", "),
        network->classes() > 8 ? ", ..." : ""));
  network->to(chosen_device(options.device));
  if (wanted.input.size() == 3) to_channels_last(*network);
  network->eval();
  run.members = {network};
  return model_of_run(std::move(run), std::filesystem::path(options.network).stem().string());
}

// Detectors learn from --training, or else from one half of the set, which is then removed from it.
std::vector<NamedDetector> learnt_detectors(const std::vector<std::string>& names, const TrainedRun& run, Dataset& set,
                                            const CalibrateOptions& options, const LoadOptions& load,
                                            Progress& progress) {
  if (names.empty()) return {};
  auto training = set;
  if (!options.training.empty()) {
    training = load_set(options.training, load);
  } else if (learns(names)) {
    const auto halves = halves_of(set.name, set.size());
    const auto name = set.name;
    training = select(set, halves.training);
    set = select(set, halves.calibration);
    set.name = name;
  }
  const auto labels =
      training.has_labels() ? labels_for(run, training) : torch::zeros({training.size()}, torch::kInt64);
  return fit_detectors(names, run.members, {fit_to_run(training, run).inputs, labels, run.gives_dirichlet(), 0},
                       progress);
}

// For a network in a file that was trained elsewhere: it is not trained here.
void run_network(const CalibrateOptions& options, LoadOptions load, Progress& progress) {
  refuse_with_logits("--checkpoint", options.checkpoint != "last", "--network");
  refuse_with_logits("--dropout-samples", options.dropout_samples != 0, "--network");
  if (options.data.empty()) throw Misuse("--network: give --data too: a set that the network did not learn from");
  if (options.logits.kind != "softmax" && options.logits.kind != "dirichlet")
    throw Misuse("--network: give --kind too: what the network gives, softmax or dirichlet");
  auto set = load_set(options.data, load);
  auto model = model_of_network(options, set);
  const auto& network = *model.run.members.at(0);
  const auto chosen = chosen_detectors(options, usable_detectors(network, false), watched_detectors(network));
  load.encoding = set.encoding;
  model.detectors = learnt_detectors(chosen.kept, model.run, set, options, load, progress);
  calibrate_and_write(std::move(model), std::move(set), chosen, {}, load, options, progress);
}

void run(const CalibrateOptions& options) {
  // The server's addresses contain the name.
  if (options.name.find('/') != std::string::npos)
    throw Misuse(fmt::format("--name: {} has a slash: the name of a model must not have one", options.name));
  if (int{!options.run.empty()} + int{!options.logits.files.empty()} + int{!options.network.empty()} != 1)
    throw Misuse("give one of RUN, --logits (of your own network) or --network (its file)");
  if (!options.run.empty() && !options.logits.kind.empty())
    throw Misuse("--kind: is for --logits and --network; a RUN knows what its network gives");
  if (!options.logits.files.empty()) return run_logits(options);
  StoppableProgress progress;
  std::vector<std::string> notes;
  LoadOptions load;
  load.progress = &progress;
  load.notes = &notes;
  if (!options.network.empty()) return run_network(options, load, progress);
  OpenOptions open(chosen_device(options.device),
                   options.checkpoint == "best" ? WhichCheckpoint::kBest : WhichCheckpoint::kLast);
  open.allow_torchscript = options.allow_torchscript;
  auto model = model_of_run(options.run, open);
  say_whether_finished(options.run, model.run.config.epochs);
  model.provenance["checkpoint"] = options.checkpoint;
  const auto& network = *model.run.members.at(0);
  const auto chosen = chosen_detectors(options, usable_detectors(network, false), watched_detectors(network));
  load.encoding = model.run.split.encoding;
  auto held = held_out(model.run, options, load);
  auto learnt = learnt_detectors(chosen, model.run, held, options, progress);
  model.detectors = std::move(learnt.detectors);
  calibrate_and_write(std::move(model), std::move(held.set), chosen, learnt.cross_validated, load, options, progress);
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
       .help = "With --network: the mean per channel. The network takes (value - mean) / deviation of values in [0, "
               "1]; without it, values in [-1, 1]",
       .needs = "--network"},
      {.name = "--deviation",
       .to = &options->deviation,
       .help = "With --network: the deviation per channel",
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
