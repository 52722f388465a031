// An ensemble of Prior Networks: train_ensemble FOLDER
//
// The library trains three networks on a data set in memory, into a folder that the tool understands too (priornet
// evaluate FOLDER). The answers of an ensemble tell three causes apart: the input is ambiguous, it is unfamiliar, or
// the networks disagree.

#include <priornet/learning.h>
#include <priornet/uncertainty.h>

#include <cstdio>
#include <exception>

namespace {

// Two kinds of rows that overlap: the first column tells them apart, the second is noise.
priornet::Dataset made_up_rows(int64_t count) {
  priornet::Dataset set;
  set.name = "made up";
  set.labels = torch::arange(count) % 2;
  set.inputs = torch::randn({count, 2});
  set.inputs.select(1, 0) += 3 * set.labels.to(torch::kFloat32) - 1.5;
  set.class_names = {"low", "high"};
  set.feature_names = {"signal", "noise"};
  return set;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: train_ensemble FOLDER\n");
    return 2;
  }
  try {
    torch::manual_seed(1);
    const auto rows = made_up_rows(1000);
    auto config =
        priornet::config_for("made up", rows);  // what suits such data; a TOML file does as well: read_config()
    config.members = 3;
    config.epochs = 40;
    const auto sets = priornet::prepare_training_sets(config, rows);
    priornet::EnsembleOptions options;
    options.start = priornet::RunFolder::Start::kForce;
    options.on_member = [](int64_t member) { std::printf("network %ld\n", member); };
    priornet::NoProgress progress;
    priornet::train_run(config, sets, arguments[1], options, progress);

    const auto run = priornet::load_run(arguments[1]);  // it knows how its rows were prepared
    const auto asked = torch::tensor({{1.5, 0.0}, {0.0, 0.0}, {0.0, 30.0}}).to(torch::kFloat32);
    const auto logits = priornet::logits_of_networks(run.members, run.split.standardised(asked), {});  // [3, N, K]
    const auto said = priornet::dirichlet_ensemble_measures(logits);
    const char* places[] = {"clear", "between", "strange"};
    for (int64_t i = 0; i < 3; ++i)
      std::printf("%-8s data %.3f, distributional %.3f, model %.3f\n", places[i],
                  said.expected_entropy[i].item<double>(), said.mutual_information[i].item<double>(),
                  said.mutual_information_y_theta[i].item<double>());
    const bool ranked = said.expected_entropy[0].item<double>() < said.expected_entropy[1].item<double>();
    return ranked && run.split.scale.defined() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_ensemble: %s\n", error.what());
    return 1;
  }
}
