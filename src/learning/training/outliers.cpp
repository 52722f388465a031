#include <priornet/learning/outliers.h>

#include <fmt/format.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>

#include <algorithm>

#include "learning/training/batch_order.h"
#include "learning/training/outlier_sources.h"
#include "learning/training/outside_stock.h"

namespace priornet {
namespace {

constexpr const char* kTable = "outside";

// Another set, gone through in an order of its own, again and again.
class SetSource final : public OutsideSource, public OutsideStock {
 public:
  SetSource(torch::Tensor images, uint64_t seed)
      : images_(images.contiguous()), order_(images_.size(0), seed, images_.device()) {}

  torch::Tensor batch(const OutsideBatch& batch) override {
    return images_.index_select(0, order_.rows(batch.step * batch.whole + batch.first, batch.count));
  }

  Images images(const OutsideBatch& any) override { return {images_, order_.ring(any.count)}; }

  void prepare(const OutsideBatch& batch) override { order_.hold(batch.step * batch.whole + batch.first, batch.count); }

 private:
  torch::Tensor images_;
  BatchOrder order_;
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
    throw ConfigError(fmt::format("outside.source {} is for {}, which {} has none of", name,
                                  has_images ? "rows of numbers" : "images", context.train.name));
  return make(settings, context);
}

}  // namespace

uint64_t seed_of_step(uint64_t seed, int64_t step) { return derive_seed(seed, fmt::format("step {}", step)); }

const std::vector<OutlierSourceInfo>& outlier_sources() {
  static const auto all = listed_outlier_sources();
  return all;
}

std::unique_ptr<OutsideSource> outside_images(torch::Tensor images, uint64_t seed) {
  return std::make_unique<SetSource>(std::move(images), seed);
}

bool is_set(const std::string& source) {
  return std::none_of(outlier_sources().begin(), outlier_sources().end(),
                      [&](const auto& row) { return row.name == source; });
}

std::string refusal_of(const OutsideOptions& options) {
  const bool adds = options.added.value_or(0) > 0;
  if (adds && !is_set(options.source)) return "outside.added joins images to a set: outside.source should name one";
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
        fmt::format("outside.source {} is for images, which {} has none of", options.source, context.train.name));
  LoadOptions load;
  load.progress = &context.progress;
  auto images = fit_to(load_set(options.source, load), image_shape(context.train)).inputs.to(context.device);
  if (const auto added = options.added.value_or(0); added > 0)
    images = torch::cat({images, outside_by_name(kMixture, options.settings, context)->batch({0, added, 0, added})});
  return outside_images(std::move(images), context.seed);
}

}  // namespace priornet
