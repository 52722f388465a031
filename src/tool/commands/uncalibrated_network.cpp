#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/classifier.h>
#include <priornet/learning/evaluation.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <filesystem>

#include "tool/commands/terminal.h"
#include "tool/commands/uncalibrated.h"

namespace priornet::tool {
namespace {

// One number per channel of the images; a single one holds for all.
std::vector<double> per_channel(const char* option, std::vector<double> numbers, const Dataset& set) {
  const auto channels = static_cast<size_t>(image_shape(set).channels);
  if (numbers.size() == 1) numbers.resize(channels, numbers[0]);
  if (numbers.size() != channels)
    throw Misuse(fmt::format("{}: should be {} numbers, one per channel of {}, or one number for all; found {}", option,
                             channels, set.name, numbers.size()));
  return numbers;
}

// A network from a file, for inputs like those of a set: its classes are those of the set, in their order.
ModelFile model_of_network(const CalibrateOptions& options, const Dataset& set) {
  TrainedRun run;
  auto& config = run.config;
  config.train = options.training.empty() ? "its own data" : options.training;
  config.method.name = options.logits.kind == "dirichlet" ? "dpn" : "dnn";
  config.model.file = options.network;
  if (!options.mean.empty()) {
    if (!set.has_images())
      throw Misuse(
          fmt::format("--mean: is for images, and {} holds rows of numbers: nothing is standardised", set.name));
    config.model.mean = per_channel("--mean", options.mean, set);
    config.model.deviation = per_channel("--deviation", options.deviation, set);
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
std::vector<NamedDetector> detectors_of_network(const std::vector<std::string>& names, const TrainedRun& run,
                                                Dataset& set, const CalibrateOptions& options,
                                                const LoadOptions& load) {
  if (names.empty()) return {};
  auto training = set;
  if (!options.training.empty()) {
    training = set_for_shape(options.training, run.members.at(0)->input_shape(), options, load);
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
                       *load.progress);
}

// The file of a network does not say which size it takes: the set says it.
Dataset set_that_says_the_size(const std::string& name, const LoadOptions& load) {
  try {
    return load_set(name, load);
  } catch (const SeveralSizes&) {
    throw DataError(
        fmt::format("{0}: its images have several sizes, and the file of a network does not say which it "
                    "takes: add that size to the name, such as {0},size=224",
                    name));
  }
}

}  // namespace

UncalibratedModel uncalibrated_network(const CalibrateOptions& options, LoadOptions load) {
  refuse_without_run("--checkpoint", options.checkpoint != "last", "--network");
  refuse_without_run("--dropout-samples", options.dropout_samples != 0, "--network");
  if (options.data.empty()) throw Misuse("--network: give --data too: a set that the network did not learn from");
  if (!options.training.empty() && is_same_set(options.training, options.data))
    throw Misuse(
        "--training: is the set of --data too. Detectors would find new inputs strange that are like both: give --data "
        "a set that no detector learns from, or leave --training out, and one half of --data teaches them");
  if (options.mean.empty() != options.deviation.empty())
    throw Misuse("--mean: give --deviation too: the network takes (value - mean) / deviation");
  if (options.logits.kind == "ensemble")
    throw Misuse("--kind: ensemble is for --logits; a network gives softmax or dirichlet");
  if (options.logits.kind.empty())
    throw Misuse("--network: give --kind too: what the network gives, softmax or dirichlet");
  auto set = set_that_says_the_size(options.data, load);
  auto model = model_of_network(options, set);
  const auto chosen = chosen_detectors(options, *model.run.members.at(0));
  load.encoding = set.encoding;
  model.detectors = detectors_of_network(chosen.kept, model.run, set, options, load);
  return uncalibrated_with_set(std::move(model), chosen, std::move(set), options, load);
}

}  // namespace priornet::tool
