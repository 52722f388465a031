#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/progress.h>
#include <priornet/learning/settings.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Where the out-of-distribution part of a training batch comes from.

namespace priornet {

// Sources that are asked for by name in this code.
constexpr const char* kFactorAnalysis = "factor-analysis";
constexpr const char* kGaussianNoise = "gaussian-noise";
constexpr const char* kUniformNoise = "uniform-noise";
constexpr const char* kMixture = "mixture";

struct OutsideOptions {
  std::string source = kFactorAnalysis;  ///< of outlier_sources(), or the name of a set
  SettingValues settings;                ///< of that source; those of other sources are left alone
  std::optional<int64_t> added;          ///< of a set: so many images of the mixture join it, drawn once
};

/// Rows first, ..., first + count - 1 of the batch of `whole` rows of a step: what one of several processes takes.
struct OutsideBatch {
  int64_t step = 0;
  int64_t whole = 0;
  int64_t first = 0;
  int64_t count = 0;
};

/// Images uint8 [count, C, H, W], or rows float32 [count, D], on the device it was made for: a function of seed and
/// step alone, however a batch is shared out.
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
  std::function<void(torch::Tensor)> share;  ///< gives what was fitted to all processes, where there are several
  bool tails_drawn_in = false;               ///< of the rows in `train` (FeatureScale); so are those made far out
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
  /// What is wrong with settings that do not go together; empty where nothing is.
  std::string (*refusal)(const SettingValues& settings) = nullptr;
};

/// All outlier sources, apart from sets.
const std::vector<OutlierSourceInfo>& outlier_sources();

/// What of the options does not go together; empty where all does.
std::string refusal_of(const OutsideOptions& options);

/// From images uint8 [N, C, H, W], in an order of their own, again and again. Batches lie on the device, or where the
/// images do; images that lie elsewhere stay there and are brought to it batch by batch.
std::unique_ptr<OutsideSource> outside_images(torch::Tensor images, uint64_t seed,
                                              const std::optional<torch::Device>& device = {});

/// Whether a source is a set, and not one of outlier_sources().
bool is_set(const std::string& source);

/// DataError where a set is not there, ConfigError for a source that has no images, or no rows, as the training set
/// holds; ArgumentError for an unknown setting or a value out of its range.
std::unique_ptr<OutsideSource> make_outside(const OutsideOptions& options, const OutsideContext& context);

}  // namespace priornet
