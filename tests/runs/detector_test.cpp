#include <priornet/learning/detector.h>

#include <priornet/learning/inference.h>
#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/learning/odin.h>
#include <priornet/learning/trivial_statistics.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/uncertainty/random.h>
#include <testing/silent.h>
#include <testing/tensors.h>
#include <testing/throws.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learning/runs/detector_list.h"
#include "learning/runs/shrunk_gaussian.h"

// Each detector, compared with its formula row by row.

namespace priornet {
namespace {

using Row = std::vector<double>;

Row row_at(const torch::Tensor& values, int64_t row) {
  const auto exact = values[row].to(torch::kFloat64).contiguous();
  return {exact.data_ptr<double>(), exact.data_ptr<double>() + exact.numel()};
}

torch::Tensor normal(std::vector<int64_t> shape, uint64_t seed) {
  return torch::randn(shape, make_generator(seed), torch::kFloat32);
}

// Three classes of features that overlap, in more columns than some have rows.
DetectorInputs made_up(int64_t count, int64_t columns, uint64_t seed) {
  DetectorInputs inputs;
  inputs.labels = torch::arange(count, torch::kInt64) % 3;
  inputs.features = normal({count, columns}, seed).abs() + inputs.labels.unsqueeze(1) * 0.5;
  inputs.inputs = normal({count, columns}, seed + 1) * 2.0 + 0.3;
  inputs.logits = normal({count, 4}, seed + 2) * 3.0;
  return inputs;
}

// The squared Mahalanobis distance of each row to the nearest centre, by an inverse.
torch::Tensor plain_mahalanobis(const torch::Tensor& training, const torch::Tensor& labels, const torch::Tensor& rows) {
  const auto x = training.to(torch::kFloat64);
  const auto classes = labels.defined() ? labels.max().item<int64_t>() + 1 : 1;
  std::vector<torch::Tensor> means;
  auto centred = x.clone();
  for (int64_t c = 0; c < classes; ++c) {
    const auto mine = labels.defined() ? labels.eq(c).nonzero().squeeze(1) : torch::arange(x.size(0));
    means.push_back(x.index_select(0, mine).mean(0));
    centred.index_put_({mine}, x.index_select(0, mine) - means.back());
  }
  const auto n = x.size(0);
  const auto columns = x.size(1);
  const auto covariance = centred.t().mm(centred) / n;
  const auto mu = covariance.trace().item<double>() / static_cast<double>(columns);
  const auto identity = torch::eye(columns, torch::kFloat64);
  double scatter = 0.0;
  for (int64_t i = 0; i < n; ++i)
    scatter += (torch::outer(centred[i], centred[i]) - covariance).square().sum().item<double>();
  const auto shrinkage =
      std::min(1.0, scatter / static_cast<double>(n * n) / (covariance - mu * identity).square().sum().item<double>());
  const auto precision = ((1 - shrinkage) * covariance + shrinkage * mu * identity).inverse();
  auto nearest = torch::full({rows.size(0)}, INFINITY, torch::kFloat64);
  for (const auto& mean : means) {
    const auto d = rows.to(torch::kFloat64) - mean;
    nearest = torch::minimum(nearest, d.mm(precision).mul(d).sum(1));
  }
  return nearest;
}

torch::Tensor scored(const std::string& name, const DetectorInputs& training, const DetectorInputs& batch) {
  const auto made = make_detector(name);
  made.detector->fit(training);
  return made.detector->score(batch);
}

// scikit-learn's LedoitWolf of the same rows.
TEST(ShrunkGaussian, MatchesScikitLearn) {
  const auto x = rows({{1, 2, 0}, {3, 1, 1}, {2, 5, -1}, {0, 0, 2}, {4, 3, 0.5}, {-1, 2, 1}});
  const auto fitted = fit_shrunk_gaussian(x, {});
  EXPECT_NEAR(fitted.shrinkage, 0.586201906341303, 1e-12);
  EXPECT_TRUE(near(mahalanobis_distances(x, fitted.whitening, fitted.centres).select(1, 0),
                   vector({0.40123088, 1.8574483, 4.11274101, 3.09829751, 2.70691626, 2.63532733}), 1e-7));
}

TEST(ShrunkGaussian, ServesFewRowsConstantColumnsAndManyColumns) {
  auto x = normal({5, 20}, 3).to(torch::kFloat64);
  x.select(1, 4).fill_(7.0);
  const auto few = fit_shrunk_gaussian(x, {});
  EXPECT_TRUE(mahalanobis_distances(x, few.whitening, few.centres).isfinite().all().item<bool>());
  const auto flat = fit_shrunk_gaussian(torch::ones({4, 3}), {});
  EXPECT_TRUE(near(
      mahalanobis_distances(torch::ones({1, 3}), flat.whitening.to(torch::kFloat32), flat.centres.to(torch::kFloat32)),
      torch::zeros({1, 1})));
  const auto many = fit_shrunk_gaussian(normal({40, kMostColumns + 7}, 4), torch::arange(40) % 2);
  EXPECT_EQ(many.whitening.size(0), kMostColumns + 7);
  EXPECT_EQ(many.whitening.size(1), kMostColumns);
  EXPECT_EQ(many.centres.size(0), 2);
  EXPECT_THROW(fit_shrunk_gaussian(torch::ones({1, 3}), {}), ArgumentError);
}

TEST(Detectors, ScoreByWhatTheyLearntLast) {
  const auto first = made_up(60, 8, 10), second = made_up(60, 8, 30), batch = made_up(20, 8, 20);
  for (const auto* name : {"knn", "mahalanobis", "mahalanobis_relative", "vim", "columns_mahalanobis"}) {
    const auto wanted = scored(name, second, batch);
    const auto fitted = make_detector(name), read = make_detector(name);
    for (const auto& one : {fitted, read}) {
      one.detector->fit(first);
      EXPECT_FALSE(one.detector->score(batch).equal(wanted)) << name;
    }
    fitted.detector->fit(second);
    read.detector->set_state(fitted.detector->state());
    for (const auto& one : {fitted, read}) EXPECT_TRUE(one.detector->score(batch).equal(wanted)) << name;
  }
}

TEST(Detectors, MahalanobisIsTheDistanceToTheNearestClass) {
  const auto training = made_up(60, 8, 10);
  const auto batch = made_up(20, 8, 20);
  const auto nearest = plain_mahalanobis(training.features, training.labels, batch.features);
  EXPECT_TRUE(near(scored("mahalanobis", training, batch), nearest, 2e-5));
  EXPECT_TRUE(near(scored("mahalanobis_relative", training, batch),
                   nearest - plain_mahalanobis(training.features, {}, batch.features), 5e-5));
}

TEST(Detectors, NeighboursAreCountedAmongFeaturesOfLengthOne) {
  for (const int64_t references : {300, 2500}) {
    const auto training = made_up(references, 6, 30);
    const auto batch = made_up(15, 6, 31);
    const auto found = scored("knn", training, batch);
    const auto unit = [](Row row) {
      const auto length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
      for (auto& value : row) value /= length;
      return row;
    };
    for (int64_t i = 0; i < 15; ++i) {
      std::vector<double> distances;
      const auto x = unit(row_at(batch.features, i));
      for (int64_t r = 0; r < references; ++r) {
        const auto y = unit(row_at(training.features, r));
        double sum = 0.0;
        for (size_t j = 0; j < x.size(); ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
        distances.push_back(std::sqrt(sum));
      }
      std::sort(distances.begin(), distances.end());
      EXPECT_NEAR(found[i].item<double>(), distances[references == 300 ? 0 : 1], 1e-6);
    }
  }
}

TEST(Detectors, NeighboursKeepABoundedNumber) {
  DetectorInputs training;
  training.features = normal({kNeighbourReferences + 100, 2}, 5);
  const auto made = make_detector("knn");
  made.detector->fit(training);
  ASSERT_EQ(made.detector->state().size(), 1U);
  EXPECT_EQ(made.detector->state()[0].values.size(0), kNeighbourReferences);
  EXPECT_EQ(detectors::neighbour_of(kNeighbourReferences), 5);
}

// Features that were stored class by class: the second class begins where the references would be full.
TEST(Detectors, NeighboursKnowEveryClassOfSortedRows) {
  DetectorInputs training, second;
  const auto around = [](double x, double y, int64_t count) {
    return torch::tensor({x, y}, torch::kFloat64).expand({count, 2}) + 0.01 * normal({count, 2}, 5);
  };
  training.features = torch::cat({around(1, 0, kNeighbourReferences), around(0, 1, kNeighbourReferences)});
  second.features = around(0, 1, 20);
  const auto made = make_detector("knn");
  made.detector->fit(training);
  EXPECT_LT(made.detector->score(second).max().item<double>(), 0.1);
}

// A network of one dense layer on the features.
std::vector<std::shared_ptr<Classifier>> last_layer_of(int64_t features, int64_t classes) {
  ModelOptions options;
  options.name = "mlp";
  options.dense = std::vector<int64_t>{};
  options.input = {features};
  options.classes = classes;
  return {make_model(options, make_generator(6))};
}

torch::Tensor plain_energy(const torch::Tensor& logits) {
  std::vector<double> energies;
  for (int64_t i = 0; i < logits.size(0); ++i) {
    double sum = 0.0;
    for (const auto z : row_at(logits, i)) sum += std::exp(z);
    energies.push_back(-std::log(sum));
  }
  return vector(energies);
}

TEST(Detectors, VimAddsALogitForWhatTrainingFeaturesDoNotFill) {
  const torch::NoGradGuard no_gradient;
  const auto networks = last_layer_of(8, 4);
  auto training = made_up(50, 8, 40);
  auto batch = made_up(12, 8, 41);
  training.networks = batch.networks = &networks;
  const auto weight = networks[0]->last_parameters().at(0).to(torch::kFloat64);
  const auto bias = networks[0]->last_parameters().at(1).to(torch::kFloat64) + 0.0;
  // W is of full rank: W^+ = W' (W W')^-1.
  const auto origin = -weight.t().mm(weight.mm(weight.t()).inverse()).mv(bias);
  const auto centred = training.features.to(torch::kFloat64) - origin;
  const auto v = std::get<2>(torch::svd(centred));
  const auto rest = v.narrow(1, 4, 4);  // 8 / 2 dimensions are principal
  const auto scale = training.logits.amax(1).to(torch::kFloat64).mean() / centred.mm(rest).norm(2, 1).mean();
  const auto residual = (batch.features.to(torch::kFloat64) - origin).mm(rest).norm(2, 1);
  EXPECT_TRUE(near(scored("vim", training, batch), scale * residual + plain_energy(batch.logits), 1e-5));
}

TEST(Detectors, ReactCutsFeaturesOffAndAshKeepsTheLargest) {
  const torch::NoGradGuard no_gradient;
  const auto networks = last_layer_of(20, 4);
  auto training = made_up(30, 20, 50);
  auto batch = made_up(9, 20, 51);
  training.networks = batch.networks = &networks;
  auto all = row_at(training.features.reshape({1, -1}), 0);
  std::sort(all.begin(), all.end());
  const auto cut = batch.features.clamp_max(all[all.size() * 9 / 10]);
  EXPECT_TRUE(near(scored("react", training, batch), plain_energy(networks[0]->from_features(cut)), 1e-6));

  auto shaped = batch.features.clone();
  for (int64_t i = 0; i < shaped.size(0); ++i) {
    auto values = row_at(shaped, i);
    const auto sum = std::accumulate(values.begin(), values.end(), 0.0);
    std::sort(values.rbegin(), values.rend());
    const auto factor = std::exp(sum / (values[0] + values[1]));  // a tenth of 20
    for (int64_t j = 0; j < shaped.size(1); ++j) {
      const auto value = shaped[i][j].item<double>();
      shaped[i][j] = value >= values[1] ? value * factor : 0.0;
    }
  }
  EXPECT_TRUE(near(scored("ash", training, batch), plain_energy(networks[0]->from_features(shaped)), 1e-4));
}

// More values than React sorts, half of which are 1: single values at a stride of 2 would all be of the first feature.
TEST(Detectors, ReactSeesAllFeaturesOfManyRows) {
  const torch::NoGradGuard no_gradient;
  const auto networks = last_layer_of(2, 3);
  auto training = made_up(4, 2, 52), batch = made_up(5, 2, 53);
  training.features = torch::tensor({{0.0F, 1.0F}}).expand({4'100'000, 2});
  training.networks = batch.networks = &networks;
  const auto cut = batch.features.clamp_max(1.0);
  EXPECT_TRUE(near(scored("react", training, batch), plain_energy(networks[0]->from_features(cut)), 1e-6));
}

TEST(Detectors, OfLogitsAlone) {
  const auto batch = made_up(10, 3, 60);
  EXPECT_TRUE(near(scored("max_logit", batch, batch), -batch.logits.amax(1)));
  std::vector<double> wanted;
  for (int64_t i = 0; i < 10; ++i) {
    auto p = row_at(torch::softmax(batch.logits.to(torch::kFloat64), 1), i);
    double sum = 0.0;
    for (const auto value : p) sum += std::pow(value * (1 - value), 0.1);
    wanted.push_back(sum);
  }
  EXPECT_TRUE(near(scored("gen", batch, batch), vector(wanted), 1e-9));
  // If 1 - p rounds to 0, the score still differs from that of certainty: 1e-30^0.1 is 1e-3.
  DetectorInputs sure;
  sure.logits = rows({{30 * std::log(10.0), 0.0}});
  EXPECT_NEAR(scored("gen", sure, sure).item<double>(), 2e-3, 1e-9);
  // For several members: from the mean of their logits, or of their probabilities.
  DetectorInputs several;
  several.logits = torch::stack({batch.logits, batch.logits + 1.0});
  EXPECT_TRUE(near(scored("max_logit", several, several), -batch.logits.amax(1) - 0.5, 1e-6));
}

TEST(Detectors, EveryMeasureIsOne) {
  auto batch = made_up(6, 3, 61);
  batch.dirichlet = true;
  const auto columns = measure_columns(batch.logits.to(torch::kFloat64), LogitKind::kDirichlet);
  for (const auto& [name, values] : columns) {
    if (!is_score(name)) continue;
    const auto* info = find_detector(name);
    ASSERT_NE(info, nullptr) << name;
    EXPECT_TRUE(info->is_measure);
    EXPECT_EQ(info->label, find_measure_by_name(name)->label);
    EXPECT_TRUE(near(info->make()->score(batch), values)) << name;
  }
  EXPECT_TRUE(near(find_detector("energy")->make()->score(batch), plain_energy(batch.logits), 1e-6));
}

TEST(Detectors, OdinAsksTheNetworks) {
  const auto networks = last_layer_of(5, 3);
  auto batch = made_up(4, 5, 62);
  batch.networks = &networks;
  const auto found = make_detector("odin").detector->score(batch);
  EXPECT_TRUE(near(found, odin_score(networks, batch.inputs, {})));
}

TEST(Detectors, OfColumnsSeeOutliersAndACommonShift) {
  const auto training = made_up(200, 6, 70);
  auto batch = made_up(25, 6, 71);
  batch.inputs[0][1] = 400.0;
  batch.inputs[1][2] = -9.0;
  const auto tamed = [](const torch::Tensor& values) {
    auto x = values.to(torch::kFloat64).clone();
    for (int64_t i = 0; i < x.numel(); ++i) {
      auto& one = x.data_ptr<double>()[i];
      if (std::abs(one) > 7.6) one = std::copysign(7.6 + std::log1p(std::abs(one) - 7.6), one);
    }
    return x;
  };
  // Each column is divided by its deviation.
  const auto deviations = tamed(training.inputs).std(0, false);
  const auto x = tamed(training.inputs) / deviations;
  const auto asked = tamed(batch.inputs) / deviations;
  EXPECT_TRUE(near(scored("columns_mahalanobis", training, batch), plain_mahalanobis(x, training.labels, asked), 1e-9));

  // 1' S^-1 (a - m) / sqrt(1' S^-1 1). Both products follow from the squared distance of a + t 1: it grows by 2 t times
  // the first and t^2 times the second.
  const auto distance = [&](double t) { return plain_mahalanobis(x, {}, asked + t); };
  const auto linear = (distance(1.0) - distance(-1.0)) / 4.0;
  const auto square = (distance(1.0) + distance(-1.0)) / 2.0 - distance(0.0);
  EXPECT_TRUE(near(scored("columns_shift", training, batch), (linear / square.sqrt()).abs(), 1e-9));
}

// A file of an older version has no tails; its columns went through asinh.
TEST(Detectors, OfColumnsAreReadAsOlderVersionsKeptThem) {
  const auto batch = made_up(9, 2, 72);
  const auto made = make_detector("columns_shift");
  made.detector->set_state({{"direction", torch::tensor({1.0, 0.0}, torch::kFloat64)},
                            {"mean", torch::tensor({0.5, 0.0}, torch::kFloat64)}});
  EXPECT_TRUE(
      near(made.detector->score(batch), (batch.inputs.select(1, 0).to(torch::kFloat64).asinh() - 0.5).abs(), 1e-12));
}

TEST(Detectors, OfMapsTakeTheStrangestLayer) {
  auto training = made_up(80, 3, 80);
  auto batch = made_up(10, 3, 81);
  for (const uint64_t layer : {1, 2}) {
    training.layers.push_back(normal({80, 6}, 82 + layer) + training.labels.unsqueeze(1));
    batch.layers.push_back(normal({10, 6}, 92 + layer) * 2.0);
  }
  torch::Tensor wanted;
  for (size_t l = 0; l < 2; ++l) {
    const auto of_training = (plain_mahalanobis(training.layers[l], training.labels, training.layers[l]) + 1e-6).log();
    const auto of_batch = (plain_mahalanobis(training.layers[l], training.labels, batch.layers[l]) + 1e-6).log();
    const auto scaled = (of_batch - of_training.mean()) / of_training.std(false);
    wanted = wanted.defined() ? torch::maximum(wanted, scaled) : scaled;
  }
  EXPECT_TRUE(near(scored("layers_mahalanobis", training, batch), wanted, 1e-4));
}

TEST(Detectors, ImageStatisticsAreThoseOfDataCompare) {
  const auto images = torch::randint(0, 256, {6, 3, 7, 9}, make_generator(9), torch::kUInt8);
  const auto columns = detectors::image_columns(images.to(torch::kFloat64) / 127.5 - 1.0);
  const auto wanted = trivial_statistics(images);
  const auto at = [&](const char* name) {
    return std::find_if(wanted.begin(), wanted.end(), [&](const auto& one) { return one.name == name; })->values;
  };
  EXPECT_TRUE(near(columns.select(1, 0), at("mean brightness"), 1e-9));
  EXPECT_TRUE(near(columns.select(1, 1).exp(), at("variance") + 1e-6, 1e-9));
  EXPECT_TRUE(near(columns.select(1, 2).exp(), at("edge energy") + 1e-6, 1e-9));
  EXPECT_TRUE(near(columns.select(1, 3).exp(), at("high-frequency energy") + 1e-6, 1e-6));
  EXPECT_TRUE(near(columns.select(1, 4), at("saturation"), 1e-9));
}

std::shared_ptr<Classifier> small_vgg() {
  ModelOptions options;
  options.name = "vgg6";
  options.blocks = std::vector<std::vector<int64_t>>{{4, 4}, {6, 6}};
  options.dense = std::vector<int64_t>{10};
  options.input = {1, 12, 12};
  options.classes = 3;
  auto network = make_model(options, make_generator(7));
  network->eval();
  return network;
}

TEST(Detectors, OnePassGivesLogitsFeaturesAndLayers) {
  const torch::NoGradGuard no_gradient;
  const auto network = small_vgg();
  const auto images = normal({5, 1, 12, 12}, 11);
  ASSERT_TRUE(network->gives_layers());
  const auto seen = network->activations(images, true);
  EXPECT_TRUE(near(seen.logits, network->forward(images)));
  EXPECT_TRUE(near(seen.features, network->features(images)));
  const auto& maps = dynamic_cast<const Network&>(*network).seen_maps();
  ASSERT_EQ(seen.layers.size(), maps.size());
  EXPECT_GE(maps.size(), 2U);
  // The moments of the first map, computed from all its pixels.
  auto values = images;
  for (size_t i = 0; i <= maps[0]; ++i) values = dynamic_cast<Network&>(*network).plan().layer(i).forward(values);
  const auto channels = values.size(1);
  EXPECT_TRUE(near(seen.layers[0].narrow(1, 0, channels), values.flatten(2).mean(2), 1e-6));
  EXPECT_TRUE(near(seen.layers[0].narrow(1, channels, channels), values.flatten(2).norm(2, 2) / 12.0, 1e-6));
  EXPECT_TRUE(network->activations(images, false).layers.empty());
}

TEST(Detectors, EveryOneIsFittedKeptAndReadAgain) {
  const auto network = small_vgg();
  const std::vector<std::shared_ptr<Classifier>> networks{network};
  DetectorTraining training;
  training.inputs = torch::randint(0, 256, {90, 1, 12, 12}, make_generator(12), torch::kUInt8);
  training.labels = torch::arange(90, torch::kInt64) % 3;
  const auto names = usable_detectors(*network);
  EXPECT_EQ(names, (std::vector<std::string>{"max_logit", "gen", "odin", "react", "ash", "knn", "mahalanobis",
                                             "mahalanobis_relative", "vim", "layers_mahalanobis", "image_statistics"}));
  const auto fitted = fit_detectors(names, networks, training, silent);
  ASSERT_EQ(fitted.size(), names.size());

  std::vector<NamedDetector> again;
  for (const auto& [name, detector] : fitted) {
    again.push_back(make_detector(name));
    again.back().detector->set_state(detector->state());
  }
  AskOptions ask;
  ask.layers = need_layers(fitted);
  int64_t seen = 0;
  ask.on_activations = [&](const torch::Tensor& batch, const Activations& found) {
    const DetectorInputs inputs{batch, found.logits, found.features, found.layers, {}, false, &networks};
    const auto first = detector_columns(fitted, inputs);
    const auto second = detector_columns(again, inputs);
    for (size_t d = 0; d < first.size(); ++d) {
      EXPECT_EQ(first[d].name, names[d]);
      EXPECT_EQ(first[d].values.size(0), batch.size(0));
      EXPECT_TRUE(near(first[d].values, second[d].values)) << names[d];
    }
    seen += batch.size(0);
  };
  InferenceOptions options;
  options.batch = 20;
  const auto logits = logits_of_networks(networks, training.inputs.narrow(0, 0, 50), options, ask);
  EXPECT_EQ(seen, 50);
  EXPECT_TRUE(near(logits, logits_of_networks(networks, training.inputs.narrow(0, 0, 50), options)));
}

// The rows are split into half as many parts as there are rows. Each row is judged by detectors that learnt from all
// other parts.
TEST(Detectors, CrossValidationJudgesEachRowByWhatDidNotLearnFromIt) {
  const auto all = made_up(30, 5, 60);
  const auto judged = cross_validate({"columns_mahalanobis", "columns_shift"}, all.inputs, all.labels);
  ASSERT_EQ(judged.columns.size(), 2U);
  for (const auto& [name, values] : judged.columns) {
    EXPECT_TRUE(values.isfinite().all().item<bool>());
    EXPECT_FALSE(near(values, scored(name, all, all))) << name << ": they learnt from what they judge";
  }
  // A detector that learns from a row far out moves towards that row.
  auto inputs = all.inputs.clone();
  inputs[7].fill_(50.0);
  const auto far = cross_validate({"columns_mahalanobis"}, inputs, all.labels);
  DetectorInputs with = all;
  with.inputs = inputs;
  EXPECT_GT(far.columns[0].values[7].item<double>(), 1.5 * scored("columns_mahalanobis", with, with)[7].item<double>());
  EXPECT_TRUE(near(far.detectors[0].detector->score(with), scored("columns_mahalanobis", with, with)));
  EXPECT_THROWS(ArgumentError, cross_validate({"knn"}, all.inputs, all.labels),
                "cross_validate: knn looks at more than inputs");
  EXPECT_THROW(cross_validate({"columns_shift"}, all.inputs.narrow(0, 0, 3), all.labels.narrow(0, 0, 3)),
               ArgumentError);
}

TEST(Detectors, RefuseADamagedState) {
  const auto training = made_up(40, 4, 100);
  const auto made = make_detector("mahalanobis");
  made.detector->fit(training);
  auto state = made.detector->state();
  state[0].values = state[0].values.clone().fill_(NAN);
  EXPECT_THROWS(ArgumentError, made.detector->set_state(state),
                "detector: its whitening should be finite numbers of rank 2");
  state = {state[1]};
  EXPECT_THROWS(ArgumentError, made.detector->set_state(state), "detector: its state should have 2 tensors, found 1");
  state = {{"whitening", torch::ones({4, 4})}, {"centres", torch::ones({2, 3})}};
  EXPECT_THROWS(ArgumentError, made.detector->set_state(state), "mahalanobis: its centres should fit its whitening");
  state = {{"whitening", torch::ones({5, 5})}, {"centres", torch::ones({2, 5})}};
  made.detector->set_state(state);
  EXPECT_THROWS(ArgumentError, made.detector->score(training),
                "mahalanobis: should look at rows of 5 numbers, found 4");
  EXPECT_THROW(make_detector("knn").detector->score(training), ArgumentError);  // not fitted
}

TEST(Detectors, SayWhatTheyCannotLookAt) {
  const auto rows_network = last_layer_of(5, 3)[0];
  EXPECT_EQ(watched_detectors(*rows_network), (std::vector<std::string>{"columns_mahalanobis", "columns_shift"}));
  EXPECT_EQ(watched_detectors(*small_vgg()), (std::vector<std::string>{"layers_mahalanobis"}));
  EXPECT_EQ(why_not(*find_detector("layers_mahalanobis"), *rows_network),
            "it looks at maps inside the network, which gives none");
  DetectorTraining training;
  training.inputs = torch::ones({4, 5});
  training.labels = torch::zeros({4}, torch::kInt64);
  EXPECT_THROWS(
      ArgumentError, fit_detectors({"image_statistics"}, {rows_network}, training, silent),
      "the detector image_statistics cannot be used: it looks at images, and the network takes rows of numbers");
  EXPECT_THROW(make_detector("entropy"), ArgumentError);
  EXPECT_THROW(make_detector("mahalonobis"), ArgumentError);
}

// The distance of the first column from 0.
class FirstColumn : public Detector {
 public:
  torch::Tensor score(const DetectorInputs& batch) const override {
    return batch.inputs.select(1, 0).abs().to(torch::kFloat64);
  }
};

TEST(Detectors, OthersJoinTheTable) {
  DetectorInfo info;
  info.name = "first_column";
  info.label = "First column";
  info.needs.rows = true;
  info.make = [] { return std::make_unique<FirstColumn>(); };
  register_detector(info);
  EXPECT_THROWS(ArgumentError, register_detector(info), "register_detector: the name first_column is taken");
  info.name = "sure";
  info.direction = Direction::kConfidence;
  EXPECT_THROW(register_detector(info), ArgumentError);
  const auto usable = usable_detectors(*last_layer_of(5, 3)[0]);
  EXPECT_EQ(usable.back(), "first_column");
  const auto batch = made_up(3, 5, 110);
  const auto columns = detector_columns({make_detector("first_column")}, batch);
  EXPECT_TRUE(near(columns.at(0).values, batch.inputs.select(1, 0).abs()));
}

}  // namespace
}  // namespace priornet
