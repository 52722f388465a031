#include <priornet/learning/config.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <priornet/learning/settings.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

namespace priornet {
namespace {

constexpr std::array<std::pair<std::string_view, Resampling>, 2> kRotations = {
    {{"nearest", Resampling::kNearest}, {"bilinear", Resampling::kBilinear}}};
constexpr std::array<std::pair<std::string_view, Precision>, 2> kPrecisions = {
    {{"float32", Precision::kFloat32}, {"bfloat16", Precision::kBFloat16}}};
constexpr Range kProbability = {0.0, 1.0, false, true};

void visit_data(TrainConfig& config, ConfigFields& fields) {
  auto& augmentation = config.augmentation;
  fields.table("data", "the set to learn from");
  fields.text("train", config.train, "a name from priornet data list, or a path");
  fields.text("validation", config.validation, "a set to validate on; none if empty");
  const Range share = {0, 1, true, false};
  fields.number("validation_share", config.validation_share, share,
                "share of its rows that is kept back to validate on");
  fields.number("calibration_share", config.calibration_share, share,
                "share of its rows that is kept back for priornet calibrate");
  fields.number("balance", config.balance, {0, 1},
                "weight of rare classes: 1: as much as any class; 0: as much as their share of rows");
  fields.flag("standardise", config.standardise,
              "rows of numbers: bring features to one scale, with long tails compressed");
  for (auto [key, values] : {std::pair{"mean", &config.model.mean}, {"deviation", &config.model.deviation}})
    fields.numbers(key, *values, "images: per channel, for values in [0, 1]: (value - mean) / deviation");
  fields.number("noise", config.noise, at_least(0), "sigma of Gaussian noise on every input, in [-1, 1] units");
  fields.flag("flip", augmentation.flip, "mirror half of the images, left to right");
  fields.whole("shift", augmentation.shift, at_least(0), "shift by up to this many whole pixels each way");
  fields.number("rotation", augmentation.rotation_degrees, {0, 180}, "rotate by up to this many degrees each way");
  fields.named("rotation_resampling", augmentation.rotation_resampling, kRotations, "interpolation of rotated pixels");
  fields.whole("cutout", augmentation.cutout, at_least(0), "side of a square hole in pixels; 0: none");
}

void visit_model(TrainConfig& config, ConfigFields& fields) {
  auto& model = config.model;
  fields.table("model", "the network");
  fields.text("file", model.file, "a network that PyTorch scripted or traced (torch.jit)");
  if (!model.file || model.file->empty()) fields.choice("name", model.name, model_names(), "architecture");
  fields.text("weights", config.weights, "a safetensors file with weights to start from; none if empty");
  const auto meaning = [](const char* option) { return model_option_meaning(option); };
  fields.lists("blocks", model.blocks, meaning("blocks").c_str());
  fields.list("channels", model.channels, meaning("channels").c_str());
  fields.list("dense", model.dense, meaning("dense").c_str());
  fields.number("slope", model.slope, {0, 1}, meaning("slope").c_str());
  for (auto [key, keep] : {std::pair{"keep_convolution", &model.keep_convolution}, {"keep_dense", &model.keep_dense}})
    fields.number(key, *keep, kProbability, meaning(key).c_str());
  fields.flag("batch_norm", model.batch_norm, meaning("batch_norm").c_str());
  fields.number("gain", model.gain, above(0), meaning("gain").c_str());
  fields.number("prior", model.prior, above(0), "added to every concentration: alpha = prior + e^logit; evidential: 1");
  fields.whole("density", model.density, at_least(1),
               "the last layer becomes one density per class in this many dimensions; posterior: 6");
  fields.number("density_rows", model.density_rows, above(0), "with density: the rows per class, which multiply it");
}

void visit_method(TrainConfig& config, ConfigFields& fields) {
  const auto table = choices_of(methods());
  fields.table("method", "what the network is trained for");
  fields.choice("name", config.method.name, names_of(table), "loss");
  visit_settings(table, config.method.settings, fields);
  fields.text("teacher", config.teacher,
              "folder of a run; its probabilities take the place of labels in cross-entropies; distil needs one");
  if (!config.teacher.empty())
    fields.flag("teacher_in_turn", config.teacher_in_turn,
                "only one member of the teacher answers for each input; the members take turns, row by row");
  fields.whole("members", config.members, at_least(1), "number of networks; more than one make an ensemble");
}

void visit_outside(OutsideOptions& outside, ConfigFields& fields) {
  const auto table = choices_of(outlier_sources());
  fields.table("outside", "the out-of-distribution part of a batch");
  fields.text("source", outside.source, fmt::format("{}, or a set", fmt::join(names_of(table), ", ")).c_str());
  visit_settings(table, outside.settings, fields);
  fields.whole("added", outside.added, at_least(0), "with a set: number of images of the mixture to add to it");
}

void visit_training(TrainConfig& config, ConfigFields& fields) {
  auto& optimiser = config.optimiser;
  auto& schedule = config.schedule;
  fields.table("training", "how the network is trained");
  fields.whole("epochs", config.epochs, at_least(1), "passes over the training set");
  fields.whole("batch", config.batch, at_least(1), "in-distribution inputs per step");
  fields.whole("outside_batch", config.outside_batch, at_least(0), "out-of-distribution inputs per step");
  fields.choice("optimiser", optimiser.name, names_of(choices_of(optimisers())), "update rule");
  fields.number("rate", schedule.rate, above(0), "learning rate");
  fields.choice("schedule", schedule.name, names_of(choices_of(schedules())), "how the learning rate changes");
  fields.flag("each_step", schedule.each_step, "the rate changes within an epoch too");
  visit_settings(choices_of(schedules()), schedule.settings, fields);
  visit_settings(choices_of(optimisers()), optimiser.settings, fields);
  fields.number("weight_decay", optimiser.weight_decay, at_least(0),
                "factor of the weights that is added to their gradient");
  fields.number("clip", optimiser.clip, at_least(0), "largest norm of the gradient; 0: no limit");
  fields.whole("seed", config.seed, at_least(0), "of everything random");
  fields.named("precision", config.precision, kPrecisions, "precision of matrix products on a GPU");
  fields.flag("freeze", config.freeze,
              "only the last layers learn; those from model.file or model.weights do not change");
  fields.number("weight_average", config.weight_average, {0, 1, false, false},
                "keep a running mean of the weights, with this decay per step");
  fields.whole("restarts", config.restarts, at_least(0),
               "restarts from another seed while the validation error is no better than chance");
  fields.whole("patience", config.patience, at_least(1),
               "stop after this many epochs without a smaller validation NLL and keep the best epoch");
  fields.whole("checkpoint_every", config.checkpoint_every, at_least(1), "epochs between checkpoints");
  fields.whole("keep_checkpoints", config.keep_checkpoints, at_least(1),
               "number of last checkpoints to keep, beside the best");
}

// The file as it would be written today: a key that did not exist then has its default. A file that cannot be read
// stays as it is.
std::string as_written_today(std::string_view toml) {
  try {
    return to_toml(read_config(TomlText{"", std::string(toml)}));
  } catch (const Error&) {
    return std::string(toml);
  }
}

// The keys that may change when a run goes on.
bool may_change(std::string_view line) {
  for (const std::string_view key : {"train", "epochs", "patience", "checkpoint_every", "keep_checkpoints"})
    if (line.starts_with(key) && line.substr(key.size()).starts_with(" = ")) return true;
  return false;
}

std::string what_stays(std::string_view toml) {
  std::string lines;
  while (!toml.empty()) {
    const auto line = toml.substr(0, toml.find('\n'));
    toml.remove_prefix(std::min(toml.size(), line.size() + 1));
    if (!may_change(line)) lines.append(line).push_back('\n');
  }
  return lines;
}

// Without its comment.
std::string_view setting(std::string_view line) {
  line = line.substr(0, line.rfind("  # "));
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

// Of keys that do not go together, whatever the sets are; empty if there are none.
std::string contradiction_in(const TrainConfig& config) {
  if (auto refusal = refusal_of(config.outside); !refusal.empty()) return refusal;
  if (!config.teacher.empty() && config.standardise.value_or(false))
    return "a network that learns from a teacher takes rows unchanged: data.standardise should be false";
  if (config.patience && config.weight_average)
    return "training.patience keeps the weights of one epoch, training.weight_average those of many: give only one of "
           "them";
  if (config.validation_share.value_or(0.0) + config.calibration_share.value_or(0.0) >= 1.0)
    return "data.validation_share and data.calibration_share should leave rows to learn from";
  return "";
}

}  // namespace

void visit_config(TrainConfig& config, ConfigFields& fields) {
  visit_data(config, fields);
  visit_model(config, fields);
  visit_method(config, fields);
  visit_outside(config.outside, fields);
  visit_training(config, fields);
}

void check_config(const TrainConfig& config) {
  if (const auto refusal = contradiction_in(config); !refusal.empty()) throw ConfigError(refusal);
}

TrainConfig read_config(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  return read_config(load_toml(path), overrides);
}

TrainConfig read_config(const TomlText& toml, const std::vector<std::string>& overrides) {
  TrainConfig config;
  read_toml(toml, overrides, [&](ConfigFields& fields) { visit_config(config, fields); });
  const auto require = [&](bool holds, const std::string& what) {
    if (!holds) throw ConfigError((toml.name.empty() ? "" : toml.name + ": ") + what);
  };
  const auto& method = method_info(config.method.name);
  const auto refusal = contradiction_in(config);
  require(!config.train.empty(), "data.train should name a set, found nothing");
  require(refusal.empty(), refusal);
  require(!method.needs_teacher || !config.teacher.empty(),
          "method.teacher should name the run that teaches, found nothing");
  require(config.validation.empty() || config.validation_share.value_or(0.0) == 0.0,
          "give data.validation or data.validation_share, not both");
  require(config.restarts.value_or(0) == 0 || !config.validation.empty() || config.validation_share.value_or(0.0) > 0.0,
          "training.restarts needs the validation error: give data.validation or data.validation_share");
  require(!config.patience || !config.validation.empty() || config.validation_share.value_or(0.0) > 0.0,
          "training.patience needs the validation NLL: give data.validation or data.validation_share");
  return config;
}

std::string to_toml(const TrainConfig& config) {
  auto copy = config;
  return to_toml([&](ConfigFields& fields) { visit_config(copy, fields); });
}

std::string first_difference(std::string_view file, std::string_view config) {
  const auto rewritten = what_stays(as_written_today(file));
  const auto wanted = what_stays(config);
  std::string_view there = rewritten;
  std::string_view here = wanted;
  while (!there.empty() || !here.empty()) {
    const auto line_there = there.substr(0, there.find('\n'));
    const auto line_here = here.substr(0, here.find('\n'));
    if (setting(line_there) != setting(line_here))
      return fmt::format("\"{}\" there, \"{}\" here", setting(line_there), setting(line_here));
    there.remove_prefix(std::min(there.size(), line_there.size() + 1));
    here.remove_prefix(std::min(here.size(), line_here.size() + 1));
  }
  return {};
}

}  // namespace priornet
