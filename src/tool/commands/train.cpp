#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/local_launch.h>
#include <priornet/learning/network.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/settings.h>
#include <priornet/learning/training.h>
#include <priornet/learning/training_sets.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "learning/base/file_io.h"
#include "learning/data/csv.h"
#include "learning/training/run_processes.h"
#include "tool/commands/command.h"
#include "tool/commands/subcommands.h"
#include "tool/commands/terminal.h"
#include "tool/report/table.h"

namespace priornet::tool {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  std::string config;
  std::string data;
  std::string ood;
  std::vector<std::string> overrides;
  std::optional<int64_t> epochs;
  std::optional<double> rate;
  std::optional<int64_t> batch;
  std::optional<int64_t> seed;
  std::string model;
  std::string out;
  std::string device = "auto";
  int64_t processes = 1;
  bool strict = false;
  bool resume = false;
  bool force = false;
  bool describe = false;
  bool print_config = false;
  bool json = false;
};

std::string describe(const TrainConfig& config) {
  TerminalProgress progress;
  const auto sets = load_training_sets(config, progress);
  const auto network = make_model(model_for(config, sets.train), make_generator(0));
  Table table;
  table.title = fmt::format("{} for {}: {} classes", config.model.name, sets.train.name, network->classes());
  table.columns = {"layer", "output", "parameters"};
  table.add({"input", fmt::format("{}", fmt::join(network->input_shape(), " x ")), ""});
  for (const auto& layer : network->describe())
    table.add({layer.name, fmt::format("{}", fmt::join(layer.output, " x ")),
               layer.parameters == 0 ? "" : fmt::format("{}", layer.parameters)});
  table.add({"all", "", fmt::format("{}", parameter_count(*network))});
  return to_text(table);
}

// The facts about an epoch that a line of progress leaves out.
std::string validation_line(int64_t epoch, const Validation& validation) {
  auto line =
      fmt::format("  validation after epoch {}: error {:.2f} %, NLL {:.4f}, ECE {:.2f} points", epoch,
                  100 * validation.error, validation.negative_log_likelihood, 100 * validation.calibration_error);
  for (const auto& [name, mean] : validation.outside) {
    if (name != "entropy" && name != "differential_entropy") continue;
    for (const auto& [same, inside] : validation.inside)
      if (same == name) line += fmt::format(", {} {:.3g} in, {:.3g} out", name, inside, mean);
  }
  return line;
}

fs::path run_folder(const TrainOptions& options) {
  if (!options.out.empty()) return options.out;
  if (!options.config.empty()) return fs::path("runs") / fs::path(options.config).stem();
  auto set = parse_set_name(options.data).set;
  while (set.ends_with('/')) set.pop_back();
  const auto stem = fs::weakly_canonical(set).stem();
  return fs::path("runs") / (stem.empty() ? fs::path("own") : stem);
}

bool is_file(const std::string& model) { return model.find_first_of("/.") != std::string::npos; }

// The keys with an option of their own, then those of --set.
std::vector<std::string> all_overrides(const TrainOptions& options) {
  std::vector<std::string> overrides;
  const auto add = [&](const char* key, const auto& value) {
    if (value) overrides.push_back(fmt::format("{}={}", key, *value));
  };
  add("training.epochs", options.epochs);
  add("training.rate", options.rate);
  add("training.batch", options.batch);
  add("training.seed", options.seed);
  if (!options.model.empty())
    overrides.push_back((is_file(options.model) ? "model.file=" : "model.name=") + options.model);
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  return overrides;
}

// Photographs have many sizes: if the user names none, a size at which most things can be told apart.
Dataset load_photos(const std::string& name, const LoadOptions& load) {
  try {
    return load_set(name, load);
  } catch (const SeveralSizes&) {
    note(fmt::format("{}: its images have several sizes; they are resized to 64x64 (,size=N chooses another size)",
                     name));
    return load_set(name + ",size=64", load);
  }
}

// The same set from any working folder: "./photos,size=64" with its whole path.
std::string with_whole_path(const std::string& set) {
  if (set.empty() || set.starts_with('"')) return set;
  const auto name = parse_set_name(set);
  if (!name.is_path || fs::path(name.set).is_absolute()) return set;
  return fs::absolute(name.set).lexically_normal().string() + set.substr(name.set.size());
}

TrainConfig with_whole_paths(TrainConfig config) {
  for (auto* set : {&config.train, &config.validation, &config.outside.source}) *set = with_whole_path(*set);
  return config;
}

