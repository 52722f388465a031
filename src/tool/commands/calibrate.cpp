#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/evaluation.h>
#include <priornet/learning/load_set.h>
#include <priornet/uncertainty/calibration.h>
#include <priornet/uncertainty/decision.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tool/commands/device_option.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

struct CalibrateOptions {
  std::string run;
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

// Of the set that a run was trained on.
Dataset kept_rows_of(const Dataset& whole, const TrainedRun& run) {
  auto set = select(whole, run.split.calibration_rows);
  set.name = whole.name + " (rows kept back)";
  return set;
}

Dataset rows_kept_back(const TrainedRun& run, const std::string& folder, const LoadOptions& load) {
  const auto& rows = run.split.calibration_rows;
  if (!rows.defined())
    throw DataError(fmt::format(
        "{}: kept no rows back for calibration: --data should name a set that it did not learn from", folder));
  const auto whole = load_set(run.config.train, load);
  if (rows.numel() == 0 || rows.max().item<int64_t>() >= whole.size())
    throw DataError(fmt::format("{}: has {} rows, and fewer than when {} was trained on it", run.config.train,
                                whole.size(), folder));
  if (!run.split.may_be_of(training_content(whole)))
    throw DataError(
        fmt::format("{}: its rows are no longer those that {} was trained on, and the ones kept back cannot "
                    "be told: --data should name a set that it did not learn from",
                    run.config.train, folder));
  return kept_rows_of(whole, run);
}

// Whether two names of sets mean the same: paths may differ in how they are written.
bool same_set(const std::string& one, const std::string& other) {
  const auto path = [](const std::string& name) { return name.substr(0, name.find(',')); };
  std::error_code not_there;
  return one == other || (one.substr(path(one).size()) == other.substr(path(other).size()) &&
                          std::filesystem::equivalent(path(one), path(other), not_there));
}

Dataset held_out(const TrainedRun& run, const CalibrateOptions& options, const LoadOptions& load) {
  if (options.data.empty()) return rows_kept_back(run, options.run, load);
  auto set = load_set(options.data, load);
  // What the run was trained on, moved or not: the rows that it kept back are known.
  const auto& split = run.split;
  if (split.calibration_rows.defined() && !split.content.empty() && split.content == training_content(set))
    return kept_rows_of(set, run);
  if (same_set(options.data, run.config.train))
    warn(fmt::format("{} is what the run learnt from: its false alarms on new inputs will be more than promised",
                     options.data));
  return set;
}

// What speaks for "unfamiliar" beside the measure.
std::vector<std::string> watching_detectors(const CalibrateOptions& options, const Classifier& network) {
  if (options.no_detectors) return {};
  return options.watch.empty() ? watched_detectors(network) : options.watch;
}

// The detectors that the model file is to hold: those that are watched, then the others that were asked for.
std::vector<std::string> kept_detectors(const CalibrateOptions& options, const Classifier& network) {
  if (options.no_detectors && !(options.watch.empty() && options.detectors.empty()))
    throw Misuse("--no-detectors: there are --watch or --detectors too");
  auto names = watching_detectors(options, network);
  const bool all = options.detectors == std::vector<std::string>{"all"};
  for (const auto& name : all ? usable_detectors(network, false) : options.detectors)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  for (const auto& name : names) {
    const auto* info = find_detector(name);
    const auto usable = usable_detectors(network, false);
    if (info == nullptr || info->is_measure)
      throw Misuse(fmt::format("there is no detector {}: should be one of {}", name, fmt::join(usable, ", ")));
    if (info->needs.gradients)
      throw Misuse(
          fmt::format("the detector {} takes passes of its own, which a model file does not make: should be "
                      "one of {}",
                      name, fmt::join(usable, ", ")));
  }
  return names;
}

// They learn from what the run learnt from, and never from rows that were kept back.
std::vector<NamedDetector> learnt_detectors(const std::vector<std::string>& names, const TrainedRun& run,
                                            Progress& progress) {
  try {
    return fit_detectors(names, run, progress);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}; detectors learn from what the run learnt from: --no-detectors does without them",
                                error.what()));
  }
}

