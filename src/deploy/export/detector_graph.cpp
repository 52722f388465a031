#include "deploy/export/detector_graph.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <map>

#include "deploy/export/measure_graph.h"
#include "learning/runs/detector_list.h"

namespace priornet::graph {
namespace {

Value exact(const Value& a) { return a.type() == torch::kFloat64 ? a : cast(a, torch::kFloat64); }

// A detector while it is written down.
class Written {
 public:
  Written(const NamedDetector& detector, const SeenValues& values) : seen(values), detector_(detector) {}

  const SeenValues& seen;

  bool has(const std::string& part) const { return found(part) != detector_.detector->state().end(); }

  const torch::Tensor& tensor(const std::string& part) const {
    const auto found = this->found(part);
    if (found == detector_.detector->state().end())
      throw ArgumentError(fmt::format("export: the detector {} is not fitted: it has no {}", detector_.name, part));
    return found->values;
  }

  /// What it learnt, also in another form. float64.
  Value part(const std::string& part) const { return constant(part, tensor(part)); }
  Value constant(const std::string& name, const torch::Tensor& values) const {
    return seen.logits.owner->tensor(fmt::format("detector_{}.{}", detector_.name, name), values.to(torch::kFloat64));
  }

  Value features() const { return exact(seen.features.value()); }

 private:
  std::vector<NamedTensor>::const_iterator found(const std::string& part) const {
    const auto& state = detector_.detector->state();
    return std::find_if(state.begin(), state.end(), [&](const auto& one) { return one.name == part; });
  }

