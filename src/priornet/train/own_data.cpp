#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/train/own_data.h>

#include <algorithm>
#include <cmath>

namespace priornet {
namespace {

constexpr double kHeldBack = 0.1;
constexpr int64_t kLeastRows = 20;

// Few rows leave more of them: of fewer than 37 none is rare enough for thresholds of 5 % false alarms.
double calibration_share(int64_t rows) { return std::clamp(40.0 / static_cast<double>(rows), kHeldBack, 0.3); }

// Blocks until an image is 5 to 10 pixels wide.
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
  // Few images, or small ones, determine few factors; EM for more takes its time over nothing.
  config.outside.latent = std::max<int64_t>(1, std::min({int64_t{50}, dimensions / 4, set.size() / 10}));
  config.outside.squash = Squash::kClip;
  config.epochs = std::clamp<int64_t>(400'000 / set.size(), 6, 60);
}

void choose_for_rows(TrainConfig& config, const Dataset& set) {
  config.standardise = true;
  config.model.name = "mlp";
  config.model.dense = {{64, 64}};
  config.outside.source = kFactorAnalysis;
  config.outside.latent = std::min<int64_t>(20, set.inputs.size(1));
  config.outside.scale_low = 2.0;
  config.outside.scale_high = 25.0;
  config.epochs = std::clamp<int64_t>(1'000'000 / set.size(), 10, 200);
}

}  // namespace

TrainConfig config_for(const std::string& name, const Dataset& set) {
  if (!set.has_labels())
    throw DataError(
        fmt::format("{}: has no labels to learn from: a folder a class, or a CSV with ,label=COLUMN", name));
  if (set.num_classes() < 2) throw DataError(fmt::format("{}: should have at least 2 classes, has 1", name));
  if (set.size() < kLeastRows)
    throw DataError(fmt::format("{}: should have at least {} rows, has {}", name, kLeastRows, set.size()));
  if (set.size() < 2 * set.num_classes())
    throw DataError(fmt::format("{}: should have at least 2 rows a class, has {} rows of {} classes", name, set.size(),
                                set.num_classes()));
  TrainConfig config;
  config.train = name;
  config.validation_share = kHeldBack;
  config.calibration_share = calibration_share(set.size());
  config.method.method = Method::kDpnReverse;
  // Each other class has a concentration of 1, as outside; the label keeps nine tenths of them all, however many.
  config.method.alpha0 = std::max(100.0, 10.0 * static_cast<double>(set.num_classes() - 1));
  config.method.epsilon = 1.0 / config.method.alpha0;
  // The divergence in distribution is larger by nature, about alpha0 times a gap of logits.
  config.method.outside_weight = 20;
  config.outside.scale_each_sample = true;
  if (set.has_images())
    choose_for_images(config, set);
  else
    choose_for_rows(config, set);
  // At least eight steps an epoch, of what is left to learn from.
  const auto rows = static_cast<double>(set.size()) * (1 - kHeldBack - *config.calibration_share);
  config.batch = std::clamp<int64_t>(int64_t{1} << static_cast<int>(std::log2(rows / 8)), 2, 128);
  config.outside_batch = std::max<int64_t>(config.batch / 2, 1);
  config.optimiser.clip = 10.0;
  config.schedule.kind = ScheduleOptions::Kind::kCosine;
  config.schedule.rate = 1e-3;
  config.schedule.each_step = true;
  return config;
}

}  // namespace priornet
