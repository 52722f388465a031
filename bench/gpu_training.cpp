#include "gpu_training.h"

#include <algorithm>
#include <chrono>

#include "our_training.h"
#include "plain_training.h"
#include "timing.h"

namespace priornet::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFirstSteps = 10;  // libraries choose kernels, the graph is recorded
constexpr int kRounds = 5;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double seconds_of(const torch::Device& device, int calls, const std::function<void()>& work) {
  wait_for(device);
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) work();
  wait_for(device);
  return since(start) / calls;
}

// Calls that fill a round.
int calls_for(const torch::Device& device, double seconds, const std::function<void()>& work) {
  for (int i = 0; i < kFirstSteps; ++i) work();
  const double once = seconds_of(device, kFirstSteps, work);
  return std::clamp(static_cast<int>(seconds / kRounds / once), 10, 10'000);
}

double median(std::vector<double> rounds) {
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(rounds.begin(), middle, rounds.end());
  return *middle;
}

double median_seconds(const torch::Device& device, double seconds, const std::function<void()>& work) {
  const int calls = calls_for(device, seconds, work);
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(seconds_of(device, calls, work));
  return median(rounds);
}

// Few enough that no queue is full.
double host_seconds_of(const torch::Device& device, const std::function<void()>& work) {
  constexpr int kCalls = 8;
  wait_for(device);
  const auto start = Clock::now();
  for (int i = 0; i < kCalls; ++i) work();
  const double seconds = since(start) / kCalls;
  wait_for(device);
  return seconds;
}

}  // namespace

std::vector<TrainingCase> training_cases(const std::vector<std::string>& networks) {
  std::vector<TrainingCase> all;
  const auto add = [&](const char* network, int64_t half, bool factors) {
    all.push_back({network, "dpn", half, half, factors});
    if (!factors) all.push_back({network, "dnn", 2 * half, 0, false});
  };
  for (const int64_t half : {128, 256, 512}) add("vgg16", half, false);
  add("resnet18", 256, false);
  all.push_back({"wide-resnet-28-10", "dpn", 128, 128});
  all.push_back({"resnet50", "dnn", 128, 0});
  add("vgg6", 128, false);
  add("vgg6", 128, true);
  if (networks.empty()) return all;
  std::erase_if(all, [&](const TrainingCase& what) {
    return std::find(networks.begin(), networks.end(), what.network) == networks.end();
  });
  return all;
}

void measure_training(const torch::Device& device, double seconds, const std::vector<std::string>& networks,
                      const TrainingReport& report) {
  for (const auto& what : training_cases(networks)) {
    TrainingTimes line{what};
    {
      OurTraining ours(what, device, true);
      line.operations = ours.operations_per_image() * static_cast<double>(what.images());
      line.seconds = median_seconds(device, seconds, [&] { ours.step(); });
      line.host_seconds = host_seconds_of(device, [&] { ours.step(); });
    }
    PlainTraining plain(what, device, true);
    line.plain_seconds = median_seconds(device, seconds, [&] { plain.step(); });
    report(line);
  }
}

void measure_training_ways(const torch::Device& device, double seconds, const WayReport& report) {
  struct Way {
    const char* name;
    bool TrainingWays::*member;
  };
  constexpr Way kWays[] = {{"recording", &TrainingWays::recording},
                           {"fused convolutions", &TrainingWays::fused},
                           {"kernel batches", &TrainingWays::kernel_batches}};
  for (const auto& [network, half] : {std::pair{"vgg16", 256}, {"resnet18", 256}, {"vgg6", 128}}) {
    const TrainingCase what{network, "dpn", half, half};
    OurTraining with(what, device, true);
    const int calls = calls_for(device, seconds, [&] { with.step(); });
    for (const auto& [name, member] : kWays) {
      TrainingWays ways;
      ways.*member = false;
      OurTraining without(what, device, true, ways);
      const int calls_without = calls_for(device, seconds, [&] { without.step(); });
      std::vector<double> rounds, rounds_without;
      for (int i = 0; i < kRounds; ++i) {
        rounds.push_back(seconds_of(device, calls, [&] { with.step(); }));
        rounds_without.push_back(seconds_of(device, calls_without, [&] { without.step(); }));
      }
      report({what, name, median(rounds), median(rounds_without)});
    }
  }
}

void measure_training_parts(const torch::Device& device, double seconds, const PartReport& report) {
  for (const char* network : {"vgg16", "vgg6"}) {
    for (const bool factors : {false, true}) {
      if (factors && std::string(network) != "vgg6") continue;
      const TrainingCase what{network, "dpn", 128, 128, factors};
      OurTraining ours(what, device, true);
      const auto shape = model_of(what).input;
      const double bytes = static_cast<double>(what.images() * shape[0] * shape[1] * shape[2] * (1 + 2));
      report({std::string("batch 128 + 128, ") + network + (factors ? ", factors" : ""),
              median_seconds(device, seconds, [&] { ours.batch(); }), bytes});
      if (factors) continue;
      // The gradient twice; values and two moments read and written.
      report({std::string("NAdam with clipping, ") + network, median_seconds(device, seconds, [&] { ours.update(); }),
              8.0 * sizeof(float) * static_cast<double>(ours.parameters())});
    }
  }
}

}  // namespace priornet::bench
