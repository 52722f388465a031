#include <ATen/ATen.h>
#include <priornet/learning/inference.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "learning/runs/detector_list.h"
#include "learning/runs/shrunk_gaussian.h"

namespace priornet::detectors {
namespace {

constexpr const char* kReferences = "references";

void check_features(const char* detector, const DetectorInputs& batch) {
  if (!batch.features.defined() || batch.features.dim() != 2 || batch.features.size(0) == 0)
    throw ArgumentError(std::string(detector) + ": should be given features [N, F]");
}

torch::Tensor to_unit_length(const torch::Tensor& rows) { return rows / rows.norm(2, 1, true).clamp_min(1e-12); }

// The distance to the k-th nearest of training features, all of length 1.
class Neighbours : public Detector {
 public:
  void fit(const DetectorInputs& training) override {
    check_features("knn", training);
    const auto rows = training.features.size(0), count = std::min(rows, kNeighbourReferences);
    // At equal distances: rows that are sorted by class leave no class out.
    const auto kept = torch::arange(count, torch::kInt64).mul_(rows).div_(count, "floor");
    keep(kReferences, to_unit_length(training.features.index_select(0, kept.to(training.features.device()))));
  }

  torch::Tensor score(const DetectorInputs& batch) const override {
    constexpr int64_t kBlock = 4096;  // rows, so that their products stay small
    const auto references = exact_references();
    check_width("knn", batch.features, references.size(1));
    const auto k = neighbour_of(references.size(0));
    std::vector<torch::Tensor> distances;
    for (const auto& rows : to_unit_length(batch.features.to(torch::kFloat64)).split(kBlock)) {
      const auto cosine = std::get<0>(rows.matmul(references.t()).topk(k, 1)).select(1, k - 1);
      distances.push_back((2.0 - 2.0 * cosine).clamp_min(0.0).sqrt());
    }
    return distances.empty() ? torch::empty({0}, torch::kFloat64) : torch::cat(distances);
  }

 protected:
  std::vector<Part> parts() const override { return {{kReferences, 2}}; }

 private:
  // In float64: features may point in almost the same direction. Made once, because for a single input this takes ten
  // times as long as the distances.
  torch::Tensor exact_references() const {
    const auto& references = part(kReferences);
    const std::lock_guard lock(making_);
    if (!made_from_.is_same(references)) {
      made_from_ = references;
      exact_ = to_unit_length(references.to(torch::kFloat64));
    }
    return exact_;
  }

  mutable std::mutex making_;
  mutable torch::Tensor made_from_, exact_;
};

}  // namespace

void NearestClass::fit(const DetectorInputs& training) {
  const auto rows = columns(training);
  const auto gaussian = gaussian_of(rows, training.labels);
  keep(kWhitening, gaussian.whitening.to(rows.scalar_type()));
  keep(kCentres, gaussian.centres.to(rows.scalar_type()));
}

ShrunkGaussian NearestClass::gaussian_of(const torch::Tensor& rows, const torch::Tensor& labels) const {
  return fit_shrunk_gaussian(rows, labels);
}

torch::Tensor NearestClass::score(const DetectorInputs& batch) const {
  const auto rows = columns(batch);
  check_width(name(), rows, part(kWhitening).size(0));
  return mahalanobis_distances(rows, part(kWhitening), part(kCentres)).amin(1);
}

void NearestClass::check_state() const {
  if (part(kWhitening).size(1) != part(kCentres).size(1))
    throw ArgumentError(std::string(name()) + ": its centres should fit its whitening");
}

namespace {

class Mahalanobis : public NearestClass {
 protected:
  const char* name() const override { return "mahalanobis"; }
  torch::Tensor columns(const DetectorInputs& batch) const override {
    check_features(name(), batch);
    return batch.features;
  }
};

// The distance to the nearest class less the distance to all training inputs as one class.
class RelativeMahalanobis : public Mahalanobis {
 public:
  void fit(const DetectorInputs& training) override {
    Mahalanobis::fit(training);
    const auto whole = fit_shrunk_gaussian(training.features, {});
    keep(kWholeWhitening, whole.whitening.to(torch::kFloat32));
    keep(kWholeCentre, whole.centres.to(torch::kFloat32));
  }

  torch::Tensor score(const DetectorInputs& batch) const override {
    const auto nearest = Mahalanobis::score(batch);
    return nearest - mahalanobis_distances(batch.features, part(kWholeWhitening), part(kWholeCentre)).select(1, 0);
  }

