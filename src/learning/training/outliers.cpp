#include <priornet/learning/outliers.h>

#include <fmt/format.h>
#include <priornet/learning/dataset.h>
#include <priornet/learning/factor_analysis.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/training_sets.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "learning/synthesis/factor_images.h"
#include "learning/synthesis/made_up_images.h"
#include "learning/training/kernel_batches.h"
#include "learning/training/training_batches.h"
#include "uncertainty/core/rows.h"

namespace priornet {
namespace {

/// For OutlierSourceInfo::images and rows.
template <class Source>
std::unique_ptr<OutsideSource> made_outside(const SettingValues& settings, const OutsideContext& context) {
  return std::make_unique<Source>(settings, context);
}

/// The seed of the draws of a step.
uint64_t seed_of_step(uint64_t seed, int64_t step) { return derive_seed(seed, fmt::format("step {}", step)); }

// Gaussian and uniform noise: for images pixel by pixel, for rows around the training set and beyond.

constexpr Setting kSigma = {"sigma", 1.0, above(0), "sigma of Gaussian noise, in [-1, 1] units"};

enum class Noise { kGaussian, kUniform };

double sigma_of(const SettingValues& settings) {
  const auto found = settings.find(kSigma.key);
  return found == settings.end() ? 0.0 : found->second;  // not for uniform noise
}

template <Noise noise>
class NoiseImages final : public OutsideSource {
 public:
  NoiseImages(const SettingValues& settings, const OutsideContext& context)
      : sigma_(sigma_of(settings)), shape_(image_shape(context.train)), device_(context.device), seed_(context.seed) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    const DrawOptions draw{seed_of_step(seed_, batch.step), batch.first, device_};
    return noise == Noise::kUniform ? uniform_noise_images(batch.count, shape_, draw)
                                    : gaussian_noise_images(batch.count, shape_, draw, sigma_);
  }

 private:
  double sigma_;
  ImageShape shape_;
  torch::Device device_;
  uint64_t seed_;
};

// Each feature is centre + width * a draw: normal around the mean, sigma times as wide as the training set; or a box
// three times as wide as its range.
template <Noise noise>
class NoiseRows final : public OutsideSource {
 public:
  NoiseRows(const SettingValues& settings, const OutsideContext& context)
      : device_(context.device), seed_(context.seed) {
    const auto& rows = context.train.inputs;
    if (noise == Noise::kUniform) {
      const auto low = std::get<0>(rows.min(0));
      const auto high = std::get<0>(rows.max(0));
      centre_ = (low + high) / 2;
      width_ = 1.5 * (high - low);
    } else {
      centre_ = rows.mean(0);
      width_ = sigma_of(settings) * (rows - centre_).square().mean(0).sqrt();
    }
  }

  torch::Tensor batch(const OutsideBatch& batch) override {
    auto generator = make_generator(seed_of_step(seed_, batch.step));
    const std::vector<int64_t> shape = {batch.whole, centre_.size(0)};
    const auto draws =
        noise == Noise::kUniform ? 2 * torch::rand(shape, generator) - 1 : torch::randn(shape, generator);
    return (centre_ + width_ * draws.narrow(0, batch.first, batch.count)).to(device_);
  }

 private:
  torch::Device device_;
  uint64_t seed_;
  torch::Tensor centre_;
  torch::Tensor width_;
};

OutlierSourceInfo gaussian_noise_source() {
  return {.name = kGaussianNoise,
          .summary = "Gaussian noise; for rows around their mean, sigma times as wide as the data",
          .settings = {kSigma},
          .images = made_outside<NoiseImages<Noise::kGaussian>>,
          .rows = made_outside<NoiseRows<Noise::kGaussian>>};
}

OutlierSourceInfo uniform_noise_source() {
  return {.name = kUniformNoise,
          .summary = "uniform noise; for rows in a box three times as wide as their range",
          .settings = {},
          .images = made_outside<NoiseImages<Noise::kUniform>>,
          .rows = made_outside<NoiseRows<Noise::kUniform>>};
}

// Draws from a factor analysis of the training set, with inflated variance.

constexpr Setting kLatent = {"latent", 50, at_least(1), "dimensions of factor analysis", Setting::Kind::kWhole};
constexpr Setting kScaleLow = {"scale_low", 0.01, at_least(0),
                               "lower end of the range from which the factor of the variance is drawn"};
constexpr Setting kScaleHigh = {"scale_high", 5.0, at_least(0), "... to here"};
constexpr Setting kFactorVariance = {"factor_variance", 1.0, above(0),
                                     "factor of the variance of the factors; the noise stays the same"};
constexpr Setting kScaleEachSample = {
    "scale_each_sample", 0, {0, 1}, "one draw per image, not per batch", Setting::Kind::kFlag};
constexpr Setting kSquash = {"squash",
                             0,
                             {0, 1},
                             "how values get into the range of inputs",
                             Setting::Kind::kWord,
                             {kSquashNames[0].first.data(), kSquashNames[1].first.data()}};

struct FactorSettings {
  explicit FactorSettings(const SettingValues& settings)
      : latent(static_cast<int64_t>(settings.at(kLatent.key))),
        scale_low(settings.at(kScaleLow.key)),
        scale_high(settings.at(kScaleHigh.key)),
        factor_variance(settings.at(kFactorVariance.key)),
        scale_each_sample(settings.at(kScaleEachSample.key) != 0.0),
        squash(kSquashNames.at(static_cast<size_t>(settings.at(kSquash.key))).second) {}