// A run that was begun before paths were made whole goes on with the names it has.
void keep_names_of_run(TrainConfig& config, const fs::path& folder) {
  if (!fs::exists(folder / "config.toml")) return;
  const auto older = read_config(folder / "config.toml", {});
  const auto keep = [](std::string& name, const std::string& known) {
    if (name == with_whole_path(known)) name = known;
  };
  keep(config.train, older.train);
  keep(config.validation, older.validation);
  keep(config.outside.source, older.outside.source);
}

// A run that goes on is as long as it was meant to be, unless the user says otherwise; with a file, at least as long.
void keep_length_of_run(TrainConfig& config, const TrainOptions& options) {
  const auto file = run_folder(options) / "config.toml";
  const auto overrides = all_overrides(options);
  const bool is_given = std::any_of(overrides.begin(), overrides.end(),
                                    [](const auto& set) { return set.starts_with("training.epochs="); });
  if (is_given || !fs::exists(file)) return;
  const auto meant = read_config(file, {}).epochs;
  config.epochs = options.data.empty() ? std::max(config.epochs, meant) : meant;
}

// The file's configuration, or the default for a set without one.
TrainConfig config_of(const TrainOptions& options) {
  const auto overrides = all_overrides(options);
  if (options.data.empty()) return with_whole_paths(read_config(options.config, overrides));
  TerminalProgress progress;
  LoadOptions load;
  load.progress = &progress;
  load.strict = options.strict;
  std::vector<std::string> notes;
  load.notes = &notes;
  const auto set = load_photos(options.data, load);
  auto config = config_for(set.name, set);
  for (const auto& line : notes) note(line);
  if (!options.ood.empty()) config.outside.source = options.ood;
  if (!options.model.empty() && options.model != config.model.name) {
    const auto name = config.model.name;
    config.model = {};  // the layers of another network
    config.model.name = name;
  }
  auto changed = with_whole_paths(read_config(TomlText{"", to_toml(config)}, overrides));
  // A network that does not take the set is refused before there is a folder.
  if (changed.train == with_whole_path(config.train)) static_cast<void>(plan_model(model_for(changed, set)));
  return changed;
}

EnsembleOptions ensemble_options(const TrainOptions& options) {
  EnsembleOptions ensemble;
  ensemble.trainer.device = chosen_device(options.device);
  ensemble.trainer.resume = options.resume;
  ensemble.start = options.resume  ? RunFolder::Start::kResume
                   : options.force ? RunFolder::Start::kForce
                                   : RunFolder::Start::kNew;
  return ensemble;
}

/// Null if this process trains alone. Changes the device to this process's GPU.
std::unique_ptr<ProcessGroup> join_processes(const ProcessPlace& place, torch::Device& device) {
  if (place.processes == 1) return nullptr;
  if (device.is_cuda()) {
    if (const auto gpus = static_cast<int>(torch::cuda::device_count()); place.local_rank >= gpus)
      throw ConfigError(
          fmt::format("process {} of {} takes GPU {}, counted from 0, but this machine has {}: start one "
                      "process per GPU",
                      place.rank, place.processes, place.local_rank, gpus));
    device = torch::Device(torch::kCUDA, static_cast<torch::DeviceIndex>(place.local_rank));
  }
  return std::make_unique<ProcessGroup>(place, device);
}

constexpr const char* kLeftOutFile = "left-out.csv";

// The files behind a folder of images, which is then read from its prepared copy. None for any other set.
SetFiles files_of(const std::string& set, bool strict, Progress& progress) {
  const auto name = parse_set_name(set);
  SetFiles files;
  if (!name.is_path || !fs::is_directory(name.set)) return files;
  LoadOptions load;
  load.progress = &progress;
  load.strict = strict;
  load.files = &files;
  static_cast<void>(load_set(name, load));
  return files;
}

// A table in the run's folder; no file if nothing was left out.
void leave_list(const fs::path& folder, const std::vector<LeftOut>& left_out) {
  if (left_out.empty()) return;
  const auto path = folder / kLeftOutFile;
  AtomicFile file(path);
  file.write("file,why\n");
  for (const auto& one : left_out) file.write(fmt::format("{},{}\n", csv_field(one.path), csv_field(one.why)));
  file.commit();
  const auto faults = std::count_if(left_out.begin(), left_out.end(),
                                    [](const LeftOut& one) { return one.kind == LeftOut::Kind::kFault; });
  if (faults > 0)
    warn(fmt::format("{} could not be used and {} left out: {}",
                     faults == 1 ? "1 image" : fmt::format("{} images", faults), faults == 1 ? "was" : "were",
                     path.string()));
  else
    note(fmt::format("{} files and folders were left out: {}", left_out.size(), path.string()));
}

