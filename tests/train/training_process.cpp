#include <ATen/Parallel.h>
#include <priornet/learning/local_launch.h>
#include <priornet/learning/processes.h>
#include <priornet/learning/training.h>
#include <signal.h>
#include <testing/small_images.h>
#include <unistd.h>

#include "learning/processes/collectives.h"
#include "learning/training/run_processes.h"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>

// One process of a training run, for the tests: training_process FOLDER KEY=VALUE... KEY=STEP@RANK happens in one
// process alone, at one step.

namespace priornet {
namespace {

using Settings = std::map<std::string, std::string>;

struct Event {
  int64_t step = -1;
  int rank = -1;
};

Event event(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  if (found == settings.end()) return {};
  const auto& text = found->second;
  return {std::stoll(text), std::stoi(text.substr(text.find('@') + 1))};
}

int64_t number(const Settings& settings, const std::string& key, int64_t otherwise) {
  const auto found = settings.find(key);
  return found == settings.end() ? otherwise : std::stoll(found->second);
}

TrainConfig config_of(const Settings& settings, int rank) {
  TrainConfig config;
  config.train = "small";
  config.method.settings["alpha0"] = 100;
  config.outside.source = kUniformNoise;
  config.epochs = number(settings, "epochs", 3);
  config.batch = 48;
  config.outside_batch = 48;
  config.schedule.rate = 2e-3;
  if (settings.contains("mlp")) {
    config.model.name = "mlp";
    config.model.dense = {{20, 10}};
    config.method.name = "dnn";
  } else {
    config.model.name = "vgg6";
    config.model.blocks = {{4}, {8}};
    config.model.dense = {{16}};
    config.augmentation.shift = 1;
  }
  if (settings.contains("factors")) {
    config.outside.source = kFactorAnalysis;
    config.outside.settings["latent"] = 5;
  }
  if (const auto other = event(settings, "other_seed"); other.rank == rank) config.seed = other.step;
  return config;
}

TrainingSets sets_of(const Settings& settings) {
  TrainingSets sets{small_images(96, 1), small_images(30, 2), {}};
  if (settings.contains("mlp"))
    for (auto* set : {&sets.train, &*sets.validation}) set->inputs = set->inputs.flatten(1).to(torch::kFloat32) / 255;
  return sets;
}

// Repeats the same exchange with c10d alone, to see what c10d says about a process that ends or hangs.
int run_c10d_alone(const ProcessPlace& place, const Settings& settings) {
  const auto store = open_store(place, {place.rank == 0, std::chrono::seconds(250)});
  const auto collectives = make_gloo(store, place);
  for (int64_t step = 1; step <= 10; ++step) {
    if (const auto [when, rank] = event(settings, "kill"); when == step && rank == place.rank) ::raise(SIGKILL);
    if (const auto [when, rank] = event(settings, "freeze"); when == step && rank == place.rank) ::raise(SIGSTOP);
    if (settings.contains("monitored")) {
      c10d::BarrierOptions options;
      options.timeout = std::chrono::seconds(10);
      collectives->monitoredBarrier(options, /*waitAllRanks=*/true);
    }
    std::vector<torch::Tensor> sum{torch::ones({1})};
    collectives->allreduce(sum)->wait();
  }
  return 0;
}

int run(const std::string& folder, const Settings& settings) {
  at::set_num_threads(1);
  std::optional<LocalProcesses> others;
  if (settings.contains("launch")) others.emplace(LocalLaunch{static_cast<int>(number(settings, "launch", 2)), 2});
  const auto place = others ? others->place() : place_from_environment();
  if (settings.contains("c10d_alone")) return run_c10d_alone(place, settings);
  std::unique_ptr<ProcessGroup> group;
  ProcessPatience watch;
  watch.join = std::chrono::milliseconds(number(settings, "join", 250'000));
  watch.silence = std::chrono::milliseconds(number(settings, "silence", 250'000));
  TrainerOptions options;
  if (settings.contains("cuda")) options.device = torch::Device(torch::kCUDA, 0);
  if (place.processes > 1) group = std::make_unique<ProcessGroup>(place, options.device, watch);
  options.processes = group.get();
  options.resume = settings.contains("resume");
  const auto path = settings.contains("own_folders") ? folder + "/" + std::to_string(place.rank) : folder;
  const auto run_folder =
      settings.contains("own_folders")
          ? RunFolder(path, RunFolder::Start::kResume)
          : open_run_folder(path, options.resume ? RunFolder::Start::kResume : RunFolder::Start::kNew, group.get());
  int64_t steps = 0;
  options.stop = [&] {
    ++steps;
    const auto now = [&](const char* key) {
      const auto [step, rank] = event(settings, key);
      return step == steps && rank == place.rank;
    };
    if (now("kill")) ::raise(SIGKILL);
    if (now("freeze")) ::raise(SIGSTOP);
    if (now("fail")) throw Error("as asked");
    if (const auto pause = number(settings, "pause", 0)) ::usleep(static_cast<useconds_t>(pause * 1000));
    return now("ask");
  };
  NoProgress progress;
  train(config_of(settings, place.rank), sets_of(settings), run_folder, options, progress);
  return 0;
}

}  // namespace
}  // namespace priornet

int main(int argc, char** argv) {
  ::alarm(300);  // no test waits longer, whatever happens
  priornet::Settings settings;
  for (int i = 2; i < argc; ++i) {
    const std::string text = argv[i];
    const auto sign = text.find('=');
    settings[text.substr(0, sign)] = sign == std::string::npos ? "1" : text.substr(sign + 1);
  }
  try {
    return priornet::run(argv[1], settings);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
