#include <priornet/learning/inference.h>
#include <priornet/learning/network.h>
#include <priornet/learning/scoring.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/measure_table.h>
#include <priornet/uncertainty/measures.h>
#include <testing/silent.h>
#include <testing/throws.h>
#include <testing/trained_small_run.h>

#include <cmath>

namespace priornet {
namespace {

std::vector<std::string> names_of(const SetScores& scores) {
  std::vector<std::string> names;
  for (const auto& column : scores.columns) names.push_back(column.name);
  return names;
}

void expect_same(const SetScores& a, const SetScores& b) {
  EXPECT_TRUE(a.probabilities.equal(b.probabilities));
  ASSERT_EQ(names_of(a), names_of(b));
  for (size_t i = 0; i < a.columns.size(); ++i)
    EXPECT_TRUE(a.columns[i].values.equal(b.columns[i].values)) << a.columns[i].name;
}

TrainedRun pair_of_runs(const std::string& method) {
  auto run = load_small_run(method);
  run.members.push_back(load_small_run(method).members[0]);
  const torch::NoGradGuard no_gradient;
  for (auto& values : run.members[1]->parameters()) values.mul_(0.9);
  return run;
}

TEST(RunLogits, AreThoseOfTheNetworkWhateverTheBatch) {
  auto run = load_small_run();
  const auto set = small_images(50, 7);
  ScoringOptions options;
  const auto whole = run_logits(run, set, options, silent);
  EXPECT_TRUE(whole.equal(infer(*run.members[0], set.inputs)));
  options.batch = 7;
  EXPECT_TRUE(run_logits(run, set, options, silent).allclose(whole, 1e-5, 1e-5));
  options.noise = 0.5;
  const auto noisy = run_logits(run, set, options, silent);
  EXPECT_FALSE(noisy.allclose(whole, 1e-2, 1e-2));
  options.batch = 50;
  EXPECT_TRUE(run_logits(run, set, options, silent).allclose(noisy, 1e-5, 1e-5));
}

TEST(RunLogits, OfDropoutSamplesFollowTheSeed) {
  auto run = load_small_run("dnn");
  run.members[0]->train();
  const auto set = small_images(40, 7);
  ScoringOptions options;
  options.dropout_samples = 5;
  const auto samples = run_logits(run, set, options, silent);
  EXPECT_EQ(samples.sizes(), (std::vector<int64_t>{5, 40, 3}));
  EXPECT_FALSE(samples[0].equal(samples[1]));
  EXPECT_TRUE(run_logits(run, set, options, silent).equal(samples));
  options.seed = 1;
  EXPECT_FALSE(run_logits(run, set, options, silent).equal(samples));
  EXPECT_TRUE(run.members[0]->is_training());
  // The last layer is linear: where dropout is right, the mean of many samples is the pass without it.
  options.dropout_samples = 4000;
  const auto mean = run_logits(run, set, options, silent).mean(0);
  const auto plain = infer(*run.members[0], set.inputs);
  EXPECT_TRUE(mean.allclose(plain, 0.05, 0.2)) << (mean - plain).abs().max();
}

TEST(RunLogits, LeaveBatchNormInEvaluationMode) {
  TrainedRun run;
  run.config = small_run_config("dnn");
  run.config.model.batch_norm = true;
  run.config.model.input = {1, 8, 8};
  run.config.model.classes = 3;
  run.members = {make_model(run.config.model, make_generator(1))};
  const auto set = small_images(40, 7);
  ScoringOptions options;
  options.dropout_samples = 2;
  const auto before = run.members[0]->buffers()[0].clone();
  run_logits(run, set, options, silent);
  EXPECT_TRUE(run.members[0]->buffers()[0].equal(before));
}

TEST(RunLogits, HoldMembersTimesSamples) {
  auto run = pair_of_runs("dnn");
  const auto set = small_images(10, 7);
  ScoringOptions options;
  EXPECT_EQ(run_logits(run, set, options, silent).sizes(), (std::vector<int64_t>{2, 10, 3}));
  options.dropout_samples = 3;
  EXPECT_EQ(run_logits(run, set, options, silent).sizes(), (std::vector<int64_t>{6, 10, 3}));
}

TEST(RunLogits, FitImagesToTheNetwork) {
  auto run = load_small_run();
  Dataset set{"large", torch::randint(0, 256, {5, 3, 16, 20}, torch::kInt64).to(torch::kUInt8), {}, {}, {}};
  EXPECT_EQ(run_logits(run, set, {}, silent).sizes(), (std::vector<int64_t>{5, 3}));
  set.inputs = torch::rand({5, 4});
  EXPECT_THROWS(DataError, run_logits(run, set, {}, silent), "large: should hold images, holds rows of numbers");
}

TEST(Infer, RefusesWhatWouldNotEndAndLeavesTheNetworkTraining) {
  auto run = load_small_run();
  auto& network = *run.members[0];
  network.train();
  InferenceOptions options;
  options.batch = 0;
  EXPECT_THROWS(ArgumentError, infer(network, small_images(4, 1).inputs, options),
                "infer: batch should be at least 1, found 0");
  EXPECT_THROW(infer(network, torch::zeros({2, 5})), ArgumentError);
  EXPECT_TRUE(network.is_training());
}

TEST(RunLogits, RefuseWhatMakesNoSense) {
  auto config = small_run_config();
  config.model.keep_dense.reset();
  config.epochs = 1;
  const TemporaryFolder folder;
  train_small_run(folder / "run", config);
  auto run = load_run(folder / "run", torch::kCPU);
  ScoringOptions options;
  options.dropout_samples = 5;
  EXPECT_THROWS(ArgumentError, run_logits(run, small_images(4, 1), options, silent),
                "run_logits: the network has no dropout, so its dropout samples would all be the same");
  options.dropout_samples = 0;
  options.batch = -1;
  EXPECT_THROWS(ArgumentError, run_logits(run, small_images(4, 1), options, silent),
                "run_logits: batch should be at least 0, found -1");
  auto rows = small_images(4, 1);
  {
    const torch::NoGradGuard no_gradient;
    run.members[0]->parameters().back().fill_(INFINITY);
  }
  EXPECT_THROWS(DataError, run_logits(run, rows, {}, silent),
                "small: the network's logits for row 0 (counted from 0) are not finite");
  rows.inputs = rows.inputs.narrow(0, 0, 0);
  EXPECT_THROWS(DataError, run_logits(run, rows, {}, silent), "small: is empty: there is nothing to score");
}

/// The scores that the table gives a kind of model, and the energy that all have.
template <class IsGiven>
std::vector<std::string> names_in_table(const IsGiven& is_given) {
  std::vector<std::string> names;
  for (const auto& measure : measure_table())
    if ((is_given(measure) && is_score(measure.name)) || measure.name == "energy") names.emplace_back(measure.name);
  return names;
}

TEST(Scores, HaveTheNamesOfTheMeasures) {
  const auto logits = torch::randn({4, 3});
  const auto members = torch::randn({2, 4, 3});
  EXPECT_EQ(names_of(scores_of_logits(logits, false)), (std::vector<std::string>{"max_prob", "entropy", "energy"}));
  EXPECT_EQ(names_of(scores_of_logits(logits, true)),
            names_in_table([](const Measure& m) { return m.dirichlet != nullptr; }));
  EXPECT_EQ(names_of(scores_of_logits(members, false)),
            (std::vector<std::string>{"max_prob", "entropy", "expected_entropy", "mutual_information", "energy"}));
  const auto all = names_in_table([](const Measure& m) { return m.dirichlet_ensemble != nullptr; });
  EXPECT_EQ(names_of(scores_of_logits(members, true)), all);
  const auto without = scores_of_logits(members, true, 0);
  EXPECT_EQ(without.find("mutual_information_mu_theta"), nullptr);
  EXPECT_EQ(without.columns.size(), all.size() - 1);
}

TEST(Scores, AreTheMeasuresInFloat64) {
  const auto logits = torch::randn({6, 3});
  const auto exact = logits.to(torch::kFloat64);
  const auto scores = scores_of_logits(logits, true);
  EXPECT_TRUE(scores.find("differential_entropy")->equal(differential_entropy(exact)));
  EXPECT_TRUE(scores.probabilities.allclose(expected_categorical(exact), 1e-12, 1e-12));
  EXPECT_TRUE(scores.find("energy")->allclose(-precision(exact).log(), 1e-12, 1e-12));
  // For two members: the mean of the energies, and of the probabilities.
  const auto members = torch::stack({logits, logits + 1});
  const auto both = scores_of_logits(members, false);
  EXPECT_TRUE(both.find("energy")->allclose(*scores.find("energy") - 0.5, 1e-6, 1e-6));
  EXPECT_TRUE(both.probabilities.allclose(scores.probabilities, 1e-6, 1e-6));
}

// Batches of rows give the same as all rows at once. Another fit gives another column, also in the cache.
TEST(Scores, HaveAColumnPerDetector) {
  const TemporaryFolder folder;
  auto run = load_small_run();
  const auto set = small_images(30, 5);
  const auto fitted = [&](uint64_t seed) {
    const auto train = small_images(60, seed);
    return fit_detectors({"gen", "knn", "layers_mahalanobis"}, run.members, {train.inputs, train.labels, true, 0},
                         silent);
  };
  ScoringOptions options;
  options.detectors = fitted(6);
  options.batch = 8;
  const auto scores = cached_score(run, set, options, folder / "", silent);
  const auto plain = score(run, set, {}, silent);
  ASSERT_EQ(scores.columns.size(), plain.columns.size() + 3);
  EXPECT_EQ(scores.columns.back().name, "layers_mahalanobis");
  EXPECT_TRUE(scores.find("entropy")->allclose(*plain.find("entropy"), 1e-5, 1e-5));
  const torch::NoGradGuard no_gradient;
  run.members[0]->eval();
  const auto inputs = network_inputs(set.inputs, 0, torch::kCPU, {});
  const auto seen = run.members[0]->activations(inputs, true);
  for (const auto& [name, values] :
       detector_columns(options.detectors, {inputs, seen.logits, seen.features, seen.layers, {}, true, &run.members}))
    EXPECT_TRUE(scores.find(name)->allclose(values, 1e-4, 1e-4)) << name;

  options.detectors = fitted(7);
  const auto other = cached_score(run, set, options, folder / "", silent);
  EXPECT_FALSE(other.find("knn")->equal(*scores.find("knn")));
  EXPECT_TRUE(other.find("gen")->equal(*scores.find("gen")));
}

TEST(ScoreCache, ComputesOnceAndNeverTrustsWhatChanged) {
  const TemporaryFolder folder;
  const auto cache = folder / "scores";
  auto run = load_small_run();
  const auto set = small_images(30, 5);
  const auto first = cached_score(run, set, {}, cache, silent);
  const auto only_file = [&] { return std::filesystem::directory_iterator(cache)->path(); };
  const auto path = only_file();
  expect_same(first, score(run, set, {}, silent));

  // The stored values are returned: the network is not asked again.
  auto kept = read_tensor_file(path);
  std::vector<NamedTensor> changed;
  for (const auto& [name, values] : kept.tensors) changed.push_back({name, values + 1});
  write_tensor_file(path, changed, kept.metadata);
  EXPECT_TRUE(cached_score(run, set, {}, cache, silent).probabilities.equal(first.probabilities + 1));

  // Damage, other inputs and other weights are noticed.
  auto bytes = bytes_of(path);
  bytes[bytes.size() - 3] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  expect_same(cached_score(run, set, {}, cache, silent), first);
  auto other = set;
  other.inputs = set.inputs.flip(0);
  expect_same(cached_score(run, other, {}, cache, silent), score(run, other, {}, silent));
  expect_same(cached_score(run, set, {}, cache, silent), first);
  run.members[0] = load_small_run("dnn").members[0];
  run.identity = "another";
  expect_same(cached_score(run, set, {}, cache, silent), score(run, set, {}, silent));
}

TEST(ScoreCache, KeepsEachWayOfScoringApart) {
  const TemporaryFolder folder;
  auto run = load_small_run();
  const auto set = small_images(30, 5);
  ScoringOptions noisy;
  noisy.noise = 0.3;
  cached_score(run, set, {}, folder / "", silent);
  expect_same(cached_score(run, set, noisy, folder / "", silent), score(run, set, noisy, silent));
  EXPECT_EQ(folder.names().size(), 2u);
  run.identity.clear();
  noisy.noise = 0.4;
  cached_score(run, set, noisy, folder / "", silent);
  EXPECT_EQ(folder.names().size(), 2u);  // scores of weights without an identity are not kept
}

TEST(ScoreCache, GoesOnWhereItCannotWrite) {
  const TemporaryFolder folder;
  auto run = load_small_run();
  const auto file = folder.file("file", "in the way");
  const auto set = small_images(5, 5);
  expect_same(cached_score(run, set, {}, file, silent), score(run, set, {}, silent));
}

}  // namespace
}  // namespace priornet
