#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

#include "learning/runs/detector_list.h"
#include "learning/runs/shrunk_gaussian.h"

namespace priornet::detectors {

torch::Tensor tamed(const torch::Tensor& rows, const torch::Tensor& tails) {
  const auto exact = rows.to(torch::kFloat64);
  if (!tails.defined()) return exact.asinh();
  const auto size = exact.abs();
  return torch::where(size > tails, ((size - tails).clamp_min(0.0).log1p() + tails) * exact.sign(), exact);
}

torch::Tensor image_columns(const torch::Tensor& images) {
  if (images.dim() != 4 || images.numel() == 0)
    throw ArgumentError("image_statistics: should look at images [N, C, H, W]");
  const auto unit = (images.to(torch::kFloat64) + 1.0) / 2.0;
  const auto grey = unit.mean(1);
  const auto height = grey.size(1);
  const auto width = grey.size(2);
  const auto mean = grey.mean({1, 2});
  const auto variance = (grey - mean.reshape({-1, 1, 1})).square().mean({1, 2});
  const auto neighbours = static_cast<double>(std::max<int64_t>(1, height * (width - 1) + (height - 1) * width));
  const auto edges = (grey.diff(1, 1).square().sum({1, 2}) + grey.diff(1, 2).square().sum({1, 2})) / neighbours;
  auto fine = torch::zeros_like(mean);
  if (height > 2 && width > 2) {
    const auto at = [&](int64_t row, int64_t column) {
      return grey.narrow(1, row, height - 2).narrow(2, column, width - 2);
    };
    const auto laplacian = 4.0 * at(1, 1) - at(0, 1) - at(2, 1) - at(1, 0) - at(1, 2);
    fine = laplacian.square().mean({1, 2}) / (20.0 * variance + 1e-9);
  }
  constexpr double kDark = 1e-6;  // so that a flat image has a logarithm
  std::vector<torch::Tensor> columns = {mean, (variance + kDark).log(), (edges + kDark).log(), (fine + kDark).log()};
  if (unit.size(1) > 1) columns.push_back((unit.amax(1) - unit.amin(1)).mean({1, 2}));
  return torch::stack(columns, 1);
}

namespace {

void check_tails(const char* detector, const torch::Tensor& tails) {
  if (tails.defined() && (tails.size(0) != 1 || !(tails.item<double>() > 0.0)))
    throw ArgumentError(std::string(detector) + ": its tails should begin at one number above 0");
}

torch::Tensor tails_for(const torch::Tensor& rows) {
  return torch::full({1}, kTails, torch::TensorOptions(rows.device()).dtype(torch::kFloat64));
}

// For columns that the network did not choose.
class ColumnsMahalanobis : public NearestClass {
 public:
  void fit(const DetectorInputs& training) override {
    keep(kTailsPart, tails_for(training.inputs));
    NearestClass::fit(training);
  }

 protected:
  const char* name() const override { return "columns_mahalanobis"; }
  torch::Tensor columns(const DetectorInputs& batch) const override {
    return tamed(batch.inputs, part_or_none(kTailsPart));
  }
  std::vector<Part> parts() const override {
    auto all = NearestClass::parts();
    if (part_or_none(kTailsPart).defined()) all.push_back({kTailsPart, 1});
    return all;
  }
  void check_state() const override {
    NearestClass::check_state();
    check_tails(name(), part_or_none(kTailsPart));
  }
  ShrunkGaussian gaussian_of(const torch::Tensor& rows, const torch::Tensor& labels) const override {
    return fit_gaussian_in_deviations(rows, labels);
  }
};

// |d' S^-1 (a - m)| / sqrt(d' S^-1 d): the best linear test for a shift of all columns by the same number of their
// deviations d. The scale of the rows need not be d: that of a table is robust.
class ColumnsShift : public Detector {
 public:
  void fit(const DetectorInputs& training) override {
    const auto tails = tails_for(training.inputs);
    const auto columns = tamed(training.inputs, tails);
    const auto gaussian = fit_gaussian_in_deviations(columns, {});
    const auto white = column_deviations(columns).matmul(gaussian.whitening);  // of the shift by one deviation
    keep("direction", gaussian.whitening.matmul(white) / white.norm().clamp_min(1e-300));
    keep("mean", columns.mean(0));
    keep(kTailsPart, tails);
  }