// What is left of a class when some of its rows are kept back.
void warn_of_small_classes(const TrainingSets& sets) {
  constexpr int64_t kFew = 10;
  auto counts = class_counts(sets.train);
  if (sets.validation && sets.split.validation_rows.defined()) counts = counts + class_counts(*sets.validation);
  std::vector<std::string> few;
  for (int64_t c = 0; c < sets.train.num_classes(); ++c)
    if (const auto count = counts[c].item<int64_t>(); count < kFew)
      few.push_back(fmt::format("{} ({})", sets.train.class_names[static_cast<size_t>(c)], count));
  if (few.empty()) return;
  constexpr size_t kShown = 10;
  const auto more = few.size() > kShown ? fmt::format(" and {} more", few.size() - kShown) : "";
  few.resize(std::min(few.size(), kShown));
  warn(fmt::format("fewer than {} inputs to learn from: {}{}; answers about such a class are guesses", kFew,
                   fmt::join(few, ", "), more));
}

// Commands that work as printed, except for the sets that only the user can name.
std::string next_steps(const fs::path& folder, const TrainConfig& config) {
  const auto name = shell_word(folder.string());
  auto steps = fmt::format("Trained: {}\nEvaluate it: priornet evaluate {}{} --ood SET...\n", folder.string(), name,
                           parse_set_name(config.train).is_path ? " --data SET" : "");
  if (config.calibration_share.value_or(0.0) > 0.0)
    steps += fmt::format("Make a model file: priornet calibrate {}\n", name);
  return steps;
}

// For a run that was already finished: as its last epoch left them.
std::string last_metrics(const fs::path& folder, const TrainConfig& config) {
  const RunFolder run(config.members > 1 ? member_folder(folder, config.members) : folder, RunFolder::Start::kResume);
  auto lines = InputFile(run.metrics()).read_rest();
  while (lines.ends_with('\n')) lines.pop_back();
  return lines.substr(lines.rfind('\n') + 1);
}

void run(const TrainOptions& options) {
  auto config = config_of(options);
  if (options.resume) {
    keep_names_of_run(config, run_folder(options));
    keep_length_of_run(config, options);
  }
  if (options.print_config)
    return print(to_toml_with_all_keys([copy = config](ConfigFields& fields) mutable { visit_config(copy, fields); }));
  if (options.describe) return print(describe(config));
  std::optional<LocalProcesses> others;
  if (options.processes > 1) others.emplace(LocalLaunch{static_cast<int>(options.processes), at::get_num_threads()});
  auto ensemble = ensemble_options(options);
  const auto processes = join_processes(others ? others->place() : place_from_environment(), ensemble.trainer.device);
  ensemble.trainer.processes = processes.get();
  const bool speaks = !processes || processes->is_first();
  const auto folder = run_folder(options);
  // Checks for an existing run first, so that it does not cost the wait for the data.
  static_cast<void>(open_run_folder(folder, ensemble.start, processes.get()));

  StoppableProgress progress(speaks);
  Pace pace;
  EpochReport last;
  ensemble.trainer.stop = [&] { return progress.stopping(); };
  ensemble.trainer.on_epoch = [&](const EpochReport& report) {
    if (report.validation && (pace.due() || report.epoch == config.epochs))
      note(validation_line(report.epoch, *report.validation));
    last = report;
  };
  ensemble.trainer.on_restart = [&](const Restart& restart) { note(to_text(restart)); };
  ensemble.trainer.on_damaged = [&](const std::string& what) { note(what); };
  ensemble.trainer.on_patience = [&](int64_t epoch) {
    if (speaks) note(fmt::format("the validation NLL no longer falls: the network of epoch {} is kept", epoch));
  };
  ensemble.on_member = [&](int64_t member) {
    if (speaks) note(fmt::format("member {} of {}", member, config.members));
  };
  try {
    const auto files = files_of(config.train, options.strict, progress);
    auto sets = load_training_sets(config, progress);
    if (speaks) warn_of_small_classes(sets);
    ensemble.trainer.on_begin = [&] {
      if (speaks) leave_list(folder, files.left_out);
    };
    train_run(config, sets, folder, ensemble, progress);
  } catch (const TrainingStopped& stopped) {
    if (speaks) complain(stopped.what());
    if (!progress.stopping()) {  // another process was asked to stop; threads of the exchange still work
      std::fflush(nullptr);
      std::quick_exit(1);
    }
    Stopped::end_process();
  } catch (const Stopped&) {
    if (speaks) complain("stopped while preparing");
    Stopped::end_process();
  }
  if (!speaks) return;
  if (options.resume && last.epoch == 0) note("the run had been trained to its end: nothing was left to do");
  if (options.json)
    print((last.epoch > 0 ? to_json(last) : last_metrics(folder, config)) + "\n");
  else
    print(next_steps(folder, config));
}

}  // namespace

