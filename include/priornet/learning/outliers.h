#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/settings.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Where the out-of-distribution part of a training batch comes from.

namespace priornet {

// Sources that this code names.
constexpr const char* kFactorAnalysis = "factor-analysis";
constexpr const char* kGaussianNoise = "gaussian-noise";
constexpr const char* kUniformNoise = "uniform-noise";
constexpr const char* kMixture = "mixture";

struct OutsideOptions {
  std::string source = kFactorAnalysis;  ///< of outlier_sources(), or the name of a set
  SettingValues settings;                ///< of that source; those of other sources are left alone
  std::optional<int64_t> added;          ///< for a set: this many images of the mixture are added to it, drawn once
};

/// Rows first, ..., first + count - 1 of a step's batch of `whole` rows: the share of one of several processes.
struct OutsideBatch {
  int64_t step = 0;
  int64_t whole = 0;
  int64_t first = 0;
  int64_t count = 0;
};

/// Gives images uint8 [count, C, H, W], or rows float32 [count, D], on the device it was made for. They depend only on
/// the seed and the step, not on how a batch is shared out.
class OutsideSource {
 public:
  virtual ~OutsideSource() = default;
  virtual torch::Tensor batch(const OutsideBatch& batch) = 0;
};

struct OutsideContext {
  const Dataset& train;  ///< factor analysis is fitted to it, other sets get its shape
  torch::Device device;
  uint64_t seed = 0;
  Progress& progress;
  std::function<void(torch::Tensor)> share;  ///< copies what was fitted to all processes, if there are several
  bool tails_drawn_in = false;               ///< in the rows of `train` (FeatureScale); then also in rows made far out
};

/// A row of the table of outlier sources, which make inputs from nothing or from the training set. The functions take
/// a value for each setting.
struct OutlierSourceInfo {
  using Make = std::unique_ptr<OutsideSource> (*)(const SettingValues& settings, const OutsideContext& context);

  const char* name;
  const char* summary;
  std::vector<Setting> settings;
  Make images = nullptr;  ///< where the training set holds images; null where the source has none
  Make rows = nullptr;    ///< where it holds rows of numbers
  /// Why settings contradict each other; empty if they do not.
  std::string (*refusal)(const SettingValues& settings) = nullptr;
};

/// All outlier sources, apart from sets.
const std::vector<OutlierSourceInfo>& outlier_sources();

/// Why options contradict each other; empty if they do not.
std::string refusal_of(const OutsideOptions& options);

/// Outliers from images uint8 [N, C, H, W], in a shuffled order, again and again. Batches lie on `device`, or with the
/// images if none is given. Images on another device stay there and are copied batch by batch.
std::unique_ptr<OutsideSource> outside_images(torch::Tensor images, uint64_t seed,
                                              const std::optional<torch::Device>& device = {});

/// Whether a source is a set, and not one of outlier_sources().
bool is_set(const std::string& source);

/// DataError if a set is missing, ConfigError for a source that has no images, or no rows, as the training set holds;
/// ArgumentError for an unknown setting or a value out of its range.
std::unique_ptr<OutsideSource> make_outside(const OutsideOptions& options, const OutsideContext& context);

}  // namespace priornet
