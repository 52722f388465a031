#include <priornet/learning/config.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/training.h>
#include <priornet/learning/training_sets.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_images.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <cmath>

#include "learning/data/npy.h"

namespace priornet {
namespace {

std::string table_text(int64_t rows) {
  std::string text = "height,kind,weight\n";
  for (int64_t i = 0; i < rows; ++i)
    text += std::to_string(100 + i % 7) + (i % 2 == 0 ? ",cat," : ",dog,") + std::to_string(i) + "\n";
  return text;
}

TEST(OwnData, ChoosesByTheKindOfData) {
  const auto images = config_for("./small", small_images(200, 1));
  EXPECT_EQ(images.model.name, "vgg6");
  EXPECT_EQ(images.outside.source, kMixture);
  EXPECT_LE(images.batch, 160);
  Dataset rows{"t", torch::randn({100, 4}), torch::arange(100).remainder(2), {"a", "b"}, {}};
  const auto table = config_for("./t.csv,label=kind", rows);
  EXPECT_EQ(table.model.name, "mlp");
  EXPECT_TRUE(table.standardise.value());
  EXPECT_EQ(table.outside.settings.at("latent"), 4);
  EXPECT_FALSE(table.validation_share) << "few rows are too dear to be watched";
  rows = {"t", torch::randn({1000, 4}), torch::arange(1000).remainder(2), {"a", "b"}, {}};
  EXPECT_EQ(config_for("./t", rows).validation_share, 0.1);
  EXPECT_EQ(to_toml(read_config(TomlText{"", to_toml(table)})), to_toml(table));
  rows.class_names = {"a"};
  EXPECT_THROWS(DataError, config_for("./t", rows), "./t: should have at least 2 classes, has 1");
  EXPECT_THROWS(DataError, config_for("./t", small_images(10, 1)), "./t: should have at least 20 rows, has 10");
  rows.labels = torch::Tensor();
  EXPECT_THROWS(DataError, config_for("./t", rows),
                "./t: has no labels to learn from: give one folder per class, or a CSV with ,label=COLUMN");
}

TEST(OwnData, KeepsEnoughRowsBackForThresholdsOfFivePercent) {
  const auto kept = [](int64_t rows) {
    const auto labels = torch::arange(rows, torch::kInt64).remainder(2);
    const auto config = config_for("./t", {"t", torch::zeros({rows, 2}), labels, {"a", "b"}, {}});
    return std::llround(*config.calibration_share * static_cast<double>(rows));
  };
  EXPECT_EQ(kept(1000), 99) << "with a new one 100, of which 5 % are whole rows";
  EXPECT_EQ(kept(500), 39) << "of 50, no more could be rejected";
  EXPECT_EQ(kept(200), 39);
  EXPECT_EQ(kept(124), 39);
  EXPECT_EQ(kept(100), 19) << "but never more than a third";
  EXPECT_EQ(kept(57), 19);
  EXPECT_EQ(kept(40), 13) << "too few for 5 %, and calibrate says so";
}

TEST(OwnData, LeavesTheLabelMostOfTheTargetHoweverManyTheClasses) {
  for (const int64_t classes : {2, 11, 30, 500}) {
    const std::vector<std::string> names(static_cast<size_t>(classes), "class");
    const auto labels = torch::arange(2 * classes + 20, torch::kInt64).remainder(classes);
    const auto method = config_for("./t", {"t", torch::zeros({labels.size(0), 2}), labels, names, {}}).method;
    EXPECT_NEAR(method.settings.at("alpha0") * method.settings.at("epsilon"), 1, 1e-12);
    EXPECT_GE(1 - static_cast<double>(classes - 1) * method.settings.at("epsilon"), 0.9 - 1e-12);
    EXPECT_GE(method.settings.at("alpha0"), 100);
  }
  const std::vector<std::string> names(30, "class");
  const Dataset measurements{"t", torch::zeros({30, 2}), torch::arange(30, torch::kInt64), names, {}};
  EXPECT_THROWS(DataError, config_for("./t", measurements),
                "./t: should have at least 2 rows per class, has 30 rows of 30 classes");
}

TEST(OwnData, WatchesASetByTheNamesOfItsColumnsAndClasses) {
  const TemporaryFolder folder;
  TrainConfig config;
  config.train = folder.file("t.csv", table_text(20)).string() + ",label=kind";
  config.validation = folder.file("v.csv", "weight,id,kind,height\n7,1,dog,102\n").string() + ",label=kind";
  NoProgress progress;
  const auto sets = load_training_sets(config, progress);
  EXPECT_TRUE(sets.validation->inputs.equal(torch::tensor({{102.0F, 7.0F}})));
  EXPECT_EQ(sets.validation->labels[0].item<int64_t>(), 1);

  const auto refused = [&](const std::string& file, const std::string& why) {
    config.validation = file;
    EXPECT_THROWS(DataError, load_training_sets(config, progress), (file + why).c_str());
  };
  refused(folder.file("cow.csv", "weight,kind,height\n7,cow,102\n").string() + ",label=kind",
          ": holds the class cow, which " + config.train + " does not have");
  const auto other = folder.file("w.csv", "age,kind\n7,dog\n").string();
  config.validation = other + ",label=kind";
  EXPECT_THROWS(DataError, load_training_sets(config, progress),
                (other + ": has none of the columns height, weight; its columns: age, kind").c_str());
}

TEST(OwnData, KeepsRowsBackAndStandardisesByTheRest) {
  const TemporaryFolder folder;
  TrainConfig config;
  config.train = folder.file("t.csv", table_text(50)).string() + ",label=kind";
  config.validation_share = 0.1;
  config.calibration_share = 0.2;
  config.standardise = true;
  NoProgress progress;
  const auto sets = load_training_sets(config, progress);
  EXPECT_EQ(sets.train.size(), 35);
  EXPECT_EQ(sets.validation->size(), 5);
  EXPECT_EQ(sets.split.calibration_rows.size(0), 10);
  EXPECT_EQ(sets.split.feature_names, (std::vector<std::string>{"height", "weight"}));
  const auto [quartiles, order] = sets.train.inputs.sort(0);
  EXPECT_TRUE(quartiles[17].allclose(torch::zeros({2}), 0, 1e-5));
  EXPECT_TRUE((quartiles[26] - quartiles[9]).allclose(torch::full({2}, 1.349), 0.15));
  // Weights are the row numbers: no row is in two parts.
  const auto weight = sets.train.inputs.select(1, 1) * sets.split.scale.deviation[1] + sets.split.scale.mean[1];
  const auto learnt = weight.round().to(torch::kInt64);
  for (const auto& kept : {sets.split.calibration_rows, sets.split.validation_rows})
    for (int64_t i = 0; i < kept.size(0); ++i) EXPECT_FALSE((learnt == kept[i]).any().item<bool>());
  EXPECT_TRUE(load_training_sets(config, progress).split.calibration_rows.equal(sets.split.calibration_rows));

  write_training_split(folder / "", sets.split);
  const auto read = read_training_split(folder / "");
  EXPECT_TRUE(read.scale.mean.equal(sets.split.scale.mean));
  EXPECT_TRUE(read.calibration_rows.equal(sets.split.calibration_rows));
  EXPECT_EQ(read.feature_names, sets.split.feature_names);
}

// Otherwise rows that were learnt from would be watched, and thresholds found on them.
TEST(OwnData, KeepsRowsBackInAllCopiesOfTheSet) {
  const TemporaryFolder folder;
  TrainConfig config;
  config.train = folder.file("t.csv", table_text(50)).string() + ",label=kind,repeat=3";
  config.validation_share = 0.1;
  config.calibration_share = 0.2;
  NoProgress progress;
  const auto sets = load_training_sets(config, progress);
  EXPECT_EQ(sets.train.size(), 3 * 35);
  EXPECT_EQ(sets.validation->size(), 5);
  ASSERT_EQ(sets.split.calibration_rows.size(0), 10);
  const auto weights = sets.train.inputs.select(1, 1).to(torch::kInt64);  // the row numbers
  for (const auto& kept : {sets.split.calibration_rows, sets.split.validation_rows})
    for (int64_t i = 0; i < kept.size(0); ++i) EXPECT_FALSE((weights == kept[i]).any().item<bool>());
}

TEST(OwnData, PreparesSetsInMemoryAsThoseOfFiles) {
  const TemporaryFolder folder;
  TrainConfig config;
  config.train = folder.file("t.csv", table_text(100)).string() + ",label=kind";
  config.validation_share = 0.2;
  config.standardise = true;
  NoProgress progress;
  const auto from_file = load_training_sets(config, progress);
  const auto from_memory = prepare_training_sets(config, load_set(config.train));
  EXPECT_TRUE(from_memory.train.inputs.equal(from_file.train.inputs));
  EXPECT_TRUE(from_memory.validation->labels.equal(from_file.validation->labels));
  EXPECT_EQ(from_memory.split.content, from_file.split.content);
  EXPECT_EQ(from_memory.split.feature_names, (std::vector<std::string>{"height", "weight"}));
  Dataset unlabelled{"rows", torch::zeros({4, 2}), {}, {}, {}};
  EXPECT_THROWS(DataError, prepare_training_sets(config, unlabelled), "rows: has no labels to learn from");
}

TEST(OwnData, DrawsRowsAroundTheDataAndBeyond) {
  Dataset rows{"t", torch::randn({500, 3}) * torch::tensor({1.0F, 5.0F, 0.1F}), {}, {}, {}};
  NoProgress progress;
  for (const auto* name : {kFactorAnalysis, kGaussianNoise, kUniformNoise}) {
    OutsideOptions options;
    options.source = name;
    options.settings["latent"] = 2;
    options.settings["scale_low"] = 9;
    options.settings["scale_high"] = 9;
    options.settings["sigma"] = 3;
    const auto source = make_outside(options, {rows, torch::kCPU, 1, progress, {}});
    const auto batch = source->batch({0, 400, 0, 400});
    EXPECT_EQ(batch.sizes(), torch::IntArrayRef({400, 3})) << name;
    const auto wider = batch.std(0) / rows.inputs.std(0);
    EXPECT_TRUE(wider.gt(1.5).all().item<bool>()) << name << wider;
    EXPECT_TRUE(source->batch({0, 400, 100, 50}).equal(batch.narrow(0, 100, 50))) << name;
    EXPECT_FALSE(source->batch({1, 400, 0, 400}).equal(batch)) << name;
  }
}

// Three columns: one with median 5, quartiles 3 and 7 and a value a million times as large; one of 0 and 1; one that is
// constant.
TEST(OwnData, ScalesByWhatMostRowsAreLike) {
  auto rows = torch::zeros({9, 3});
  for (int64_t i = 0; i < 9; ++i) rows[i][0] = static_cast<double>(i + 1);
  rows[8][0] = 5e6;
  rows[0][1] = 1;
  rows.select(1, 2).fill_(0.1);
  const auto scale = measure_scale(rows);
  EXPECT_TRUE(scale.mean.allclose(torch::tensor({5.0F, 1 / 9.0F, 0.1F})));
  EXPECT_TRUE(scale.deviation.allclose(torch::tensor({4 / 1.349F, std::sqrt(8.0F) / 9, 1.0F}))) << scale.deviation;
  const auto scaled = scale.applied(rows);
  EXPECT_NEAR(scaled[0][0].item<double>(), -4 * 1.349 / 4, 1e-5);
  EXPECT_NEAR(scaled[8][0].item<double>(), kTailsBegin + std::log(1 + kFarthestDeviations - kTailsBegin), 1e-5);
  EXPECT_EQ(scaled[3][2].item<double>(), 0);
  const auto distances = torch::tensor({-1e9F, -4.0F, -3.0F, 0.0F, 2.5F, NAN});
  const auto drawn_in = draw_in_tails(distances);
  EXPECT_TRUE(drawn_in.slice(0, 2, 5).equal(distances.slice(0, 2, 5)));
  EXPECT_NEAR(drawn_in[1].item<double>(), -3 - std::log(2.0), 1e-6);
  EXPECT_NEAR(drawn_in[0].item<double>(), -7.5850, 1e-4);
  EXPECT_TRUE(drawn_in[5].isnan().item<bool>());
}

// Columns like incomes and debts: a few rows are a thousand times as large as the others.
TEST(OwnData, StartsWithALossInTheHundredsHoweverLongTheTails) {
  const TemporaryFolder folder;
  const auto generator = make_generator(3);
  const auto labels = torch::arange(600, torch::kInt64).remainder(2);
  const auto draws = torch::randn({600, 4}, generator);
  const Dataset set{"./t", (4 * draws + labels.unsqueeze(1)).exp(), labels, {"a", "b"}, {}};
  auto config = config_for("./t", set);
  config.validation_share = 0.1;
  config.epochs = 1;
  NoProgress progress;
  const auto sets = prepare_training_sets(config, set);
  const auto source = make_outside(config.outside, {sets.train, torch::kCPU, 1, progress, {}, true});
  EXPECT_LE(source->batch({0, 400, 0, 400}).abs().max().item<double>(), 7.6);
  EpochReport first;
  TrainerOptions options;
  options.on_epoch = [&](const EpochReport& report) { first = report; };
  train(config, sets, RunFolder(folder / "run", RunFolder::Start::kNew), options, progress);
  EXPECT_GT(first.loss, 0);
  EXPECT_LT(first.loss, 1000);
  for (const auto& [name, mean] : first.validation->outside) EXPECT_LT(std::abs(mean), 1e4) << name;
}

// 90 rows of one class, 9 of another, and one row of a third class, which stays in the training set.
TEST(OwnData, KeepsBackItsShareOfEachClass) {
  Dataset set{"./t", torch::randn({100, 2}), torch::zeros({100}, torch::kInt64), {"many", "few", "one"}, {}};
  set.labels.slice(0, 0, 99, 11).fill_(1);
  set.labels[50] = 2;
  TrainConfig config;
  config.validation_share = 0.2;
  config.calibration_share = 0.3;
  const auto sets = prepare_training_sets(config, set);
  EXPECT_EQ(sets.validation->size(), 20);
  EXPECT_EQ(sets.split.calibration_rows.size(0), 30);
  EXPECT_EQ(sets.train.size(), 50);
  const auto kept = class_counts(*sets.validation);
  const auto set_aside = class_counts(select(set, sets.split.calibration_rows));
  EXPECT_NEAR(kept[1].item<double>(), 0.2 * 9, 1.0);
  EXPECT_NEAR(set_aside[1].item<double>(), 0.3 * 9, 1.0);
  EXPECT_EQ(class_counts(sets.train)[2].item<int64_t>(), 1);
  const auto all = torch::cat({sets.split.validation_rows, sets.split.calibration_rows});
  EXPECT_EQ(std::get<0>(torch::_unique(all)).size(0), 50) << "no row twice";
  config.calibration_share = 0.79;
  EXPECT_THROWS(
      DataError, prepare_training_sets(config, set),
      "./t: its 100 rows of 3 classes are too few: 99 must be kept back, and each class needs rows to learn from");
}

TEST(OwnData, MixesOutsideImages) {
  const auto images = small_images(60, 1);
  NoProgress progress;
  OutsideOptions options;
  options.source = kMixture;
  options.settings["latent"] = 5;
  const auto source = make_outside(options, {images, torch::kCPU, 1, progress, {}});
  const auto batch = source->batch({3, 20, 0, 20});
  EXPECT_EQ(batch.sizes(), torch::IntArrayRef({20, 1, 8, 8}));
  EXPECT_TRUE(source->batch({3, 20, 5, 10}).equal(batch.narrow(0, 5, 10)));
  // Too few for every kind.
  for (const int64_t few : {1, 2, 3}) EXPECT_EQ(source->batch({3, few, 0, few}).size(0), few);
}

TEST(OwnData, JoinsMadeUpImagesToASet) {
  const TemporaryFolder folder;
  const auto grey = torch::full({30, 1, 8, 8}, 77, torch::kUInt8);
  write_npy(folder / "grey.npy", grey);
  const auto images = small_images(60, 1);
  NoProgress progress;
  OutsideOptions options;
  options.source = (folder / "grey.npy").string();
  options.settings["latent"] = 5;
  for (const int64_t added : {0, 20}) {
    options.added = added;
    const auto source = make_outside(options, {images, torch::kCPU, 1, progress, {}});
    const auto whole = 30 + added;
    const auto pass = source->batch({0, whole, 0, whole});
    EXPECT_EQ(pass.eq(77).flatten(1).all(1).sum().item<int64_t>(), 30);
    EXPECT_TRUE(source->batch({1, whole, 0, whole}).sum().equal(pass.sum())) << "drawn once";
  }
}

TEST(OwnData, JoinsThemToNothingButASet) {
  EXPECT_THROWS(ConfigError, read_config(TomlText{"", "[data]\ntrain = 'mnist'\n[outside]\nadded = 5"}),
                "outside.added adds images to a set: outside.source should name a set");
}

}  // namespace
}  // namespace priornet
