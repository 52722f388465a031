#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/deploy/model_file.h>
#include <priornet/learning/catalogue.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/logits.h>
#include <priornet/learning/method.h>
#include <priornet/learning/odin.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/names.h"
#include "learning/sets/path_set.h"
#include "tool/base/embedded_files.h"
#include "tool/commands/command.h"
#include "tool/commands/own_logits.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/experiments/experiment.h"
#include "tool/report/evaluation_results.h"
#include "tool/report/model_report.h"

namespace priornet::tool {
namespace {

constexpr int64_t kOdinInputs = 1000;  // of each validation set

struct EvaluateOptions {
  std::string run;
  LogitsSource logits;
  std::string report;
  std::string data;
  std::vector<std::string> ood;
  std::vector<std::string> ood_features;
  std::string against;
  std::string checkpoint = "last";
  std::string device = "auto";
  bool allow_torchscript = false;
  std::string out;
  std::optional<double> noise;
  int64_t dropout_samples = 0;
  int64_t mu_theta_samples = 16;
  int64_t batch = 0;
  uint64_t seed = 0;
  BootstrapOptions bootstrap;
  bool odin = false;
  std::vector<std::string> detectors;
  bool json = false;
};

std::vector<std::string> files_read(const EvaluateOptions& options) {
  std::vector<std::string> files{options.logits.features, options.logits.labels, options.run, options.against};
  for (const auto* more : {&options.logits.files, &options.ood_features})
    files.insert(files.end(), more->begin(), more->end());
  auto sets = options.ood;
  sets.push_back(options.data);
  for (const auto& set : sets)
    if (!set.empty()) files.push_back(parse_set_name(set).set);
  return files;
}

// The test split of the set that the run was trained on, with those modifiers that do not select rows.
std::string test_set_of(const TrainedRun& run, const std::string& folder) {
  const auto& train = run.config.train;
  const auto name = parse_set_name(train);
  const auto refuse = [&] {
    throw DataError(fmt::format("{}: was trained on {}, which has no test split: give --data the set to evaluate on",
                                folder, train));
  };
  if (name.is_path) refuse();
  const auto& splits = entry_named(name.set).splits;
  if (std::none_of(splits.begin(), splits.end(), [](const Split& split) { return split.name == "test"; })) refuse();
  auto test = name.set + ":test";
  for (auto at = train.find(','); at != std::string::npos;) {
    const auto end = train.find(',', at + 1);
    const auto modifier = train.substr(at, end == std::string::npos ? end : end - at);
    const auto starts = [&](const char* text) { return modifier.starts_with(text); };
    if (!starts(",subset=") && !starts(",first=") && !starts(",last=") && !starts(",seed=")) test += modifier;
    at = end;
  }
  return test;
}

struct Sets {
  Dataset inside;
  std::vector<Dataset> outside;
  std::vector<std::string> names;
  std::vector<std::string> notes;  ///< how they differ from training
};

// All of them before any work: a missing set should not cost hours.
Sets load_sets(const EvaluateOptions& options, const ModelFile& model, Progress& progress) {
  const auto& run = model.run;
  LoadOptions load;
  load.progress = &progress;
  Sets sets;
  sets.names = {options.data.empty() ? test_set_of(run, options.run) : options.data};
  sets.names.insert(sets.names.end(), options.ood.begin(), options.ood.end());
  load.encoding = run.split.encoding;
  load.notes = &sets.notes;
  const auto loaded = [&](const std::string& name) {
    const auto& takes = model.preprocessing;
    return takes.resize ? load_set_for_shape(name, takes.shape, load) : load_set(name, load);
  };
  sets.inside = loaded(sets.names[0]);
  for (const auto& name : options.ood) sets.outside.push_back(loaded(name));
  return sets;
}

// Whether the run was trained to call the images of this set foreign: the set of its configuration, or a copy of it.
bool is_learnt_as_foreign(const Dataset& set, const std::string& name, const TrainedRun& run, Progress& progress) {
  const auto& config = run.config;
  const auto& source = config.outside.source;
  if (!is_set(source) || config.outside_batch == 0 || !method_info(config.method.name).needs_outside) return false;
  if (is_same_set(name, source)) return true;
  if (!parse_set_name(source).is_path || !set.has_images()) return false;
  try {
    LoadOptions load;
    load.progress = &progress;
    const auto learnt = load_set(source, load);
    return learnt.has_images() && learnt.size() == set.size() &&
           torch::equal(fit_to_run(learnt, run).inputs, fit_to_run(set, run).inputs);
  } catch (const Error&) {  // it is no longer there
    return false;
  }
}

EvaluationReport::Odin chosen_odin(const TrainedRun& run, const Sets& sets, const EvaluationOptions& options,
                                   Progress& progress) {
  const auto validation = odin_validation(run, sets.names, kOdinInputs, progress);
  const auto prepared = [&](const Dataset& set) {
    InferenceOptions inference;
    inference.batch = set.size();
    inference.noise = options.scoring.noise;
    inference.seed = options.scoring.seed;
    return network_inputs(run.split.standardised(set.inputs), 0, run.device(), inference);
  };
  const auto choice = choose_odin(run.members, prepared(validation.inside), prepared(validation.outside),
                                  batch_on(run.device(), options.scoring), progress);
  return {choice, validation.inside.name, validation.outside.name};
}

// The detectors that the user asked for, then the others that the model file watches: what a model is told apart from
// does not depend on what is asked. ODIN has an option of its own.
std::vector<std::string> detector_names(const EvaluateOptions& options, const ModelFile& model) {
  const auto& run = model.run;
  const bool all = options.detectors == std::vector<std::string>{"all"};
  std::vector<std::string> names;
  add_new_names(names, all ? usable_detectors(*run.members.at(0)) : options.detectors);
  for (const auto& name : names) {
    const auto* info = find_detector(name);
    if (info == nullptr || info->is_measure)
      throw Misuse(fmt::format("--detectors: there is no detector {}: should be all, or some of {}", name,
                               fmt::join(usable_detectors(*run.members.at(0)), ", ")));
  }
  for (const auto& one : model.detectors) add_new_names(names, {one.name});
  if (options.odin) std::erase(names, "odin");
  return names;
}

// From the model file, or else fitted.
std::vector<NamedDetector> detectors_for(const EvaluateOptions& options, const ModelFile& model, Progress& progress) {
  const auto held = [&](const std::string& name) {
    return std::find_if(model.detectors.begin(), model.detectors.end(),
                        [&](const NamedDetector& one) { return one.name == name; });
  };
  const auto names = detector_names(options, model);
  std::vector<std::string> missing;
  for (const auto& name : names)
    if (held(name) == model.detectors.end()) missing.push_back(name);
  auto fitted = fit_detectors(missing, model.run, progress);
  std::vector<NamedDetector> detectors;
  auto next = fitted.begin();
  for (const auto& name : names) detectors.push_back(held(name) == model.detectors.end() ? *next++ : *held(name));
  return detectors;
}

bool is_folder(const std::string& path) {
  std::error_code not_there;
  return std::filesystem::is_directory(path, not_there);
}

// An evaluation that cannot be kept beside its model is still printed; a folder that the user named has to be written.
bool left(const ModelReport& shown, const EvaluatedSets& sets, const RunRecord& record, const std::string& named = {}) {
  const auto refusal = leave_evaluation(shown, sets, record);
  if (refusal.empty()) return true;
  if (!named.empty()) throw DataError(refusal);
  note(fmt::format("there is no data for priornet report: {}", refusal));
  return false;
}

// Before detectors learn.
void check_dropout(ModelFile model, const EvaluateOptions& options) {
  model.dropout_samples = options.dropout_samples;
  check_networks("--dropout-samples", model);
}

// A run's folder, or a model file made from one.
ModelFile opened(const std::string& name, const OpenOptions& options) {
  refuse_digit_model(name, "evaluate");
  if (!std::filesystem::exists(name))
    throw DataError(fmt::format("{}: there is no such model file or folder of a run", name));
  auto model = open_model(name, options);
  check_networks("evaluate", model);
  return model;
}

EvaluationReport evaluated(const std::string& folder, ModelFile& model, const Sets& sets,
                           const EvaluateOptions& options, Progress& progress) {
  auto& run = model.run;
  EvaluationReport report;
  report.run = folder;
  report.method = run.config.method.name;
  report.members = static_cast<int64_t>(run.members.size());
  report.checkpoint = options.checkpoint;
  report.weights = run.identity;
  EvaluationOptions evaluation;
  evaluation.scoring.dropout_samples = options.dropout_samples;
  evaluation.scoring.mu_theta_samples = options.mu_theta_samples;
  evaluation.scoring.batch = options.batch;
  evaluation.scoring.noise = options.noise.value_or(run.config.noise);
  evaluation.scoring.seed = options.seed;
  evaluation.scoring.bfloat16 = run.device().is_cuda() && run.config.precision == Precision::kBFloat16;
  evaluation.bootstrap = options.bootstrap;
  if (is_folder(folder)) evaluation.cache = std::filesystem::path(folder) / "scores";
  if (options.odin) {
    report.odin = chosen_odin(run, sets, evaluation, progress);
    evaluation.scoring.odin = report.odin->choice.settings;
  }
  evaluation.scoring.detectors = detectors_for(options, model, progress);
  report.evaluation = evaluate(run, sets.inside, sets.outside, evaluation, progress);
  return report;
}

// The summary, then every table, by a function that renders both.
template <typename Render>
std::string as_text(const ModelReport& report, const Render& render) {
  auto text = render(report) + "\n";
  for (const auto& table : evaluation_tables(report.report, report.model.points.has_value()))
    text += render(table) + "\n";
  return text +
         fmt::format("95 % intervals: DeLong for AUROC, bootstrap for the others. Confidences ({}) are negated.\n",
                     fmt::join(measure_names(Direction::kConfidence), ", "));
}

std::string extension_of(const std::string& path) {
  return lower_case(std::filesystem::path(path).extension().string());
}

// The summary first, then every number.
std::string as_json(const ModelReport& report) {
  nlohmann::ordered_json json = {{"summary", summary_json(report)}};
  json.update(evaluation_json(report));
  return json_text(json, 2) + "\n";
}

void write(const ModelReport& report, const std::string& path) {
  AtomicFile file(path);
  const auto extension = extension_of(path);
  file.write(extension == ".json"  ? as_json(report)
             : extension == ".csv" ? to_csv(evaluation_rows(report.report))
                                   : as_text(report, [](const auto& part) { return to_markdown(part); }));
  file.commit();
}

// The evaluation of logits from another program.
struct JudgedOutputs {
  ScoredSet scored;
  JudgedSet judged;
  Dataset shown;  ///< rows of logits, instead of inputs
};

JudgedOutputs judged_outputs(const ModelFile& model, const OwnOutputs& outputs, const EvaluateOptions& options) {
  const auto said = judged(model, outputs);
  auto scores = scores_of_logits(outputs.logits, model.run.gives_dirichlet(), options.mu_theta_samples, options.seed);
  for (const auto& [name, detector] : model.detectors) scores.columns.push_back({name, *said.score(name)});
  const auto& logits = outputs.logits;
  const auto rows = logits.dim() == 2 ? logits : logits.transpose(0, 1).flatten(1);
  return {{outputs.name, std::move(scores)},
          {outputs.name, said.probabilities, {}, said.decisions},
          {outputs.name, rows.to(torch::kFloat32), {}, {}, {}}};
}

// A model without thresholds, for these logits.
ModelFile model_for(const LogitsSource& source, const OwnOutputs& outputs) {
  auto model = model_of_logits(source, outputs, 0);
  model.name = std::filesystem::path(outputs.name).stem().string();
  return model;
}

// For logits that another program computed; --ood names files of them.
void run_logits(const EvaluateOptions& options, const Invocation& invocation) {
  refuse_without_run("--data", !options.data.empty());
  refuse_without_run("--dropout-samples", options.dropout_samples != 0);
  refuse_without_run("--odin", options.odin);
  refuse_without_run("--detectors", !options.detectors.empty());
  refuse_without_run("--noise", options.noise.has_value());
  refuse_without_run("--against", !options.against.empty());
  refuse_without_run("--checkpoint", options.checkpoint != "last");
  if (options.logits.labels.empty()) throw Misuse("--logits: give --labels too: the file with their labels");
  if (!options.logits.features.empty() && options.run.empty())
    throw Misuse("--features: are for the detectors of a model file: name a model file that priornet calibrate made");
  if (!options.ood_features.empty() && options.ood_features.size() != options.ood.size())
    throw Misuse(fmt::format("--ood-features: should name {} files, one per file of --ood, found {}",
                             options.ood.size(), options.ood_features.size()));
  const auto start = std::chrono::steady_clock::now();
  auto source = options.logits;
  std::optional<ModelFile> file;
  if (!options.run.empty()) {
    if (!source.kind.empty()) throw Misuse("--kind: leave it out: the model file says what its logits are");
    refuse_digit_model(options.run, "evaluate");
    file = open_model(options.run);
    source.kind = kind_of(*file);
  }
  const auto outputs = own_outputs(source);
  const auto labels = read_labels(source.labels, outputs.rows(), outputs.classes());
  const auto model = file ? *file : model_for(source, outputs);
  const auto inside = judged_outputs(model, outputs, options);
  std::vector<ScoredSet> outside;
  EvaluationReport report;
  ModelReport shown{model, report, inside.judged, {}};
  shown.test.labels = labels;
  std::vector<Dataset> outside_rows;
  for (size_t s = 0; s < options.ood.size(); ++s) {
    const auto features = options.ood_features.empty() ? "" : options.ood_features[s];
    auto other = judged_outputs(model, other_outputs(source, options.ood[s], features), options);
    outside.push_back(std::move(other.scored));
    shown.foreign.push_back(std::move(other.judged));
    outside_rows.push_back(std::move(other.shown));
  }
  report.run = !options.report.empty() ? options.report : file ? options.run : inside.scored.name;
  report.method = source.kind;
  report.members = model.own_logits ? model.own_logits->members : static_cast<int64_t>(model.run.members.size());
  StoppableProgress progress;
  report.evaluation = evaluate_scores(inside.scored, labels, outside, options.bootstrap, progress);
  if (!options.report.empty() || file) {
    auto record = describe_run();
    record.command = invocation.command_line();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (left(shown, {inside.shown, outside_rows}, record, options.report))
      note(fmt::format("priornet report {} makes the page", shell_word(report.run)));
  }
  if (!options.out.empty()) write(shown, options.out);
  print(options.json ? as_json(shown) : as_text(shown, [](const auto& part) { return to_text(part); }));
}

void run(const EvaluateOptions& options, const Invocation& invocation) {
  if (options.run.empty() && options.logits.files.empty()) throw Misuse("give a RUN, or --logits of your own network");
  refuse_to_overwrite(options.out, files_read(options));
  if (!options.logits.files.empty()) return run_logits(options, invocation);
  const auto start = std::chrono::steady_clock::now();
  const auto device = chosen_device(options.device);
  const auto which = options.checkpoint == "best" ? WhichCheckpoint::kBest : WhichCheckpoint::kLast;
  OpenOptions open(device, which);
  open.allow_torchscript = options.allow_torchscript;
  auto model = opened(options.run, open);
  check_dropout(model, options);
  std::optional<ModelFile> other;
  if (!options.against.empty()) {
    other = opened(options.against, open);
    check_dropout(*other, options);
  }
  StoppableProgress progress;
  const auto sets = load_sets(options, model, progress);
  for (const auto& line : sets.notes) note(line);
  auto report = evaluated(options.run, model, sets, options, progress);
  if (other) {
    report.against = options.against;
    const auto second = evaluated(options.against, *other, sets, options, progress);
    report.comparison = compare_runs(report.evaluation, second.evaluation);
  }
  const EvaluatedSets judged{sets.inside, sets.outside};
  auto shown = model_report(model, report, judged, progress);
  const auto& content = model.run.split.content;
  shown.tested_on_training = is_same_set(sets.names[0], model.run.config.train) ||
                             (!content.empty() && content == training_content(sets.inside));
  for (size_t s = 0; s < sets.outside.size(); ++s)
    if (is_learnt_as_foreign(sets.outside[s], options.ood[s], model.run, progress))
      shown.learnt_as_foreign.push_back(sets.outside[s].name);
  auto record = describe_run();
  record.command = invocation.command_line({{"--data", {sets.names[0]}}});
  record.device = device.str();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  left(shown, judged, record);
  if (!options.out.empty()) write(shown, options.out);
  print(options.json ? as_json(shown) : as_text(shown, [](const auto& part) { return to_text(part); }));
}

}  // namespace

void describe_evaluate(Command& command) {
  const auto options = std::make_shared<EvaluateOptions>();
  command.options = {
      {.name = "RUN",
       .to = &options->run,
       .help = "Folder of a run or of an ensemble, or a model file. With --logits: a model file for such logits, or "
               "nothing"},
      {.name = "--ood",
       .to = &options->ood,
       .help =
           "Sets that the model should find unfamiliar: names or paths; they are brought to the size of its inputs"},
      {.name = "--data",
       .to = &options->data,
       .help = "The in-distribution set; by default the test split of the set that the run was trained on"},
      {.name = "--dropout-samples",
       .to = &options->dropout_samples,
       .help = "Number of passes with dropout (Monte-Carlo dropout); 0: one pass without dropout",
       .shows_default = true,
       .range = whole_range(0, 10000)},
      {.name = "--odin",
       .to = &options->odin,
       .help = "Also compute ODIN; its temperature and step are chosen on the run's validation set, on rows that it "
               "kept back, "
               "or without either on training rows"},
      {.name = "--detectors",
       .to = &options->detectors,
       .help = "Also compute these detectors in the same pass: names, or all. They learn from the run's training set; "
               "those in a model file are taken from it, and always computed"},
      {.name = "--noise",
       .to = &options->noise,
       .help = "Sigma of Gaussian noise on every input, in [-1, 1] units; by default as in training",
       .range = kNotNegative},
      {.name = "--against",
       .to = &options->against,
       .help = "Another run: compare the two on the same sets by DeLong's test"},
      {.name = "--checkpoint",
       .to = &options->checkpoint,
       .help = "Which weights to take: last, or best (by validation error)",
       .shows_default = true,
       .choices = {"last", "best"}},
      device_option(options->device, "Where to compute"),
      torchscript_option(options->allow_torchscript),
      {.name = "--batch",
       .to = &options->batch,
       .help = "Inputs per pass; by default what suits the device",
       .range = kPositive},
      {.name = "--mu-theta-samples",
       .to = &options->mu_theta_samples,
       .help = "For several Dirichlets per input: draws from each for the estimate of I[mu, theta]; 0: no estimate",
       .shows_default = true,
       .range = whole_range(0, 1 << 20)},
      {.name = "--replicates",
       .to = &options->bootstrap.replicates,
       .help = "Replicates of the bootstrap; by default 1000, above a million scores 200",
       .range = whole_range(2, 1000000)},
      {.name = "--seed", .to = &options->seed, .help = "Seed of noise, dropout and bootstrap", .shows_default = true},
      {.name = "--out",
       .to = &options->out,
       .help = "Also write the result to this file: .json, .csv or .md",
       .endings = {".json", ".csv", ".md"}},
      {.name = "--json", .to = &options->json, .help = "Print JSON with all digits"}};
  for (auto& option : logits_options(options->logits, "Instead of --data; --ood then names such files too"))
    command.options.push_back(std::move(option));
  command.options.push_back({.name = "--ood-features",
                             .to = &options->ood_features,
                             .help = "The features for each file of --ood, in the same order",
                             .needs = "--features"});
  command.options.push_back({.name = "--report",
                             .to = &options->report,
                             .help = "With --logits: write the data for priornet report FOLDER to this folder",
                             .needs = "--logits"});
  command.notes =
      "For a model file from priornet calibrate, the command also says what share of inputs is handed back, and why.\n"
      "Scores are kept in RUN/scores and computed once for the same weights, inputs and options. The data for\n"
      "priornet report are written to RUN/evaluation, or for the model file photos.priornet to\n"
      "photos.evaluation beside it.";
  command.examples = {"priornet evaluate photos.priornet --data ./new-photos --ood ./other-photos",
                      "priornet evaluate runs/dpn --ood omniglot fashion-mnist:test --out dpn.json",
                      "priornet evaluate runs/dnn --ood omniglot --dropout-samples 20 --odin --against runs/dpn",
                      "priornet evaluate runs/dpn --ood omniglot --detectors all",
                      "priornet evaluate --logits test.npy --labels y.npy --kind softmax --ood other.npy",
                      "priornet evaluate mine.priornet --logits test.npy --labels y.npy --ood other.npy"};
  command.run = [options](const Invocation& invocation) {
    options->bootstrap.seed = options->seed;
    run(*options, invocation);
  };
}

}  // namespace priornet::tool
