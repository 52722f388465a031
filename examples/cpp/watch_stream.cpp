// A stream of inputs, and the alarm that says when they stop looking like the calibration set.
//
// Without drift, the probability that the alarm ever comes is at most `rate`, however long the stream is. The logits
// here are made up; from input 2001 on the logits of familiar classes are smaller, as if a camera had lost its focus.

#include <priornet/uncertainty.h>

#include <cstdio>

namespace {

constexpr int64_t kClasses = 5;

torch::Tensor logits_of(int64_t count, double evidence) {
  auto logits = torch::randn({count, kClasses});
  logits.index_put_({torch::arange(count), torch::randint(kClasses, {count}, torch::kInt64)},
                    evidence + torch::randn({count}));
  return logits;
}

torch::Tensor energy_of(const torch::Tensor& logits) { return -logits.logsumexp(1).to(torch::kFloat64); }

}  // namespace

int main() {
  torch::manual_seed(1);
  const auto points =
      priornet::operating_points({{priornet::Verdict::kUnfamiliar, "energy", energy_of(logits_of(1000, 8))}}, 0.05);
  priornet::DriftWatch watch(points, 0.01);

  int64_t drift_begins = 2000;
  for (int64_t batch = 0; batch < 40 && !watch.state().alarmed(); ++batch) {
    const auto logits = logits_of(100, batch * 100 < drift_begins ? 8 : 7);
    const auto predictions = logits.argmax(1);
    const auto decisions = priornet::decide(points, {energy_of(logits)}, predictions);
    for (size_t i = 0; i < decisions.size(); ++i)
      watch.add(decisions[i].p_value, predictions[static_cast<int64_t>(i)].item<int64_t>());
    if (batch % 5 == 4 || watch.state().alarmed())
      std::printf("after %4ld inputs: evidence of drift %.3g (%.0f is an alarm)\n", watch.state().inputs,
                  watch.state().value, 1 / watch.rate());
  }
  const auto& state = watch.state();
  if (!state.alarmed()) return 1;
  std::printf("alarm at input %ld; the drift began after input %ld\n", state.alarm_input, drift_begins);
  return state.alarm_input > drift_begins ? 0 : 1;
}
