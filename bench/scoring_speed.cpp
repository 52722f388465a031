#include "scoring_speed.h"

#include <fmt/format.h>
#include <priornet/deploy/predictor.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/scoring.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measures.h>
#include <priornet/uncertainty/random.h>

#include <chrono>
#include <ctime>
#include <limits>

#include "timing.h"

namespace priornet::bench {
namespace {

constexpr int64_t kDropoutSamples = 20;
constexpr int64_t kMembers = 5;
constexpr int64_t kClasses = 10;

struct Work {
  TrainedRun run;
  Dataset images;
  ScoringOptions options;
};

const char* usual_network(const torch::Device& device) { return device.is_cpu() ? "vgg6" : "vgg16"; }

/// `keep`: of dense layers; convolutions have the authors' min(keep + 0.3, 1).
TrainedRun untrained(const torch::Device& device, const std::string& network, int64_t members, double keep) {
  TrainedRun run;
  run.config.model.name = network;
  run.config.model.input = device.is_cpu() ? std::vector<int64_t>{1, 28, 28} : std::vector<int64_t>{3, 32, 32};
  run.config.model.classes = kClasses;
  if (keep < 1.0) {
    run.config.model.keep_dense = keep;
    run.config.model.keep_convolution = std::min(keep + 0.3, 1.0);
  }
  for (int64_t m = 0; m < members; ++m) {
    auto member = make_model(run.config.model, make_generator(static_cast<uint64_t>(m)));
    member->to(device);
    to_channels_last(*member);
    run.members.push_back(std::move(member));
  }
  return run;
}

Work with_images(TrainedRun run, const torch::Device& device) {
  Work work{std::move(run), {}, {}};
  auto shape = work.run.members[0]->input_shape();
  shape.insert(shape.begin(), device.is_cpu() ? 50 : 20'000);
  work.images.name = "random";
  work.images.inputs = torch::randint(256, shape, torch::TensorOptions(device).dtype(torch::kUInt8));
  work.options.bfloat16 = !device.is_cpu();
  return work;
}

Work work_of(const torch::Device& device, const std::string& network, int64_t members, double keep,
             int64_t dropout_samples) {
  auto work = with_images(untrained(device, network, members, keep), device);
  work.options.dropout_samples = dropout_samples;
  return work;
}

// As many training inputs as the k-nearest-neighbours detector keeps.
std::vector<NamedDetector> fitted(const std::vector<std::string>& names, const Work& work) {
  NoProgress progress;
  auto shape = work.images.inputs.sizes().vec();
  shape[0] = kNeighbourReferences;
  const auto classes = work.run.members[0]->classes();
  return fit_detectors(names, work.run.members,
                       {torch::randint(256, shape, work.images.inputs.options()),
                        torch::arange(kNeighbourReferences, torch::kInt64) % classes, true, 0},
                       progress);
}

double images_per_second(Work& work, double seconds, const std::function<void(const torch::Tensor&)>& measure) {
  using Clock = std::chrono::steady_clock;
  const auto device = work.run.device();
  const auto once = [&] {
    NoProgress progress;
    std::vector<NamedTensor> columns;
    measure(run_logits(work.run, work.images, work.options, progress, &columns));
  };
  once();
  wait_for(device);
  const auto begin = Clock::now();
  std::chrono::duration<double> taken{};
  int64_t rounds = 0;
  do {
    once();
    wait_for(device);
    ++rounds;
    taken = Clock::now() - begin;
  } while (taken.count() < seconds);
  return static_cast<double>(rounds * work.images.size()) / taken.count();
}

// One pass, then the same with detectors, to see their extra cost.
void measure_detectors(Work& one, const std::string& name, double seconds, const ScoringReport& report) {
  const auto on_cpu = one.run.device().is_cpu();
  const auto measured = [&](const torch::Tensor& logits) {
    if (one.run.gives_dirichlet()) return void(dirichlet_measures(logits));
    softmax_measures(logits);
  };
  one.options.detectors.clear();
  report({name + ", one pass", 1, images_per_second(one, seconds, measured), true});
  const auto every = usable_detectors(*one.run.members[0], false);
  std::vector<std::pair<std::string, std::vector<std::string>>> ways = {
      {"and what its verdict watches", watched_detectors(*one.run.members[0])}};
  if (!on_cpu)  // where it takes a moment
    for (const auto& each : every) ways.push_back({"and " + each, {each}});
  ways.emplace_back("and every detector but ODIN", every);
  for (const auto& [how, names] : ways) {
    one.options.detectors = fitted(names, one);
    report({how, 1, images_per_second(one, seconds, measured)});
  }
}

}  // namespace

void measure_scoring(const torch::Device& device, double seconds, const ScoringReport& report) {
  const torch::NoGradGuard no_gradient;
  const std::string network = usual_network(device);
  auto one = work_of(device, network, 1, 1.0, 0);
  measure_detectors(one, "Prior Network", seconds, report);
  auto dropout = work_of(device, network, 1, 0.5, kDropoutSamples);
  report({"DNN, dropout samples", kDropoutSamples,
          images_per_second(dropout, seconds, [](const auto& logits) { ensemble_measures(logits); })});
  auto ensemble = work_of(device, network, kMembers, 1.0, 0);
  report({"ensemble of Prior Networks", kMembers, images_per_second(ensemble, seconds, [](const auto& logits) {
            dirichlet_ensemble_measures(logits, {0, 0});
          })});
  if (device.is_cpu()) return;
  auto resnet = work_of(device, "resnet18", 1, 1.0, 0);
  measure_detectors(resnet, "resnet18", seconds, report);
}

void measure_scoring_of(const OpenOptions& open, const std::filesystem::path& model, double seconds,
                        const ScoringReport& report) {
  const torch::NoGradGuard no_gradient;
  auto run = open_model(model, open).run;
  if (run.members.at(0)->input_shape().size() != 3)
    throw ArgumentError(fmt::format("bench: {} should take images", model.string()));
  run.members.resize(1);
  auto one = with_images(std::move(run), open.device);
  measure_detectors(one, model.filename().string(), seconds, report);
}

void measure_prediction(const OpenOptions& open, const std::filesystem::path& model, double seconds,
                        const std::function<void(const PredictionSpeed& line)>& report) {
  Predictor predictor(open_model(model, open));
  const auto& preprocessing = predictor.model().preprocessing;
  for (const int64_t batch : {1, 32, 256}) {
    auto shape = preprocessing.shape;
    shape.insert(shape.begin(), batch);
    const auto inputs = preprocessing.takes_images() ? torch::randint(256, shape, torch::kUInt8) : torch::randn(shape);
    double least = std::numeric_limits<double>::infinity();
    const auto once = [&] {
      const auto begin = std::clock();
      predictor.predict(inputs);
      least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    };
    const auto wall = fastest(seconds, once);
    report({batch, static_cast<double>(batch) / wall, static_cast<double>(batch) / least});
  }
}

}  // namespace priornet::bench
