#pragma once

#include <priornet/learning/detector.h>

#include <memory>

#include "learning/runs/shrunk_gaussian.h"

// The detectors that detector_table() lists, one function that makes each.

namespace priornet::detectors {

using Made = std::unique_ptr<Detector>;

// From logits alone (logit_detectors.cpp).
Made measure(const std::string& name);
Made max_logit();
Made gen();
Made odin();

// From features, the input of the last layer (feature_detectors.cpp).
Made knn();
Made mahalanobis();
Made mahalanobis_relative();
Made vim();
Made react();
Made ash();

// From the maps inside a network, and from the inputs themselves (input_detectors.cpp).
Made layers_mahalanobis();
Made columns_mahalanobis();
Made columns_shift();
Made image_statistics();

/// Which neighbour counts among this many references: one in a thousand, as Sun et al. (2022) take the 50th of 50,000.
constexpr int64_t neighbour_of(int64_t references) { return references < 2000 ? 1 : references / 1000; }

/// The squared Mahalanobis distance to the nearest class of training, in some columns of an input: Gaussians that share
/// a covariance (shrunk_gaussian.h).
class NearestClass : public Detector {
 public:
  void fit(const DetectorInputs& training) override;
  torch::Tensor score(const DetectorInputs& batch) const override;

  static constexpr const char* kWhitening = "whitening";
  static constexpr const char* kCentres = "centres";

 protected:
  virtual const char* name() const = 0;
  /// [N, D].
  virtual torch::Tensor columns(const DetectorInputs& batch) const = 0;
  virtual ShrunkGaussian gaussian_of(const torch::Tensor& rows, const torch::Tensor& labels) const;
  std::vector<Part> parts() const override { return {{kWhitening, 2}, {kCentres, 2}}; }
  void check_state() const override;
};

/// ArgumentError unless rows are [N, wanted].
void check_width(const char* detector, const torch::Tensor& rows, int64_t wanted);

/// Float64 logits [N, K] or [M, N, K]: the mean over the members.
torch::Tensor over_members(const torch::Tensor& values, const torch::Tensor& logits);

/// -ln sum_c exp(z_c), the mean over members.
torch::Tensor energy_of(const torch::Tensor& logits);

/// The transform for the columns of a table, float64: values beyond kTails become kTails + ln(1 + |x| - kTails),
/// because some columns are skewed. The rows of a run lie within it: their tails are drawn in already
/// (training_sets.h), and doing it twice would hide what is far out. `tails`: float64 [1], kTails as the detector keeps
/// it; undefined in files of older versions, which took asinh x.
constexpr double kTails = 7.6;
constexpr const char* kTailsPart = "tails";
torch::Tensor tamed(const torch::Tensor& rows, const torch::Tensor& tails);

/// The statistics of images in [-1, 1] that image_statistics looks at, float64 [N, S].
torch::Tensor image_columns(const torch::Tensor& images);

}  // namespace priornet::detectors
