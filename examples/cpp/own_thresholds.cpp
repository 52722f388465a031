// Thresholds for the logits of your own model, whatever framework it is written in.
//
// Calibration logits come from inputs that the model did not learn from. Of new inputs like them, at most the chosen
// share is rejected. Here a made-up model gives the logits: read your own instead.

#include <priornet/uncertainty.h>

#include <cstdio>

namespace {

constexpr int64_t kClasses = 5;

// What a softmax model might say of familiar inputs: one logit stands out.
torch::Tensor familiar_logits(int64_t count) {
  auto logits = torch::randn({count, kClasses});
  const auto rows = torch::arange(count);
  logits.index_put_({rows, torch::randint(kClasses, {count}, torch::kInt64)}, 8 + torch::randn({count}));
  return logits;
}

// Energy is high where no logit is large, as for inputs that are like no class. Entropy is high where several are.
torch::Tensor energy_of(const torch::Tensor& logits) { return -logits.logsumexp(1).to(torch::kFloat64); }
torch::Tensor entropy_of(const torch::Tensor& logits) { return priornet::entropy(logits).to(torch::kFloat64); }

}  // namespace

int main() {
  torch::manual_seed(1);
  const auto calibration = familiar_logits(2000);
  constexpr double kFalseAlarms = 0.05;
  const auto points = priornet::operating_points({{priornet::Verdict::kUnfamiliar, "energy", energy_of(calibration)},
                                                  {priornet::Verdict::kAmbiguous, "entropy", entropy_of(calibration)}},
                                                 kFalseAlarms);
  for (const auto& watch : points.watches)
    std::printf("%-10s from %s above %.3f\n", priornet::verdict_name(watch.cause).data(), watch.measure.c_str(),
                watch.threshold);

  const auto share_rejected = [&](const torch::Tensor& logits) {
    double rejected = 0;
    for (const auto& decision : priornet::decide(points, {energy_of(logits), entropy_of(logits)}))
      rejected += decision.verdict != priornet::Verdict::kAccept;
    return rejected / static_cast<double>(logits.size(0));
  };
  const auto false_alarms = share_rejected(familiar_logits(10000));
  const auto strange = share_rejected(torch::randn({10000, kClasses}));
  std::printf("rejected: %.1f %% of new familiar inputs, %.1f %% of strange ones\n", 100 * false_alarms, 100 * strange);

  const auto unsure = torch::tensor({{8.0, 7.9, 0.0, 0.0, 0.0}, {0.2, 0.1, 0.0, 0.0, 0.1}}).to(torch::kFloat32);
  for (const auto& decision : priornet::decide(points, {energy_of(unsure), entropy_of(unsure)}))
    std::printf("p-value %.4f: %s, by %s\n", decision.p_value, priornet::verdict_name(decision.verdict).data(),
                decision.watch.c_str());
  return false_alarms < 0.07 && strange > 0.9 ? 0 : 1;
}