// What the model says of a set, batch by batch.
Predictions said_of(Predictor& predictor, const Dataset& set, Progress& progress) {
  const auto inputs = fit_to_run(set, predictor.model().run).inputs;
  constexpr int64_t kBatch = 1000;
  std::vector<Predictions> parts;
  for (int64_t first = 0; first < inputs.size(0); first += kBatch) {
    progress.report("scores of " + set.name, first, inputs.size(0));
    parts.push_back(predictor.predict(inputs.narrow(0, first, std::min(kBatch, inputs.size(0) - first))));
  }
  progress.report("scores of " + set.name, inputs.size(0), inputs.size(0));
  const auto joined = [&](auto part, int64_t dimension = 0) {
    std::vector<torch::Tensor> tensors;
    for (const auto& one : parts) tensors.push_back(part(one));
    return torch::cat(tensors, dimension);
  };
  auto whole = parts.at(0);
  whole.prediction = joined([](const auto& one) { return one.prediction; });
  whole.probability = joined([](const auto& one) { return one.probability; });
  whole.probabilities = joined([](const auto& one) { return one.probabilities; });
  whole.logits = joined([](const auto& one) { return one.logits; }, whole.logits.dim() - 2);
  for (size_t c = 0; c < whole.scores.size(); ++c)
    whole.scores[c].values = joined([c](const auto& one) { return one.scores[c].values; });
  whole.decisions.clear();
  for (const auto& one : parts)
    whole.decisions.insert(whole.decisions.end(), one.decisions.begin(), one.decisions.end());
  return whole;
}

// What a calibrated model does on inputs with labels.
struct Behaviour {
  std::string set;
  int64_t size = 0;
  std::array<int64_t, kVerdictNames.size()> verdicts = {};
  std::map<std::string, int64_t> verdicts_by;  ///< how often each score spoke against a prediction
  double error = NAN;                          ///< of all
  double accepted_error = NAN;                 ///< of those accepted
  double calibration_error = NAN;

  int64_t rejected() const { return size - verdicts[0]; }
};

Behaviour behaviour_on(Predictor& predictor, const Dataset& set, Progress& progress) {
  const auto said = said_of(predictor, set, progress);
  Behaviour result;
  result.set = set.name;
  result.size = said.size();
  auto accepted = torch::zeros({said.size()}, torch::kBool);
  for (size_t i = 0; i < said.decisions.size(); ++i) {
    ++result.verdicts[static_cast<size_t>(said.decisions[i].verdict)];
    if (!said.decisions[i].watch.empty()) ++result.verdicts_by[said.decisions[i].watch];
    accepted[static_cast<int64_t>(i)] = said.decisions[i].verdict == Verdict::kAccept;
  }
  torch::Tensor labels;
  try {
    labels = labels_for(predictor.model().run, set);
  } catch (const DataError&) {
    return result;  // no labels, or those of other classes: only what is rejected counts
  }
  const auto wrong = said.prediction.ne(labels);
  result.error = wrong.to(torch::kFloat64).mean().item<double>();
  result.accepted_error = wrong.masked_select(accepted).to(torch::kFloat64).mean().item<double>();
  result.calibration_error = calibration_error(said.probabilities, labels);
  return result;
}

std::string percent(double share) { return std::isnan(share) ? "" : fmt::format("{:.2f} %", 100 * share); }

// How near the rate this one calibration set gets.
std::string range_text(const OperatingPoints& points) {
  const auto range = false_alarm_range(points);
  if (!points.groups.empty() || range.high == 0) return "";
  return fmt::format(
      "New inputs like these: {} rejected or less, on average over calibration sets; {} to {} is what one\n"
      "of {} inputs gives, 95 times of 100.\n",
      percent(range.mean), percent(range.low), percent(range.high), points.combined.size(0));
}

// The names of the classes of a group, as many as a line holds.
std::string names_of(const ClassGroup& group, const std::vector<std::string>& class_names) {
  std::string text;
  for (const auto one : group.classes) {
    if (text.size() > 60) return text + ", ...";
    text += (text.empty() ? "" : ", ") + class_names.at(static_cast<size_t>(one));
  }
  return text;
}

Table thresholds_table(const ModelFile& model) {
  const auto& points = *model.points;
  Table table;
  table.title = fmt::format("What is rejected, at most {} of inputs like those of {}", percent(points.false_alarm),
                            points.calibration_set);
  const auto shown = [](const Watch& watch) {
    return Cell::number(watch.threshold, fmt::format("{:.5g}", watch.threshold));
  };
  if (points.groups.empty()) {
    table.columns = {"verdict", "measure", "above"};
    for (const auto& watch : points.watches)
      table.add({std::string(verdict_name(watch.cause)), watch.measure, shown(watch)});
    return table;
  }
  table.columns = {"predicted as", "inputs"};
  for (const auto& watch : points.watches) table.columns.push_back(watch.measure + " above");
  table.columns.push_back("rejected of new ones");
  for (const auto& group : points.groups) {
    std::vector<Cell> row = {names_of(group, model.run.class_names), fmt::format("{}", group.combined.size(0))};
    for (const auto& watch : group.watches) row.push_back(shown(watch));
    const auto range = false_alarm_range(points_of(points, group));
    row.push_back(fmt::format("{} to {}", percent(range.low), percent(range.high)));
    table.add(std::move(row));
  }
  return table;
}