  /// For batches of this size, which may be 0.
  ScaleOptions scale(int64_t whole) const {
    return {scale_low, scale_high, scale_each_sample ? 1 : std::max<int64_t>(1, whole)};
  }

  int64_t latent;
  double scale_low, scale_high;
  double factor_variance;
  bool scale_each_sample;  ///< one draw per image; otherwise one per batch, as in the authors' code
  Squash squash;
};

/// float32, as the draws need it, and the same in all processes.
FactorAnalysis fitted(const FactorSettings& settings, const OutsideContext& context) {
  const auto& train = context.train;
  const RowPieces rows{train.size(), train.inputs[0].numel(), [&](int64_t first, int64_t count) {
                         const auto some = inputs_at(train, first, count).to(context.device);
                         return train.has_images() ? to_unit_range(some).flatten(1) : some;
                       }};
  FactorAnalysisOptions fit;
  fit.latent = std::min(settings.latent, rows.columns);
  auto model = fit_factor_analysis(rows, fit, context.progress);
  for (auto* part : {&model.mean, &model.loading, &model.noise}) {
    *part = part->to(torch::kFloat32).contiguous();
    if (context.share) context.share(*part);
  }
  model.loading.mul_(std::sqrt(settings.factor_variance));
  return model;
}

void draw_on_cpu(const FactorImages& images, int64_t step) {
  parallel_rows(images.count, int64_t{images.dimensions} * images.latent, [&](int64_t begin, int64_t end) {
    std::vector<float> vector(2 * static_cast<size_t>(images.latent_pairs()));
    for (int64_t n = begin; n < end; ++n) {
      const auto image = images.image(step, n);
      for (int32_t pair = 0; pair < images.latent_pairs(); ++pair) images.draw_latent(image, pair, vector.data());
      for (int32_t pair = 0; pair < images.pixel_pairs(); ++pair) images.draw_pixels(image, pair, vector.data());
    }
  });
}

class FactorSource final : public OutsideSource, public OutsideStock {
 public:
  FactorSource(const SettingValues& settings, const OutsideContext& context)
      : settings_(settings),
        model_(fitted(settings_, context)),
        deviation_(model_.noise.sqrt()),
        shape_(image_shape(context.train)),
        seed_(context.seed) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    const SampleImagesOptions options{settings_.scale(batch.whole), settings_.squash,
                                      FactorImages::step_seed(seed_, batch.step)};
    return sample_images(model_, batch.whole, shape_, options).narrow(0, batch.first, batch.count);
  }

  Images images(const OutsideBatch& any) override {
    const auto there = model_.mean.options().dtype(torch::kUInt8);
    drawn_ = torch::zeros({any.count, shape_.channels, shape_.height, shape_.width}, there);
    kernel_ = {model_.mean.data_ptr<float>(),
               model_.loading.data_ptr<float>(),
               deviation_.data_ptr<float>(),
               static_cast<int32_t>(model_.loading.size(0)),
               static_cast<int32_t>(model_.loading.size(1)),
               static_cast<float>(settings_.scale_low),
               static_cast<float>(settings_.scale_high - settings_.scale_low),
               settings_.scale(any.whole).batch,
               settings_.squash == Squash::kClip,
               seed_,
               any.first,
               any.count,
               drawn_.data_ptr<uint8_t>()};
    return {drawn_, {}};
  }

  void draw(const int64_t* step) override {
#if defined(PRIORNET_CUDA)
    if (drawn_.is_cuda()) return launch_factor_images(kernel_, step, current_cuda_stream());
#endif
    draw_on_cpu(kernel_, *step);
  }

