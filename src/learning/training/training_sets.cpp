#include <priornet/learning/training_sets.h>

#include <fmt/format.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/networks/torchscript.h"

namespace priornet {

torch::Tensor draw_in_tails(const torch::Tensor& distances) {
  const auto limited = distances.clamp(-kFarthestDeviations, kFarthestDeviations);
  const auto size = limited.abs();
  const auto tail = (size - kTailsBegin).clamp_min_(0.0).log1p_().add_(kTailsBegin).mul_(limited.sign());
  return torch::where(size > kTailsBegin, tail, limited);
}

torch::Tensor FeatureScale::applied(const torch::Tensor& inputs) const {
  if (!defined() || inputs.dim() != 2) return inputs;
  constexpr int64_t kPiece = 1 << 16;  // rows, so that a large table is not in memory three times
  const auto centre = mean.to(inputs.device());
  const auto width = deviation.to(inputs.device());
  auto result = torch::empty_like(inputs);
  for (int64_t first = 0; first < inputs.size(0); first += kPiece) {
    const auto count = std::min(kPiece, inputs.size(0) - first);
    auto scaled = (inputs.narrow(0, first, count) - centre).div_(width);
    result.narrow(0, first, count)
        .copy_(drawn_in ? draw_in_tails(scaled) : scaled.clamp_(-kFarthestDeviations, kFarthestDeviations));
  }
  return result;
}

FeatureScale measure_scale(const torch::Tensor& rows) {
  constexpr int64_t kMostRows = 100'000;
  constexpr double kQuartilesOfGaussian = 1.349;
  const auto size = rows.size(0);
  const auto looked_at =
      size <= kMostRows
          ? rows
          : rows.index_select(
                0, (torch::arange(kMostRows, torch::kInt64) * size).div(kMostRows, "floor").to(rows.device()));
  FeatureScale scale{torch::empty({rows.size(1)}), torch::empty({rows.size(1)}), true};
  for (int64_t feature = 0; feature < rows.size(1); ++feature) {
    const auto values = std::get<0>(looked_at.select(1, feature).to(torch::kCPU).to(torch::kFloat64).sort());
    const auto quantile = [&](double share) {
      const auto last = static_cast<double>(values.size(0) - 1);
      return values[static_cast<int64_t>(std::llround(share * last))].item<double>();
    };
    double centre = quantile(0.5);
    double deviation = (quantile(0.75) - quantile(0.25)) / kQuartilesOfGaussian;
    if (!(deviation > 0)) {
      centre = values.mean().item<double>();
      deviation = values.sub(centre).square().mean().sqrt().item<double>();
    }
    // What rounding leaves of a constant feature is not a scale.
    if (!(deviation > std::abs(centre) * 1e-6)) deviation = 1;
    scale.mean[feature] = centre;
    scale.deviation[feature] = deviation;
  }
  return scale;
}

namespace {

constexpr const char* kSplitFile = "preparation.safetensors";

template <class P>  // of a TrainingSplit, to be written or read
auto parts_of(P& split) {
  return std::array{std::pair{"mean", &split.scale.mean}, std::pair{"deviation", &split.scale.deviation},
                    std::pair{"validation_rows", &split.validation_rows},
                    std::pair{"calibration_rows", &split.calibration_rows}};
}

}  // namespace

bool TrainingSplit::empty() const {
  return !scale.defined() && !validation_rows.defined() && !calibration_rows.defined() && feature_names.empty();
}

std::string training_content(const Dataset& set) {
  const auto hash = [](const torch::Tensor& values) {
    const auto bytes = values.to(torch::kCPU).contiguous();
    return content_hash({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
  };
  return fmt::format("{}-{:016x}-{:016x}", set.size(), set.has_labels() ? hash(set.labels) : 0,
                     set.has_images() ? 0 : hash(set.inputs));
}

void write_training_split(const std::filesystem::path& run, const TrainingSplit& split) {
  const auto path = run / kSplitFile;
  if (split.empty()) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return;
  }
  std::vector<NamedTensor> tensors;
  for (const auto& [name, values] : parts_of(split))
    if (values->defined()) tensors.push_back({name, *values});
  std::map<std::string, std::string> texts = {{"features", json_text(nlohmann::json(split.feature_names))},
                                              {"content", split.content}};
  if (split.scale.drawn_in) texts["drawn_in"] = "yes";
  if (split.encoding) texts["encoding"] = to_json(*split.encoding);
  write_tensor_file(path, tensors, texts);
}

TrainingSplit read_training_split(const std::filesystem::path& run) {
  const auto path = run / kSplitFile;
  TrainingSplit split;
  if (!std::filesystem::exists(path)) return split;
  const auto file = read_tensor_file(path);
  for (const auto& [name, values] : parts_of(split))
    for (const auto& tensor : file.tensors)
      if (tensor.name == name) *values = tensor.values.clone();
  try {
    split.feature_names = nlohmann::json::parse(file.metadata.at("features")).get<std::vector<std::string>>();
  } catch (const std::exception&) {
    throw DataError(path.string() + ": its features should be a list of names");
  }
  if (const auto content = file.metadata.find("content"); content != file.metadata.end())
    split.content = content->second;
  split.scale.drawn_in = file.metadata.contains("drawn_in");
  if (const auto encoding = file.metadata.find("encoding"); encoding != file.metadata.end())
    split.encoding = std::make_shared<TableEncoding>(table_encoding_from_json(encoding->second, path.string()));
  // Older runs leave a column without a name nameless.
  if (split.encoding && split.encoding->width() == static_cast<int64_t>(split.feature_names.size()))
    split.feature_names = split.encoding->feature_names();
  const auto& [mean, deviation, drawn_in] = split.scale;
  const auto& names = split.feature_names;
  const bool sound =
      mean.defined() == deviation.defined() &&
      (!mean.defined() || (mean.scalar_type() == torch::kFloat32 && mean.dim() == 1 &&
                           deviation.scalar_type() == torch::kFloat32 && deviation.sizes() == mean.sizes()));
  if (!sound) throw DataError(path.string() + ": its mean and deviation should be one number per feature");
  if (mean.defined() && !names.empty() && names.size() != static_cast<size_t>(mean.size(0)))
    throw DataError(path.string() + ": its features should be as many as their means");
  for (const auto& rows : {split.validation_rows, split.calibration_rows})
    if (rows.defined() && (rows.scalar_type() != torch::kInt64 || rows.dim() != 1))
      throw DataError(path.string() + ": its rows should be a list of whole numbers");
  return split;
}

namespace {

torch::Tensor ascending(const torch::Tensor& rows) { return std::get<0>(rows.sort()); }

// `count` of the rows, given class by class, at even distances: each class gets its share, give or take one row.
torch::Tensor evenly_spaced(const torch::Tensor& rows, int64_t count) {
  return rows.index_select(0, (torch::arange(count, torch::kInt64) * 2 + 1).mul(rows.size(0)).div(2 * count, "floor"));
}

torch::Tensor without_rows(const torch::Tensor& rows, const torch::Tensor& taken, int64_t size) {
  auto left = torch::ones({size}, torch::kBool);
  left.index_fill_(0, taken, false);
  return rows.masked_select(left.index_select(0, rows));
}

// The rows in a random order, class by class, except for one of each class, which stays for training.
torch::Tensor rows_by_class(const Dataset& set, torch::Generator generator) {
  const auto rows = torch::randperm(set.size(), generator, torch::kInt64);
  const auto classes = set.labels.to(torch::kCPU).index_select(0, rows);
  const auto order = (classes * set.size() + torch::arange(set.size(), torch::kInt64)).argsort();
  const auto sorted = classes.index_select(0, order);
  const auto same_as_before = sorted.slice(0, 1).eq(sorted.slice(0, 0, -1));
  return rows.index_select(0, order).slice(0, 1).masked_select(same_as_before);
}

// Each part has its share of every class: rows for validation, then rows for calibration.
void keep_back(TrainingSets& sets, const TrainConfig& config) {
  const auto copies = sets.train.copies;
  const auto size = sets.train.size() / copies;
  const auto count = [&](const std::optional<double>& share) {
    return static_cast<int64_t>(std::llround(share.value_or(0.0) * static_cast<double>(size)));
  };
  const auto validation = count(config.validation_share);
  const auto calibration = count(config.calibration_share);
  if (validation + calibration == 0) return;
  sets.split.content = training_content(sets.train);
  auto generator = make_generator(derive_seed(static_cast<uint64_t>(config.seed), "rows kept back"));
  auto rows = rows_by_class(slice(sets.train, 0, size), generator);
  if (validation + calibration > rows.size(0))
    throw DataError(fmt::format(
        "{}: its {} rows of {} classes are too few: {} must be kept back, and each class needs rows to learn from",
        sets.train.name, size, sets.train.num_classes(), validation + calibration));
  const auto whole = sets.train;
  auto left = torch::arange(size, torch::kInt64);
  const auto take = [&](int64_t number) {
    const auto taken = evenly_spaced(rows, number);
    rows = without_rows(rows, taken, size);
    left = without_rows(left, taken, size);
    return ascending(taken);
  };
  if (validation > 0) {
    sets.split.validation_rows = take(validation);
    sets.validation = view_of(whole, sets.split.validation_rows);
  }
  if (calibration > 0) sets.split.calibration_rows = take(calibration);
  const auto copy = torch::arange(copies, torch::kInt64).mul(size).unsqueeze(1);
  sets.train = view_of(whole, (left + copy).flatten());
}

void standardise(TrainingSets& sets) {
  if (sets.train.has_images())
    throw ConfigError(fmt::format("data.standardise is for rows of numbers, but {} holds images", sets.train.name));
  sets.split.scale = measure_scale(sets.train.inputs);
  sets.train.inputs = sets.split.standardised(sets.train.inputs);
  if (sets.validation) sets.validation->inputs = sets.split.standardised(sets.validation->inputs);
}

}  // namespace

TrainingSets prepare_training_sets(const TrainConfig& config, Dataset train, std::optional<Dataset> validation) {
  TrainingSets sets{std::move(train), {}, {}};
  if (!sets.train.has_labels()) throw DataError(fmt::format("{}: has no labels to learn from", sets.train.name));
  sets.split.feature_names = sets.train.feature_names;
  sets.split.encoding = sets.train.encoding;
  keep_back(sets, config);
  if (validation) sets.validation = std::move(validation);
  if (config.standardise.value_or(false)) standardise(sets);
  return sets;
}

TrainingSets load_training_sets(const TrainConfig& config, Progress& progress) {
  LoadOptions load;
  load.progress = &progress;
  auto train = load_set(config.train, load);
  if (config.validation.empty()) return prepare_training_sets(config, std::move(train));
  load.encoding = train.encoding;
  auto validation = load_set(config.validation, load);
  if (!validation.has_labels()) throw DataError(fmt::format("{}: has no labels to validate with", validation.name));
  validation.labels = labels_among(validation, train.class_names, train.name);
  validation.class_names = train.class_names;
  validation =
      train.has_images() ? fit_to(validation, image_shape(train)) : with_features(validation, train.feature_names);
  return prepare_training_sets(config, std::move(train), std::move(validation));
}

ModelOptions model_for(const TrainConfig& config, const Dataset& train) {
  auto model = config.model;
  if (is_package(model))
    throw ConfigError(fmt::format(
        "model.file: {} is an AOTInductor package, which cannot be trained: use priornet calibrate --network",
        *model.file));
  model.input = train.inputs.sizes().slice(1).vec();
  model.classes = train.num_classes();
  return model;
}

namespace {

constexpr double kHeldBack = 0.1;
constexpr int64_t kLeastRows = 20;

// With few rows, a larger share is kept back. Of n rows kept back, floor(5 % of n + 1) are as rare as an input that is
// rejected: n + 1 is a multiple of 20, so that the promised 5 % are used in full. With fewer than 57 rows, a third is
// too few for that.
double calibration_share(int64_t rows) {
  constexpr int64_t kStep = 20;
  const auto kept =
      std::min(std::max<int64_t>(2 * kStep, std::llround(kHeldBack * static_cast<double>(rows))), rows / 3);
  return static_cast<double>(kept + 1 < kStep ? kept : (kept + 1) / kStep * kStep - 1) / static_cast<double>(rows);
}

// Adds blocks until an image is 5 to 10 pixels wide.
std::vector<std::vector<int64_t>> blocks_for(int64_t side) {
  constexpr std::array<int64_t, 5> kChannels = {16, 32, 64, 128, 128};
  std::vector<std::vector<int64_t>> blocks;
  do {
    const auto channels = kChannels[blocks.size()];
    blocks.push_back({channels, channels});
    side /= 2;
  } while (side >= 10 && blocks.size() < kChannels.size());
  return blocks;
}

void choose_for_images(TrainConfig& config, const Dataset& set) {
  const auto dimensions = set.inputs[0].numel();
  config.model.name = "vgg6";
  config.model.blocks = blocks_for(std::min(set.inputs.size(2), set.inputs.size(3)));
  config.model.dense = {{100}};
  config.outside.source = kMixture;
  // Few images, or small ones, determine few factors; EM for more would take time for nothing.
  const auto factors = std::max<int64_t>(1, std::min({int64_t{50}, dimensions / 4, set.size() / 10}));
  config.outside.settings["latent"] = static_cast<double>(factors);
  config.outside.settings["squash"] = static_cast<double>(Squash::kClip);
  config.epochs = std::clamp<int64_t>(400'000 / set.size(), 6, 60);
}

void choose_for_rows(TrainConfig& config, const Dataset& set) {
  // With few rows, training on them gains more than validation on so few could tell.
  constexpr int64_t kFewRows = 1000;
  if (set.size() < kFewRows) config.validation_share.reset();
  config.standardise = true;
  config.model.name = "mlp";
  config.model.dense = {{64, 64}};
  config.model.keep_dense = 0.8;
  config.optimiser.name = "adamw";
  config.optimiser.weight_decay = 0.3;
  config.outside.source = kFactorAnalysis;
  config.outside.settings["latent"] = static_cast<double>(std::min<int64_t>(20, set.inputs.size(1)));
  config.outside.settings["scale_low"] = 2.0;
  config.outside.settings["scale_high"] = 6.0;  // tails are drawn in, so no row lies farther out
  config.epochs = std::clamp<int64_t>(1'000'000 / set.size(), 10, 200);
}

}  // namespace

TrainConfig config_for(const std::string& name, const Dataset& set) {
  if (!set.has_labels())
    throw DataError(
        fmt::format("{}: has no labels to learn from: give one folder per class, or a CSV with ,label=COLUMN", name));
  if (set.num_classes() < 2) throw DataError(fmt::format("{}: should have at least 2 classes, has 1", name));
  if (set.size() < kLeastRows)
    throw DataError(fmt::format("{}: should have at least {} rows, has {}", name, kLeastRows, set.size()));
  if (set.size() < 2 * set.num_classes())
    throw DataError(fmt::format("{}: should have at least 2 rows per class, has {} rows of {} classes", name,
                                set.size(), set.num_classes()));
  TrainConfig config;
  config.train = name;
  config.validation_share = kHeldBack;
  config.calibration_share = calibration_share(set.size());
  config.method.name = "dpn-reverse";
  // Each other class has a concentration of 1, as outside; the label keeps nine tenths of the sum, however many
  // classes.
  const auto alpha0 = std::max(100.0, 10.0 * static_cast<double>(set.num_classes() - 1));
  config.method.settings["alpha0"] = alpha0;
  config.method.settings["epsilon"] = 1.0 / alpha0;
  // The in-distribution divergence is naturally larger, about alpha0 times a gap of logits.
  config.method.settings["outside_weight"] = 20;
  config.outside.settings["scale_each_sample"] = 1;
  if (set.has_images())
    choose_for_images(config, set);
  else
    choose_for_rows(config, set);
  // At least eight steps per epoch, of the rows left for training.
  const auto rows =
      static_cast<double>(set.size()) * (1 - config.validation_share.value_or(0) - *config.calibration_share);
  config.batch = std::clamp<int64_t>(int64_t{1} << static_cast<int>(std::log2(rows / 8)), 2, 128);
  config.outside_batch = std::max<int64_t>(config.batch / 2, 1);
  config.schedule.name = "cosine";
  config.schedule.rate = 1e-3;
  config.schedule.each_step = true;
  return config;
}

}  // namespace priornet