 protected:
  static constexpr const char* kWholeWhitening = "whole_whitening";
  static constexpr const char* kWholeCentre = "whole_centre";
  std::vector<Part> parts() const override {
    return {{kWhitening, 2}, {kCentres, 2}, {kWholeWhitening, 2}, {kWholeCentre, 2}};
  }
  void check_state() const override {
    Mahalanobis::check_state();
    if (part(kWholeWhitening).size(0) != part(kWhitening).size(0) ||
        part(kWholeWhitening).size(1) != part(kWholeCentre).size(1))
      throw ArgumentError("mahalanobis_relative: its centre should fit its whitening");
  }
};

// How many dimensions the features of the classes take up, as the authors choose it.
int64_t principal_dimensions(int64_t features) {
  return features >= 2048 ? 1000 : features >= 768 ? 512 : features / 2;
}

// The virtual logit: the length of a feature outside the space that training features fill, scaled to the size of
// logits, less the negative energy.
class Vim : public Detector {
 public:
  void fit(const DetectorInputs& training) override {
    check_features("vim", training);
    const auto features = training.features.to(torch::kFloat64);
    const auto size = features.size(1);
    if (size < 2) throw ArgumentError("vim: should be given at least 2 features");
    const auto origin = origin_of(training, size, features.options());
    const auto centred = features - origin;
    const auto vectors = std::get<1>(at::linalg_eigh(centred.t().matmul(centred)));
    const auto rest = vectors.narrow(1, 0, size - principal_dimensions(size));  // eigenvalues ascend
    const auto residual = centred.matmul(rest).norm(2, 1).mean().item<double>();
    const auto largest =
        over_members(training.logits.to(torch::kFloat64).amax(-1), training.logits).mean().item<double>();
    keep("origin", origin.to(torch::kFloat32));
    keep("rest", rest.to(torch::kFloat32));
    keep("scale", torch::full({1}, residual > 0.0 ? largest / residual : 0.0, torch::kFloat32).to(features.device()));
  }

  torch::Tensor score(const DetectorInputs& batch) const override {
    check_width("vim", batch.features, part("origin").size(0));
    const auto centred = batch.features.to(torch::kFloat64) - part("origin");
    return centred.matmul(part("rest").to(torch::kFloat64)).norm(2, 1) * part("scale") + energy_of(batch.logits);
  }

 protected:
  std::vector<Part> parts() const override { return {{"origin", 1}, {"rest", 2}, {"scale", 1}}; }
  void check_state() const override {
    if (part("origin").size(0) != part("rest").size(0) || part("scale").size(0) != 1)
      throw ArgumentError("vim: its tensors should fit each other");
  }

 private:
  // The point where all logits are 0: -W^+ b. 0 if the last layer has no weight and bias.
  static torch::Tensor origin_of(const DetectorInputs& training, int64_t size, const torch::TensorOptions& options) {
    if (training.networks != nullptr) {
      const auto last = training.networks->at(0)->last_parameters();
      if (last.size() == 2 && last[0].dim() == 2 && last[0].size(1) == size && last[1].dim() == 1)
        return -at::linalg_pinv(last[0].detach().to(options)).matmul(last[1].detach().to(options));
    }
    return torch::zeros({size}, options);
  }
};

// The energy of the logits that the last layer makes of changed features.
class ChangedFeatures : public Detector {
 public:
  torch::Tensor score(const DetectorInputs& batch) const override {
    check_features(name(), batch);
    if (batch.networks == nullptr)
      throw ArgumentError(std::string(name()) + ": needs the network's last layer, and there is none");
    auto& network = *batch.networks->at(0);
    const Evaluating evaluating(network);
    return energy_of(network.from_features(changed(batch.features)));
  }

 protected:
  virtual const char* name() const = 0;
  virtual torch::Tensor changed(const torch::Tensor& features) const = 0;
};

// Clips features at the value that nine tenths of the training features do not exceed.
class React : public ChangedFeatures {
 public:
  void fit(const DetectorInputs& training) override {
    check_features("react", training);
    constexpr int64_t kValues = 4'000'000;
    const auto& all = training.features;
    // Whole rows: single values at a stride could all be of a few features.
    const auto step = std::max<int64_t>(1, all.numel() / kValues);
    const auto some = std::get<0>(all.slice(0, 0, all.size(0), step).flatten().sort());
    keep("largest", some[some.numel() * 9 / 10].reshape({1}));
  }

 protected:
  const char* name() const override { return "react"; }
  torch::Tensor changed(const torch::Tensor& features) const override {
    return torch::minimum(features, part("largest"));
  }
  std::vector<Part> parts() const override { return {{"largest", 1}}; }
};

// ASH-S: keeps the largest tenth of each row's features, and scales them up by how much was cut away.
class Ash : public ChangedFeatures {
 protected:
  const char* name() const override { return "ash"; }
  torch::Tensor changed(const torch::Tensor& features) const override {
    const auto kept = std::max<int64_t>(1, (features.size(1) + 5) / 10);
    const auto least = std::get<0>(features.topk(kept, 1)).narrow(1, kept - 1, 1);
    const auto sparse = torch::where(features >= least, features, torch::zeros_like(features));
    const auto all = features.clamp_min(0).sum(1, true);
    const auto left = sparse.clamp_min(0).sum(1, true);
    return sparse * torch::where(left > 0, all / left.clamp_min(1e-30), torch::zeros_like(left)).exp();
  }
};

}  // namespace

Made knn() { return std::make_unique<Neighbours>(); }
Made mahalanobis() { return std::make_unique<Mahalanobis>(); }
Made mahalanobis_relative() { return std::make_unique<RelativeMahalanobis>(); }
Made vim() { return std::make_unique<Vim>(); }
Made react() { return std::make_unique<React>(); }
Made ash() { return std::make_unique<Ash>(); }

}  // namespace priornet::detectors