 private:
  FactorSettings settings_;
  FactorAnalysis model_;
  torch::Tensor deviation_;  ///< of the noise
  ImageShape shape_;
  uint64_t seed_;
  torch::Tensor drawn_;  ///< by the kernel
  FactorImages kernel_{};
};

// Rows float32 [count, D] with the inflated covariance of the training set.
class FactorRows final : public OutsideSource {
 public:
  FactorRows(const SettingValues& settings, const OutsideContext& context)
      : settings_(settings),
        model_(fitted(settings_, context)),
        seed_(context.seed),
        tails_drawn_in_(context.tails_drawn_in) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    const auto seed = seed_of_step(seed_, batch.step);
    auto rows = sample(model_, batch.whole, settings_.scale(batch.whole), seed);
    // Every other row lies far out, up to kFarthest times as far: networks grow certain of themselves in regions
    // without training data.
    constexpr double kFarthest = 100.0;
    auto generator = make_generator(derive_seed(seed, "far out"));
    auto farther = torch::exp(std::log(kFarthest) * torch::rand({batch.whole, 1}, generator)).to(rows.device());
    farther.slice(0, 0, batch.whole, 2).fill_(1.0);
    rows = model_.mean + (rows - model_.mean) * farther;
    if (tails_drawn_in_) rows = draw_in_tails(rows);
    return rows.narrow(0, batch.first, batch.count);
  }

 private:
  FactorSettings settings_;
  FactorAnalysis model_;
  uint64_t seed_;
  bool tails_drawn_in_;
};

OutlierSourceInfo factor_analysis_source() {
  return {.name = kFactorAnalysis,
          .summary =
              "a factor analysis of the training set with inflated variance; every second row of a table lies far out",
          .settings = {kLatent, kScaleLow, kScaleHigh, kFactorVariance, kScaleEachSample, kSquash},
          .images = made_outside<FactorSource>,
          .rows = made_outside<FactorRows>,
          .refusal = [](const SettingValues& settings) -> std::string {
            return settings.at(kScaleLow.key) <= settings.at(kScaleHigh.key)
                       ? ""
                       : "outside.scale_low should be at most outside.scale_high";
          }};
}

constexpr int64_t kMostFactorDimensions = 3072;  // the covariance is a square matrix of them
constexpr int64_t kKeptImages = 10'000;          // to cut tiles and take backgrounds from

/// A quarter of each batch comes from a factor analysis of the training images (or is Gaussian noise if they have too
/// many pixels for one), a half is random shapes in front of their backgrounds, a quarter is their tiles in another
/// order: a network should learn outside inputs of many kinds.
class MixtureSource final : public OutsideSource {
 public:
  MixtureSource(const SettingValues& settings, const OutsideContext& context)
      : shape_(image_shape(context.train)), device_(context.device), seed_(context.seed) {
    const auto& train = context.train;
    pixels_ = make_outside(
        {train.inputs[0].numel() <= kMostFactorDimensions ? kFactorAnalysis : kGaussianNoise, settings, {}}, context);
    images_ = (train.size() > kKeptImages ? random_subset(train, kKeptImages, seed_)
               : train.rows.defined()     ? select(train, torch::arange(train.size(), torch::kInt64))
                                          : train)
                  .inputs.to(torch::kCPU);
    backgrounds_ = background_colours(images_);
  }

  torch::Tensor batch(const OutsideBatch& batch) override {
    const auto quarter = batch.whole / 4;
    const auto seed = [&](const char* what) { return derive_seed(seed_, fmt::format("{} {}", what, batch.step)); };
    const auto whole = torch::cat({pixels_->batch({batch.step, quarter, 0, quarter}).to(torch::kCPU),
                                   shuffled_tiles(quarter, images_, seed("tiles")),
                                   random_shapes(batch.whole - 2 * quarter, shape_, backgrounds_, seed("shapes"))});
    return whole.narrow(0, batch.first, batch.count).to(device_);
  }

 private:
  ImageShape shape_;
  torch::Device device_;
  uint64_t seed_;
  std::unique_ptr<OutsideSource> pixels_;
  torch::Tensor images_;
  torch::Tensor backgrounds_;
};

OutlierSourceInfo mixture_source() {
  const auto factors = factor_analysis_source();
  auto settings = factors.settings;
  for (const auto& setting : gaussian_noise_source().settings) settings.push_back(setting);
  return {.name = kMixture,
          .summary = "images of several kinds: factor analysis, shapes, shuffled tiles",
          .settings = settings,
          .images = made_outside<MixtureSource>,
          .refusal = factors.refusal};
}

constexpr const char* kTable = "outside";