  torch::Tensor score(const DetectorInputs& batch) const override {
    check_width("columns_shift", batch.inputs, part("mean").size(0));
    return (tamed(batch.inputs, part_or_none(kTailsPart)) - part("mean")).matmul(part("direction")).abs();
  }

 protected:
  std::vector<Part> parts() const override {
    std::vector<Part> all = {{"direction", 1}, {"mean", 1}};
    if (part_or_none(kTailsPart).defined()) all.push_back({kTailsPart, 1});
    return all;
  }
  void check_state() const override {
    check_tails("columns_shift", part_or_none(kTailsPart));
    if (part("direction").size(0) != part("mean").size(0))
      throw ArgumentError("columns_shift: its direction should have one number per column");
  }
};

class ImageStatistics : public NearestClass {
 protected:
  const char* name() const override { return "image_statistics"; }
  torch::Tensor columns(const DetectorInputs& batch) const override { return image_columns(batch.inputs); }
};

// For each map inside the network, ln of the Mahalanobis distance to the nearest class in deviations of training
// inputs; the score is the largest over the maps.
class LayersMahalanobis : public Detector {
 public:
  void fit(const DetectorInputs& training) override {
    if (training.layers.empty()) throw ArgumentError("layers_mahalanobis: should be given maps inside the network");
    for (size_t l = 0; l < training.layers.size(); ++l) {
      const auto gaussian = fit_shrunk_gaussian(training.layers[l], training.labels);
      keep(name_of(l, kWhitening), gaussian.whitening.to(torch::kFloat32));
      keep(name_of(l, kCentres), gaussian.centres.to(torch::kFloat32));
      const auto distance = log_distance(training.layers[l], l);
      keep(name_of(l, kScale),
           torch::stack({distance.mean(), distance.std(0, false).clamp_min(1e-6)}).to(torch::kFloat32));
    }
  }

  torch::Tensor score(const DetectorInputs& batch) const override {
    if (batch.layers.size() != maps() || batch.layers.empty())
      throw ArgumentError(
          fmt::format("layers_mahalanobis: should look at {} maps, found {}", maps(), batch.layers.size()));
    std::vector<torch::Tensor> each;
    for (size_t l = 0; l < batch.layers.size(); ++l) {
      check_width("layers_mahalanobis", batch.layers[l], part(name_of(l, kWhitening)).size(0));
      const auto& scale = part(name_of(l, kScale));
      each.push_back((log_distance(batch.layers[l], l) - scale[0]) / scale[1]);
    }
    return torch::stack(each).amax(0).to(torch::kFloat64);
  }

 protected:
  static constexpr const char* kWhitening = NearestClass::kWhitening;
  static constexpr const char* kCentres = NearestClass::kCentres;
  static constexpr const char* kScale = "scale";

  size_t maps() const { return state().size() / 3; }
  std::vector<Part> parts() const override {
    std::vector<Part> all;
    for (size_t l = 0; l < maps(); ++l)
      all.insert(all.end(), {{name_of(l, kWhitening), 2}, {name_of(l, kCentres), 2}, {name_of(l, kScale), 1}});
    return all;
  }
  void check_state() const override {
    for (size_t l = 0; l < maps(); ++l)
      if (part(name_of(l, kWhitening)).size(1) != part(name_of(l, kCentres)).size(1) ||
          part(name_of(l, kScale)).size(0) != 2)
        throw ArgumentError("layers_mahalanobis: its tensors should fit each other");
  }

 private:
  static std::string name_of(size_t layer, const char* part) { return fmt::format("layer-{}.{}", layer + 1, part); }

  torch::Tensor log_distance(const torch::Tensor& moments, size_t layer) const {
    const auto distances =
        mahalanobis_distances(moments, part(name_of(layer, kWhitening)), part(name_of(layer, kCentres)));
    return (distances.amin(1) + 1e-6).log();
  }
};

}  // namespace

Made columns_mahalanobis() { return std::make_unique<ColumnsMahalanobis>(); }
Made columns_shift() { return std::make_unique<ColumnsShift>(); }
Made image_statistics() { return std::make_unique<ImageStatistics>(); }
Made layers_mahalanobis() { return std::make_unique<LayersMahalanobis>(); }

}  // namespace priornet::detectors