  const NamedDetector& detector_;
};

Value smallest(const Value& a, int64_t axis) { return -largest(-a, axis); }
Value square(const Value& a) { return a * a; }

// |a|^2 - 2 a b + |b|^2 needs no memory for every row, class and column, and float64 keeps enough digits of the result.
Value squared_distances(const Value& rows, const Value& whitening, const Value& transposed, const Value& lengths) {
  const auto white = matrix_product(exact(rows), whitening);
  return at_least(sum(square(white), 1, true) - 2.0 * matrix_product(white, transposed) + lengths, 0.0);
}

Value nearest_class(const Written& one, const Value& rows, const std::string& whitening, const std::string& centres) {
  const auto means = one.tensor(centres).to(torch::kFloat64);
  return smallest(squared_distances(rows, one.part(whitening), one.constant(centres + ".transposed", means.t()),
                                    one.constant(centres + ".lengths", means.square().sum(1).unsqueeze(0))),
                  1);
}

Value nearest_class(const Written& one, const Value& rows) {
  return nearest_class(one, rows, detectors::NearestClass::kWhitening, detectors::NearestClass::kCentres);
}

Value tamed(const Written& one) {
  const auto x = exact(one.seen.inputs);
  const auto size = abs(x);
  if (one.has(detectors::kTailsPart)) {
    const auto begin = one.tensor(detectors::kTailsPart).item<double>();
    const auto is_far = size > begin;
    const auto tail = log1p(where(is_far, size - begin, 0.0)) + begin;
    return where(is_far, where(x < 0.0, -tail, tail), x);
  }
  // asinh, which runtimes lack in float64.
  const auto tamed = log1p(size + square(size) / (1.0 + square_root(square(size) + 1.0)));
  return where(x < 0.0, -tamed, tamed);
}

// The k-th largest of each row, counting equal values: the largest value that at least k values reach.
Value kth_largest(const Value& rows, int64_t k) {
  constexpr double kBelowAll = -1e30;
  auto found = largest(rows, 1, true);
  for (int64_t i = 1; i < k; ++i) {
    const auto above = sum(cast(found <= rows, torch::kFloat64), 1, true);
    const auto next = largest(where(rows < found, rows, kBelowAll), 1, true);
    found = where(above > static_cast<double>(k) - 0.5, found, next);
  }
  return sum(found, 1);  // of one: without its axis
}

Value over_members(const Value& values, const SeenValues& seen) { return seen.several ? mean(values, 0) : values; }

Value max_logit(const Written& one) { return -largest(over_members(one.seen.logits, one.seen), -1); }

Value gen(const Written& one) {
  const auto p = over_members(softmax(one.seen.logits), one.seen);
  // For a class above one half, 1 - p is the sum of the others: a difference would round it away.
  const auto others = sum(where(p > 0.5, 0.0, p), -1, true);
  const auto rest = where(p > 0.5, others, 1.0 - p);
  return sum(exp(0.1 * log(p * rest)), -1);
}

Value knn(const Written& one) {
  const auto length = square_root(sum(square(one.features()), 1, true));
  const auto rows = one.features() / where(length < 1e-12, 1e-12, length);
  const auto references = one.tensor("references").to(torch::kFloat64);
  const auto unit = references / references.norm(2, 1, true).clamp_min(1e-12);
  const auto cosines = matrix_product(rows, one.constant("references.transposed", unit.t()));
  const auto cosine = kth_largest(cosines, detectors::neighbour_of(references.size(0)));
  return square_root(at_least(2.0 - 2.0 * cosine, 0.0));
}

Value mahalanobis(const Written& one) { return nearest_class(one, one.features()); }

Value mahalanobis_relative(const Written& one) {
  return mahalanobis(one) - nearest_class(one, one.features(), "whole_whitening", "whole_centre");
}

Value vim(const Written& one) {
  const auto rest = matrix_product(one.features() - one.part("origin"), one.part("rest"));
  return square_root(sum(square(rest), 1)) * one.tensor("scale").item<double>() + one.seen.energy;
}

Value react(const Written& one) {
  const auto most = one.tensor("largest").item<double>();
  const auto features = one.seen.features.value();
  const auto logits = exact(one.seen.from_features(where(features > most, most, features)));
  const auto top = largest(logits, -1, true);
  return -(sum(top, -1) + log(sum(exp(logits - top), -1)));
}

Value layers_mahalanobis(const Written& one) {
  std::optional<Value> strangest;
  for (size_t l = 0; l < one.seen.layers.size(); ++l) {
    const auto name = [&](const char* part) { return fmt::format("layer-{}.{}", l + 1, part); };
    const auto scale = one.tensor(name("scale")).to(torch::kCPU, torch::kFloat64);
    const auto distance = log(nearest_class(one, one.seen.layers[l], name(detectors::NearestClass::kWhitening),
                                            name(detectors::NearestClass::kCentres)) +
                              1e-6);
    const auto here = (distance - scale[0].item<double>()) / scale[1].item<double>();
    strangest = strangest ? where(here <= *strangest, *strangest, here) : here;
  }
  return strangest.value();
}

Value columns_mahalanobis(const Written& one) { return nearest_class(one, tamed(one)); }

Value columns_shift(const Written& one) { return abs(sum((tamed(one) - one.part("mean")) * one.part("direction"), 1)); }

using Write = Value (*)(const Written&);

const std::map<std::string, Write>& written_detectors() {
  static const std::map<std::string, Write> all = {{"max_logit", max_logit},
                                                   {"gen", gen},
                                                   {"knn", knn},
                                                   {"mahalanobis", mahalanobis},
                                                   {"mahalanobis_relative", mahalanobis_relative},
                                                   {"vim", vim},
                                                   {"react", react},
                                                   {"layers_mahalanobis", layers_mahalanobis},
                                                   {"columns_mahalanobis", columns_mahalanobis},
                                                   {"columns_shift", columns_shift}};
  return all;
}

}  // namespace

void check_exportable(const NamedDetector& detector, int64_t classes) {
  constexpr int64_t kMostGenClasses = 100;  // it takes the likeliest of more
  if (written_detectors().contains(detector.name) && (detector.name != "gen" || classes <= kMostGenClasses)) return;
  throw ArgumentError(
      fmt::format("export: the detector {} cannot be written for other runtimes: calibrate without it", detector.name));
}

Value detector_value(const NamedDetector& detector, const SeenValues& seen) {
  check_exportable(detector, seen.classes);
  return written_detectors().at(detector.name)(Written(detector, seen));
}

Value channel_moments(const Value& maps) {
  const auto pixel_mean = [](const Value& of) {
    return of.owner->apply("ReduceMean", {of}, {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
  };
  return concatenate({pixel_mean(maps), square_root(pixel_mean(square(maps)))}, 1);
}

}  // namespace priornet::graph