// Another set in a shuffled order, again and again. A set that does not fit on the device stays on the host.
class SetSource final : public OutsideSource, public OutsideStock {
 public:
  SetSource(torch::Tensor images, uint64_t seed, const torch::Device& device)
      : images_(images.contiguous()),
        seed_(seed),
        device_(device),
        streamed_(images_.is_cpu() && (!device.is_cpu() || !fits_on(device, static_cast<int64_t>(images_.nbytes())))),
        order_(images_.size(0), seed, images_.device()) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    if (streamed_ && is_streamed(batch)) return stream_->rows(batch.step).clone();
    return images_.index_select(0, order_.rows(batch.step * batch.whole + batch.first, batch.count)).to(device_);
  }

  Images images(const OutsideBatch& any) override {
    if (!streamed_) return {images_, order_.ring(any.count)};
    begin_stream(any);
    return {stream_->ring(), {nullptr, 0, stream_->ring().size(0)}};
  }

  void prepare(const OutsideBatch& batch) override {
    if (streamed_)
      stream_->prepare(batch.step);
    else
      order_.hold(batch.step * batch.whole + batch.first, batch.count);
  }

 private:
  // Training's batches come from the stream; the few others, which validation asks for, do not.
  bool is_streamed(const OutsideBatch& batch) {
    if (!stream_) begin_stream(batch);
    return batch.whole == rows_.whole && batch.first == rows_.part.first && batch.count == rows_.part.count;
  }

  void begin_stream(const OutsideBatch& any) {
    rows_ = {any.whole, {any.first, any.count}, {}};
    stream_ = stream_in_order(images_, seed_, device_, rows_);
  }

  torch::Tensor images_;
  uint64_t seed_;
  torch::Device device_;
  bool streamed_;
  BatchOrder order_;
  StepRows rows_{};
  std::shared_ptr<RowStream> stream_;
};

std::unique_ptr<OutsideSource> outside_by_name(const std::string& name, const SettingValues& given,
                                               const OutsideContext& context) {
  const auto table = choices_of(outlier_sources());
  const auto place = place_of(table, kTable, name);
  const auto& source = outlier_sources()[place];
  const auto settings = settings_of(table, kTable, place, given);
  const bool has_images = context.train.has_images();
  const auto make = has_images ? source.images : source.rows;
  if (make == nullptr)
    throw ConfigError(fmt::format("outside.source {} is for {}, and {} has none", name,
                                  has_images ? "rows of numbers" : "images", context.train.name));
  return make(settings, context);
}

}  // namespace

const std::vector<OutlierSourceInfo>& outlier_sources() {
  // A new source is a function above that returns its row, and its name here. Configurations show them in this order.
  static const std::vector<OutlierSourceInfo> all = {factor_analysis_source(), gaussian_noise_source(),
                                                     uniform_noise_source(), mixture_source()};
  return all;
}

std::unique_ptr<OutsideSource> outside_images(torch::Tensor images, uint64_t seed,
                                              const std::optional<torch::Device>& device) {
  const auto there = device.value_or(images.device());
  return std::make_unique<SetSource>(std::move(images), seed, there);
}

bool is_set(const std::string& source) {
  return std::none_of(outlier_sources().begin(), outlier_sources().end(),
                      [&](const auto& row) { return row.name == source; });
}

std::string refusal_of(const OutsideOptions& options) {
  const bool adds = options.added.value_or(0) > 0;
  if (adds && !is_set(options.source)) return "outside.added adds images to a set: outside.source should name a set";
  if (!adds && is_set(options.source)) return "";
  const auto table = choices_of(outlier_sources());
  const auto place = place_of(table, kTable, adds ? kMixture : options.source);
  const auto refusal = outlier_sources()[place].refusal;
  return refusal == nullptr ? "" : refusal(settings_of(table, kTable, place, options.settings));
}

std::unique_ptr<OutsideSource> make_outside(const OutsideOptions& options, const OutsideContext& context) {
  if (!is_set(options.source)) return outside_by_name(options.source, options.settings, context);
  if (!context.train.has_images())
    throw ConfigError(
        fmt::format("outside.source {} is for images, and {} has none", options.source, context.train.name));
  LoadOptions load;
  load.progress = &context.progress;
  auto images = fit_to(load_set(options.source, load), image_shape(context.train)).inputs;
  if (fits_on(context.device, static_cast<int64_t>(images.nbytes()))) images = images.to(context.device);
  if (const auto added = options.added.value_or(0); added > 0) {
    const auto made = outside_by_name(kMixture, options.settings, context)->batch({0, added, 0, added});
    images = torch::cat({images, made.to(images.device())});
  }
  return outside_images(std::move(images), context.seed, context.device);
}

}  // namespace priornet