void describe_train(Command& command) {
  const auto options = std::make_shared<TrainOptions>();
  command.options = {
      {.name = "config",
       .to = &options->config,
       .help = "The configuration; configs/ has examples",
       .exists = Exists::kFile},
      {.name = "--data",
       .to = &options->data,
       .help = "A set instead of a configuration; the tool chooses settings that suit it. A folder with one folder per "
               "class, a .csv with ,label=COLUMN, an .npz, or a name from the catalogue",
       .excludes = "config"},
      {.name = "--ood",
       .to = &options->ood,
       .help = "With --data: a set of images that belong to none of its classes",
       .needs = "--data"},
      {.name = "--epochs",
       .to = &options->epochs,
       .help = "Passes over the training set: training.epochs",
       .range = whole_range(1, 1'000'000'000)},
      {.name = "--rate", .to = &options->rate, .help = "Learning rate: training.rate", .range = kPositive},
      {.name = "--batch",
       .to = &options->batch,
       .help = "In-distribution inputs per step: training.batch",
       .range = whole_range(1, 1'000'000'000)},
      {.name = "--seed",
       .to = &options->seed,
       .help = "Seed of everything random: training.seed",
       .range = kNotNegative},
      {.name = "--model",
       .to = &options->model,
       .help = fmt::format("The network, {}, or the file of a TorchScript network: model.name, model.file",
                           fmt::join(model_names(), ", "))},
      {.name = "--set",
       .to = &options->overrides,
       .help = "Change a value of the configuration: key=value, such as training.epochs=3",
       .value_text = "KEY=VALUE ..."},
      {.name = "--out",
       .to = &options->out,
       .help = "Folder of the run; by default runs/ and the name of the configuration"},
      {.name = "--strict",
       .to = &options->strict,
       .help = "Stop if an image cannot be used; by default up to one in a hundred is left out and listed"},
      {.name = "--resume", .to = &options->resume, .help = "Go on where the run in that folder stopped"},
      {.name = "--force",
       .to = &options->force,
       .help = "Replace the run that is in that folder; its files are removed when the new run begins",
       .excludes = "--resume"},
      device_option(options->device, "Where to train"),
      {.name = "--processes",
       .to = &options->processes,
       .help = "Share the work among this many processes of this machine",
       .range = whole_range(1, 1024)},
      {.name = "--describe", .to = &options->describe, .help = "Show the network layer by layer; train nothing"},
      {.name = "--print-config",
       .to = &options->print_config,
       .help = "Show every key with its value and meaning, keys without a value as comments; train nothing"},
      {.name = "--json", .to = &options->json, .help = "Print the last epoch's metrics as JSON"}};
  command.notes =
      "A run is a folder: config.toml, metrics.jsonl with one line per epoch, checkpoints/; left-out.csv names the "
      "files\n"
      "of the set that could not be used. Ctrl-C writes a checkpoint, and --resume goes on from it as if nothing had\n"
      "happened.";
  command.examples = {"priornet train --data ./photos,size=64 --out runs/photos",
                      "priornet train --data ./photos,size=64 --epochs 30 --model resnet18 --seed 1",
                      "priornet train --data ./table.csv,label=kind --print-config",
                      "priornet train configs/mnist-dpn.toml --out runs/dpn",
                      "priornet train configs/mnist-dpn.toml --set training.epochs=3 model.keep_dense=0.9 --describe"};
  command.run = [options](const Invocation&) {
    if (options->config.empty() && options->data.empty()) {
      for (const auto& text : options->overrides)
        if (text.find('=') == std::string::npos)
          throw Misuse("--set: " + text + " should be KEY=VALUE; the configuration comes before --set");
      throw Misuse("give a configuration, or --data SET");
    }
    run(*options);
  };
}

}  // namespace priornet::tool
