#include <fmt/format.h>
#include <priornet/learning/odin.h>
#include <priornet/uncertainty/errors.h>

#include "learning/runs/detector_list.h"

namespace priornet::detectors {

void check_width(const char* detector, const torch::Tensor& rows, int64_t wanted) {
  if (!rows.defined() || rows.dim() != 2 || rows.size(1) != wanted)
    throw ArgumentError(fmt::format("{}: should look at rows of {} numbers, found {}", detector, wanted,
                                    !rows.defined() || rows.dim() != 2 ? "none" : std::to_string(rows.size(1))));
}

torch::Tensor over_members(const torch::Tensor& values, const torch::Tensor& logits) {
  return logits.dim() == 3 ? values.mean(0) : values;
}

torch::Tensor energy_of(const torch::Tensor& logits) {
  return over_members(-torch::logsumexp(logits.to(torch::kFloat64), -1), logits);
}

namespace {

class MeasureDetector : public Detector {
 public:
  explicit MeasureDetector(std::string name) : name_(std::move(name)) {}

  torch::Tensor score(const DetectorInputs& batch) const override {
    const auto exact = batch.logits.to(torch::kFloat64);
    if (name_ == "energy") return energy_of(exact);
    for (const auto& [name, values] :
         measure_columns(exact, batch.dirichlet ? LogitKind::kDirichlet : LogitKind::kSoftmax))
      if (name == name_) return values;
    throw ArgumentError(fmt::format("{}: logits of this kind do not give it", name_));
  }

 private:
  std::string name_;
};

class MaxLogit : public Detector {
 public:
  torch::Tensor score(const DetectorInputs& batch) const override {
    return -over_members(batch.logits.to(torch::kFloat64), batch.logits).amax(-1);
  }
};

// Sum over the likeliest classes of (p (1 - p))^gamma.
class Gen : public Detector {
 public:
  torch::Tensor score(const DetectorInputs& batch) const override {
    constexpr int64_t kClasses = 100;
    constexpr double kGamma = 0.1;
    const auto p = over_members(torch::softmax(batch.logits.to(torch::kFloat64), -1), batch.logits);
    const auto likeliest = std::get<0>(p.topk(std::min(kClasses, p.size(1)), 1));
    // For the likeliest class, 1 - p is the sum of the others: a difference would round it away.
    const auto largest = p.argmax(1, true);
    const auto others = p.scatter(1, largest, 0.0).sum(1, true);
    const auto rest = torch::cat({others, 1.0 - likeliest.narrow(1, 1, likeliest.size(1) - 1)}, 1);
    return (likeliest * rest).pow(kGamma).sum(1);
  }
};

class Odin : public Detector {
 public:
  torch::Tensor score(const DetectorInputs& batch) const override {
    if (batch.networks == nullptr) throw ArgumentError("odin: needs the networks, and there are none");
    return odin_score(*batch.networks, batch.inputs, {});
  }
};

}  // namespace

Made measure(const std::string& name) { return std::make_unique<MeasureDetector>(name); }
Made max_logit() { return std::make_unique<MaxLogit>(); }
Made gen() { return std::make_unique<Gen>(); }
Made odin() { return std::make_unique<Odin>(); }

}  // namespace priornet::detectors