std::string as_text(const ModelFile& model, const std::vector<Behaviour>& behaviours, const std::string& out) {
  const auto& points = *model.points;
  Table table;
  table.columns = {"inputs",    "number", "rejected",          "unfamiliar", "undecided",
                   "ambiguous", "error",  "of those accepted", "ECE"};
  for (const auto& b : behaviours) {
    const auto share = [&](Verdict verdict) {
      return percent(static_cast<double>(b.verdicts[static_cast<size_t>(verdict)]) / static_cast<double>(b.size));
    };
    table.add({b.set, fmt::format("{}", b.size),
               percent(static_cast<double>(b.rejected()) / static_cast<double>(b.size)), share(Verdict::kUnfamiliar),
               share(Verdict::kUndecided), share(Verdict::kAmbiguous), percent(b.error), percent(b.accepted_error),
               std::isnan(b.calibration_error) ? "" : fmt::format("{:.4f}", b.calibration_error)});
  }
  return fmt::format("{}\n{}\n{}Temperature {:.3f}. Model file: {}\nUse it: priornet predict {} INPUT...\n",
                     to_text(thresholds_table(model)), to_text(table), range_text(points), points.temperature, out,
                     shell_word(out));
}

std::string as_json(const ModelFile& model, const std::vector<Behaviour>& behaviours, const std::string& out) {
  const auto& points = *model.points;
  nlohmann::ordered_json json = {{"model", out},
                                 {"false_alarm", points.false_alarm},
                                 {"temperature", points.temperature},
                                 {"calibration_set", points.calibration_set},
                                 {"calibration_size", points.calibration_size}};
  const auto range = false_alarm_range(points);
  json["false_alarm_range"] = {range.low, range.high};
  for (const auto& watch : points.watches)
    json["watches"].push_back(
        {{"cause", verdict_name(watch.cause)}, {"measure", watch.measure}, {"threshold", watch.threshold}});
  for (const auto& group : points.groups) {
    const auto of_group = false_alarm_range(points_of(points, group));
    nlohmann::ordered_json item = {{"classes", nlohmann::json::array()},
                                   {"size", group.combined.size(0)},
                                   {"false_alarm_range", {of_group.low, of_group.high}}};
    for (const auto one : group.classes) item["classes"].push_back(model.run.class_names.at(static_cast<size_t>(one)));
    for (const auto& watch : group.watches) item["thresholds"].push_back(watch.threshold);
    json["groups"].push_back(std::move(item));
  }
  for (const auto& b : behaviours) {
    nlohmann::ordered_json item = {{"set", b.set}, {"size", b.size}, {"rejected", b.rejected()}};
    for (size_t v = 0; v < kVerdictNames.size(); ++v) item[std::string(kVerdictNames[v])] = b.verdicts[v];
    item["verdict_by"] = b.verdicts_by;
    item["error"] = b.error;
    item["accepted_error"] = b.accepted_error;
    item["ece"] = b.calibration_error;
    json["sets"].push_back(std::move(item));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void say_whether_finished(const std::string& run, int64_t epochs) {
  const auto trained = epochs_trained(run);
  if (trained < epochs)
    warn(fmt::format("{}: did not finish: it was trained for {} of {} epochs (train --resume goes on)", run, trained,
                     epochs));
}

// Nothing is silent about a watch that never speaks, nor about classes that share their thresholds.
void say_what_is_short(const ModelFile& model) {
  const auto& points = *model.points;
  for (const auto& what : unreachable_thresholds(points, static_cast<int64_t>(model.run.class_names.size())))
    warn(fmt::format("nothing will be rejected by {}: more calibration inputs or a higher --false-alarm help", what));
  for (const auto& group : points.groups)
    if (group.classes.size() > 1)
      note(
          fmt::format("{}: some were predicted for fewer than {} inputs: they share thresholds, and the promise holds "
                      "over them together",
                      names_of(group, model.run.class_names), least_calibration_size(points.false_alarm)));
}

void run(const CalibrateOptions& options) {
  // The server's addresses carry it.
  if (options.name.find('/') != std::string::npos)
    throw Misuse(fmt::format("--name: {} has a slash, which a model's name should not", options.name));
  StoppableProgress progress;
  LoadOptions load;
  load.progress = &progress;
  OpenOptions open(chosen_device(options.device),
                   options.checkpoint == "best" ? WhichCheckpoint::kBest : WhichCheckpoint::kLast);
  open.allow_torchscript = options.allow_torchscript;
  auto model = model_of_run(options.run, open);
  say_whether_finished(options.run, model.run.config.epochs);
  model.provenance["checkpoint"] = options.checkpoint;
  if (!options.name.empty()) model.name = options.name;
  model.dropout_samples = options.dropout_samples;
  model.preprocessing.resize = !options.no_resize;
  const auto kept = kept_detectors(options, *model.run.members.at(0));
  const auto out = options.out.empty() ? model.name + ".priornet" : options.out;
  std::vector<std::string> notes;
  load.encoding = model.run.split.encoding;
  load.notes = &notes;
  auto set = held_out(model.run, options, load);
  const auto set_name = set.name;
  model.detectors = learnt_detectors(kept, model.run, progress);
  const auto labels = set.has_labels() ? labels_for(model.run, set) : torch::Tensor();
  Predictor plain(model);
  const auto said = said_of(plain, set, progress);
  auto watched = watched_measures(model.run.gives_dirichlet(), model.asks_several());
  for (const auto& name : watching_detectors(options, *model.run.members.at(0)))
    watched.emplace_back(Verdict::kUnfamiliar, name);
  model.points = calibrate(said, labels, watched, options.calibration);
  model.points->calibration_set = set_name;
  say_what_is_short(model);

  Predictor predictor(model);
  std::vector<Behaviour> behaviours;
  set.name = "calibration set itself";
  behaviours.push_back(behaviour_on(predictor, set, progress));
  if (!options.check.empty()) behaviours.push_back(behaviour_on(predictor, load_set(options.check, load), progress));
  for (const auto& line : notes) note(line);
  write_model_file(out, model);  // last: a command that fails leaves an older file as it was
  print(options.json ? as_json(model, behaviours, out) : as_text(model, behaviours, out));
}

}  // namespace

void describe_calibrate(Command& command) {
  const auto options = std::make_shared<CalibrateOptions>();
  command.options = {
      {.name = "RUN",
       .to = &options->run,
       .help = "The folder of the run",
       .required = true,
       .exists = Exists::kFolder},
      {.name = "--data",
       .to = &options->data,
       .help = "A set like the run's that it did not learn from; else the rows that train --data kept back"},
      {.name = "--false-alarm",
       .to = &options->calibration.false_alarm,
       .help = "The share of in-distribution inputs that may be rejected",
       .shows_default = true,
       .range = real_range(1e-6, 0.999)},
      {.name = "--per-class",
       .to = &options->calibration.per_class,
       .help = "Thresholds of its own for every predicted class: the share holds within each"},
      {.name = "--checkpoint",
       .to = &options->checkpoint,
       .help = "Which weights: last, or best (by validation error)",
       .shows_default = true,
       .choices = {"last", "best"}},
      {.name = "--out",
       .to = &options->out,
       .help = "The model file; by default NAME.priornet in this folder",
       .endings = {".priornet"}},
      {.name = "--name", .to = &options->name, .help = "What the model is called; by default as the run's folder"},
      {.name = "--check",
       .to = &options->check,
       .help = "Another set, of the same classes or of none of them, to be judged with the thresholds"},
      {.name = "--watch",
       .to = &options->watch,
       .help = "Detectors that speak for unfamiliar beside the measure; by default what suits the network"},
      {.name = "--detectors",
       .to = &options->detectors,
       .help = "Other detectors that the model file holds, each a column of predictions: names, or all"},
      {.name = "--no-detectors", .to = &options->no_detectors, .help = "The measures alone are watched"},
      {.name = "--dropout-samples",
       .to = &options->dropout_samples,
       .help = "Passes with dropout at work; 0: one without it",
       .range = whole_range(0, 10'000)},
      {.name = "--no-resize", .to = &options->no_resize, .help = "The model refuses images of another size"},
      device_option(options->device, "Where to compute"),
      torchscript_option(options->allow_torchscript),
      {.name = "--json", .to = &options->json, .help = "Print JSON"}};
  command.notes =
      "Of new inputs like those of the calibration set at most the chosen share is rejected, whatever the network\n"
      "(docs/deploy.md). Detectors learn from the run's training set, which is read again.";
  command.examples = {"priornet calibrate runs/photos --false-alarm 0.05 --out photos.priornet"};
  command.computes = true;
  command.run = [options](const Invocation&) { run(*options); };
}

}  // namespace priornet::tool
