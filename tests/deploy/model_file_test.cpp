#include <fmt/format.h>
#include <priornet/deploy/model_file.h>
#include <priornet/deploy/predictor.h>
#include <priornet/learning/inference.h>
#include <priornet/learning/table_encoding.h>
#include <priornet/learning/tensor_file.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_models.h>
#include <testing/throws.h>

#include <functional>
#include <random>

namespace priornet {
namespace {

TEST(ModelFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const auto written = small_model();
  write_model_file(folder / "m.priornet", written);
  const auto read = read_model_file(folder / "m.priornet");
  EXPECT_EQ(read.name, "small");
  EXPECT_EQ(read.run.class_names, written.run.class_names);
  EXPECT_EQ(read.run.identity, written.run.identity);
  EXPECT_EQ(to_toml(read.run.config), to_toml(written.run.config));
  EXPECT_EQ(read.preprocessing.shape, written.preprocessing.shape);
  EXPECT_EQ(read.provenance, written.provenance);
  const auto inputs = small_images(20, 3).inputs;
  EXPECT_TRUE(infer(*read.run.members[0], inputs).equal(infer(*written.run.members[0], inputs)));
  ASSERT_TRUE(read.points);
  EXPECT_EQ(read.points->watches.size(), 2u);
  EXPECT_EQ(read.points->watches[0].measure, "differential_entropy");
  EXPECT_EQ(read.points->watches[0].threshold, written.points->watches[0].threshold);
  EXPECT_TRUE(read.points->watches[1].reference.equal(written.points->watches[1].reference));
  EXPECT_TRUE(read.points->rarities.equal(written.points->rarities));
  EXPECT_EQ(read.points->temperature, 1.5);
  EXPECT_EQ(read.points->calibration_set, "small:calibration");
}

TEST(ModelFile, IsNotWrittenIfItCouldNotBeRead) {
  const TemporaryFolder folder;
  auto model = small_table_model();
  auto options = model.run.config.model;
  options.input = {3};
  options.classes = 2;
  options.keep_dense.reset();
  model.run.members = {make_model(options, make_generator(1))};
  model.dropout_samples = 3;
  EXPECT_THROWS(ArgumentError, write_model_file(folder / "m.priornet", model),
                "write_model_file: the network has no dropout, so its dropout samples would all be the same");
  model.run.members.clear();
  EXPECT_THROWS(ArgumentError, write_model_file(folder / "m.priornet", model),
                "write_model_file: the model should have a network, has none");
}

TEST(ModelFile, HoldsThresholdsPerClass) {
  const TemporaryFolder folder;
  auto written = small_model();
  const auto classes = static_cast<int64_t>(written.run.class_names.size());
  const auto values = torch::arange(60, torch::kFloat64);
  written.points = operating_points(
      {{Verdict::kUnfamiliar, "differential_entropy", values}, {Verdict::kAmbiguous, "entropy", values.flip(0)}}, 0.1,
      {torch::arange(60, torch::kInt64).remainder(classes), classes});
  write_model_file(folder / "m.priornet", written);
  const auto read = read_model_file(folder / "m.priornet");
  ASSERT_EQ(read.points->groups.size(), written.points->groups.size());
  EXPECT_EQ(read.points->watches[0].precedence, written.points->watches[0].precedence);
  for (size_t g = 0; g < read.points->groups.size(); ++g) {
    const auto& group = read.points->groups[g];
    const auto& other = written.points->groups[g];
    EXPECT_EQ(group.classes, other.classes);
    EXPECT_TRUE(group.rarities.equal(other.rarities));
    EXPECT_EQ(group.watches[1].threshold, other.watches[1].threshold);
    EXPECT_EQ(group.watches[0].precedence, other.watches[0].precedence);
  }
}

// A file of version 1 has no precedences and no groups.
TEST(ModelFile, OpensFilesOfVersion1) {
  const TemporaryFolder folder;
  const auto model = small_model();
  write_model_file(folder / "new", model);
  auto file = read_tensor_file(folder / "new");
  auto json = nlohmann::json::parse(file.metadata.at("model"));
  json["points"].erase("precedences");
  json["points"].erase("groups");
  file.metadata["model"] = json.dump();
  file.metadata["priornet_model"] = "1";
  write_tensor_file(folder / "old", file.tensors, file.metadata);
  const auto old = read_model_file(folder / "old");
  EXPECT_EQ(old.points->watches[0].threshold, model.points->watches[0].threshold);
  EXPECT_EQ(old.points->watches[0].precedence, 0.0);
}

TEST(ModelFile, HoldsEnsemblesForRowsOfNumbers) {
  const TemporaryFolder folder;
  auto written = small_table_model();
  written.dropout_samples = 4;
  write_model_file(folder / "m", written);
  const auto read = read_model_file(folder / "m");
  ASSERT_EQ(read.run.members.size(), 2u);
  const auto rows = torch::randn({5, 3});
  for (size_t m = 0; m < 2; ++m)
    EXPECT_TRUE(infer(*read.run.members[m], rows).equal(infer(*written.run.members[m], rows)));
  EXPECT_TRUE(read.preprocessing.scale.mean.equal(written.preprocessing.scale.mean));
  EXPECT_TRUE(read.preprocessing.scale.deviation.equal(written.preprocessing.scale.deviation));
  EXPECT_EQ(read.preprocessing.feature_names, written.preprocessing.feature_names);
  const auto& split = read.run.split;  // what evaluate() looks at
  EXPECT_TRUE(split.standardised(rows).equal(written.preprocessing.scale.applied(rows)));
  EXPECT_EQ(split.feature_names, written.preprocessing.feature_names);
  EXPECT_EQ(read.dropout_samples, 4);
  EXPECT_FALSE(read.points);
}

// Every detector that a model file may hold, on both kinds of input: the same scores to the last bit.
TEST(ModelFile, HoldsDetectorsWithWhatTheyLearnt) {
  const TemporaryFolder folder;
  auto images = small_model();
  images.detectors = small_detectors(images, usable_detectors(*images.run.members[0], false));
  auto table = small_table_model();
  table.detectors = small_table_detectors(table, usable_detectors(*table.run.members[0], false));
  for (const auto& [written, inputs] :
       {std::pair{images, small_images(20, 3).inputs}, std::pair{table, torch::randn({20, 3}, make_generator(4))}}) {
    write_model_file(folder / "m", written);
    const auto read = read_model_file(folder / "m");
    EXPECT_EQ(score_names(read), score_names(written));
    const auto wanted = Predictor(written).predict(inputs).scores;
    const auto found = Predictor(read).predict(inputs).scores;
    ASSERT_EQ(found.size(), wanted.size());
    EXPECT_GE(read.detectors.size(), 5u);
    for (size_t s = 0; s < found.size(); ++s) {
      EXPECT_EQ(found[s].name, score_names(read)[s]);
      EXPECT_TRUE(found[s].values.equal(wanted[s].values)) << found[s].name;
    }
  }
}

TEST(ModelFile, HoldsThresholdsWithoutANetwork) {
  const TemporaryFolder folder;
  const auto written = small_logits_model();
  write_model_file(folder / "m", written);
  const auto read = read_model_file(folder / "m");
  ASSERT_TRUE(read.own_logits);
  EXPECT_EQ(read.own_logits->features, 3);
  EXPECT_TRUE(read.run.members.empty());
  const auto rows = torch::randn({20, 5}, make_generator(4));
  const auto wanted = judge_logits(written, rows.narrow(1, 0, 2), rows.narrow(1, 2, 3));
  const auto found = Predictor(read).predict(rows);
  ASSERT_EQ(found.scores.size(), score_names(read).size());
  EXPECT_GE(read.detectors.size(), 6u);
  for (size_t s = 0; s < found.scores.size(); ++s) {
    EXPECT_EQ(found.scores[s].name, score_names(read)[s]);
    EXPECT_TRUE(found.scores[s].values.equal(wanted.scores[s].values)) << found.scores[s].name;
  }
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(found.decisions[i].p_value, wanted.decisions[i].p_value);
  EXPECT_EQ(Predictor(read).predict(torch::empty({0, 5})).size(), 0);
  EXPECT_THROWS(ArgumentError, judge_logits(read, torch::zeros({4, 3})),
                "elsewhere: logits should be [N, 2], found [4, 3]");
  EXPECT_THROWS(ArgumentError, judge_logits(read, torch::zeros({4, 2}), torch::zeros({3, 3})),
                "elsewhere: features should be [4, F], found [3, 3]");
}

TEST(ModelFile, NoticesDamageAndTruncation) {
  const TemporaryFolder folder;
  write_model_file(folder / "good", small_table_model());
  const auto bytes = bytes_of(folder / "good");
  for (size_t at = 0; at < bytes.size(); at += 31) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x04);
    EXPECT_THROW(read_model_file(folder.file("damaged", damaged)), DataError) << "byte " << at;
    EXPECT_THROW(read_model_file(folder.file("cut", bytes.substr(0, at))), DataError) << at << " bytes";
  }
}

// The same file with another text or other tensors, and with hashes that fit them.
class ChangedModel {
 public:
  explicit ChangedModel(const ModelFile& model) {
    write_model_file(folder_ / "good", model);
    file_ = read_tensor_file(folder_ / "good");
    json_ = nlohmann::json::parse(file_.metadata.at("model"));
  }

  nlohmann::json& json() { return json_; }
  TensorFile& file() { return file_; }

  /// The error of reading it, after the name of the file.
  std::string refusal() {
    file_.metadata["model"] = json_.dump();
    write_tensor_file(folder_ / "changed", file_.tensors, file_.metadata);
    try {
      read_model_file(folder_ / "changed");
      return "nothing";
    } catch (const DataError& error) {
      const std::string message = error.what();
      const auto name = (folder_ / "changed").string() + ": ";
      return message.starts_with(name) ? message.substr(name.size()) : "another file: " + message;
    }
  }

 private:
  TemporaryFolder folder_;
  TensorFile file_;
  nlohmann::json json_;
};

TEST(ModelFile, KeepsHowTheColumnsOfATableBecomeNumbers) {
  const TemporaryFolder folder;
  auto written = small_table_model();
  auto encoding = std::make_shared<TableEncoding>();
  encoding->columns.resize(2);
  encoding->columns[0].name = "age";
  encoding->columns[1].name = "colour";
  encoding->columns[1].type = ColumnType::kCategory;
  encoding->columns[1].levels = {"red", "blue"};
  written.preprocessing.encoding = encoding;
  written.preprocessing.scale.drawn_in = true;
  write_model_file(folder / "m", written);
  const auto read = read_model_file(folder / "m");
  ASSERT_TRUE(read.preprocessing.encoding);
  EXPECT_EQ(to_json(*read.preprocessing.encoding), to_json(*encoding));
  EXPECT_EQ(read.run.split.encoding, read.preprocessing.encoding);
  EXPECT_TRUE(read.preprocessing.scale.drawn_in);
  ChangedModel narrow(written);
  narrow.json()["preprocessing"]["encoding"]["columns"].erase(1);
  EXPECT_EQ(narrow.refusal(), "makes 1 numbers from a row, but its network takes 3");
}

TEST(ModelFile, RefusesANewerVersionAndOtherFiles) {
  ChangedModel newer(small_table_model());
  EXPECT_EQ(newer.refusal(), "nothing");
  newer.file().metadata["priornet_model"] = "3";
  EXPECT_EQ(newer.refusal(), "is a model file of version 3; this program reads versions up to 2: use a newer priornet");
  newer.file().metadata["priornet_model"] = "two";
  EXPECT_EQ(newer.refusal(), "its version should be a number, found two");
  newer.file().metadata.erase("priornet_model");
  EXPECT_EQ(newer.refusal(), "is not a model file of priornet: it does not say that it is one");
}

TEST(ModelFile, RefusesWeightsOfAnotherNetwork) {
  ChangedModel missing(small_table_model());
  auto& tensors = missing.file().tensors;
  const auto last = std::find_if(tensors.begin(), tensors.end(),
                                 [](const auto& t) { return t.name == "member-2.network.layer1.bias"; });
  const auto kept = *last;
  tensors.erase(last);
  EXPECT_EQ(missing.refusal(), "holds no tensor network.layer1.bias");
  tensors.push_back({kept.name, torch::zeros({3})});
  EXPECT_EQ(missing.refusal(), "belongs to another network: network.layer1.bias has shape [3], wanted [2]");
  tensors.back() = kept;
  tensors.push_back({"member-2.network.layer9.bias", torch::zeros({3})});
  EXPECT_EQ(missing.refusal(), "belongs to another network: it has 5 tensors of weights, this network has 4");
  tensors.back().name = "surplus";
  EXPECT_EQ(missing.refusal(), "holds a tensor surplus that its description does not name");
}

TEST(ModelFile, RefusesOwnLogitsThatDoNotFit) {
  ChangedModel changed(small_logits_model());
  EXPECT_EQ(changed.refusal(), "nothing");
  const auto good = changed.json();
  changed.json()["own_logits"]["features"] = 4;
  EXPECT_EQ(changed.refusal(), "describes logits and features that do not fit its classes");
  changed.json()["preprocessing"]["shape"] = {6};
  EXPECT_EQ(changed.refusal(),
            "has a detector that does not fit its network: knn: should look at rows of 3 numbers, found 4");
  changed.json() = good;
  changed.json()["own_logits"]["members"] = 0;
  EXPECT_EQ(changed.refusal(), "should have 1 to 1000 members, has 0");
  changed.json() = good;
  changed.json().erase("points");
  EXPECT_EQ(changed.refusal(), "should have a network or thresholds");
  changed.json() = good;
  changed.json()["detectors"][0] = "layers_mahalanobis";
  EXPECT_EQ(changed.refusal(),
            "has a detector layers_mahalanobis that does not fit its network: it needs the network, and there is none");
}

TEST(ModelFile, RefusesDetectorsThatDoNotFit) {
  const auto model = [] {
    auto made = small_table_model();
    made.detectors = small_table_detectors(made, {"columns_shift"});
    return ChangedModel(made);
  };
  auto unknown = model();
  unknown.json()["detectors"] = {"columns_drift"};
  EXPECT_EQ(unknown.refusal(), "has a detector columns_drift that this program does not know");
  unknown.json()["detectors"] = {"entropy"};
  EXPECT_EQ(unknown.refusal(), "has a detector entropy that this program does not know");
  unknown.json()["detectors"] = {"image_statistics"};
  EXPECT_EQ(unknown.refusal(),
            "has a detector image_statistics that does not fit its network: it looks at images, and the network takes "
            "rows of numbers");
  unknown.json()["detectors"] = std::vector<std::string>(65, "gen");
  EXPECT_EQ(unknown.refusal(), "has too many detectors");
  unknown.json().erase("detectors");
  EXPECT_EQ(unknown.refusal(), "holds a tensor detector-1.direction that its description does not name");

  auto lacking = model();
  std::erase_if(lacking.file().tensors, [](const auto& one) { return one.name == "detector-1.mean"; });
  EXPECT_EQ(lacking.refusal(),
            "has a detector columns_shift without what it learnt: detector: its state should have 3 tensors, found 2");

  auto wider = model();
  for (auto& [name, values] : wider.file().tensors)
    if (name.starts_with("detector-1.") && !name.ends_with("tails")) values = torch::ones({4}, torch::kFloat64);
  EXPECT_EQ(wider.refusal(),
            "has a detector that does not fit its network: columns_shift: should look at rows of 4 numbers, found 3");
  for (auto& [name, values] : wider.file().tensors)
    if (name == "detector-1.tails") values = torch::zeros({1}, torch::kFloat64);
  EXPECT_EQ(wider.refusal(),
            "has a detector columns_shift without what it learnt: columns_shift: its tails should begin at one number "
            "above 0");
}

TEST(ModelFile, TakesNoMemoryForWhatIsMerelyClaimed) {
  const auto refusal = [](const std::function<void(nlohmann::json&)>& change) {
    ChangedModel model(small_table_model());
    change(model.json());
    return model.refusal();
  };
  const auto with_dense = [](nlohmann::json& json, const std::string& dense) {
    auto config = json["config"].get<std::string>();
    config.replace(config.find("dense = [8]"), 11, "dense = " + dense);
    json["config"] = config;
  };
  const std::string too_many = "describes a network with more weights than the 50 of member-1";
  EXPECT_EQ(refusal([&](auto& json) { with_dense(json, "[1000000000, 1000000000]"); }), too_many);
  EXPECT_EQ(refusal([&](auto& json) { with_dense(json, "[9223372036854775807]"); }), too_many);
  EXPECT_EQ(refusal([&](auto& json) { with_dense(json, "[-1]"); }),
            "describes no network: MLP: hidden should be at least 1 unit per layer, found -1");
  EXPECT_EQ(refusal([](auto& json) {
              json["preprocessing"]["shape"] = {1000000};
              json["preprocessing"]["feature_names"] = nlohmann::json::array();
              json["preprocessing"]["standardise"] = false;
            }),
            too_many);
  EXPECT_EQ(refusal([](auto& json) {
              json["preprocessing"]["shape"] = {16384, 16384, 16384};
            }),
            "describes inputs that are impossibly large");
  EXPECT_EQ(refusal([](auto& json) { json["members"] = 1'000'000'000; }),
            "should have 1 to 1000 members, has 1000000000");
  EXPECT_EQ(refusal([](auto& json) { json["members"] = 3; }),
            "describes a network with more weights than the 0 of member-3");
  EXPECT_EQ(refusal([](auto& json) { json["dropout_samples"] = -1; }),
            "its dropout_samples should be between 0 and 10000, found -1");
  EXPECT_EQ(refusal([](auto& json) { json.erase("classes"); }), "is not a model file: its description is damaged");
  EXPECT_EQ(refusal([](auto& json) { json["config"] = "nonsense = 1"; }),
            "describes no network: its configuration: line 1: there is no key nonsense");
}

TEST(ModelFile, RefusesNamesThatSayNothingOrTooMuch) {
  const auto refusal = [](const std::vector<std::string>& classes) {
    ChangedModel changed(small_table_model());
    changed.json()["classes"] = classes;
    return changed.refusal();
  };
  const auto count = ChangedModel(small_table_model()).json()["classes"].size();
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("class " + std::to_string(i));
  const auto with_first = [&](const std::string& name) {
    auto changed = names;
    changed[0] = name;
    return changed;
  };
  EXPECT_EQ(refusal(with_first("")), "has a class without a name");
  EXPECT_EQ(refusal(with_first("class 1")), "has two classes with the name class 1");
  EXPECT_EQ(refusal(with_first("a\x1b[2Jb\n")), "has a class with control characters in its name: a\\x1b[2Jb\\n");
}

// Reading a file with right hashes gives a model or a DataError, whatever its description says.
TEST(ModelFile, TakesOrRefusesAnyDescription) {
  auto model = small_table_model();
  model.points = small_points({{Verdict::kUndecided, "mutual_information"}});
  const TemporaryFolder folder;
  write_model_file(folder / "good", model);
  auto file = read_tensor_file(folder / "good");
  const auto text = file.metadata.at("model");
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    auto changed = text;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const auto at = random() % changed.size();
      constexpr std::string_view kLikely = "0123456789-[]{},:\"e.\\n";
      if (random() % 2 == 0)
        changed[at] = kLikely[random() % kLikely.size()];
      else
        changed.erase(at, 1 + random() % 8);
    }
    file.metadata["model"] = changed;
    write_tensor_file(folder / "changed", file.tensors, file.metadata);
    try {
      read_model_file(folder / "changed");
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
}

TEST(ModelFile, RefusesOperatingPointsThatMakeNoSense) {
  const auto refusal = [](const std::function<void(ChangedModel&)>& change) {
    auto model = small_table_model();
    model.points = small_points({{Verdict::kUndecided, "mutual_information"}});
    ChangedModel changed(model);
    change(changed);
    return changed.refusal();
  };
  EXPECT_EQ(refusal([](auto& model) { model.json()["points"]["watches"][0]["cause"] = "boredom"; }),
            "watches for boredom, which is not a known cause");
  EXPECT_EQ(refusal([](auto& model) { model.json()["points"]["false_alarm"] = 1.5; }),
            "operating points: false_alarm should be between 0 and 1, found 1.5");
  EXPECT_EQ(refusal([](auto& model) {
              for (auto& tensor : model.file().tensors)
                if (tensor.name == "combined") tensor.values = tensor.values.flip(0);
            }),
            "operating points: the rarities of calibration inputs should be ascending");
  EXPECT_EQ(refusal([](auto& model) { model.json()["points"]["temperature"] = 1e9; }),
            "operating points: temperature should be between 0.001 and 1000, found 1e+09");
  EXPECT_EQ(refusal([](auto& model) { model.json()["points"]["precedences"] = {0.5}; }),
            "operating points: the precedence of mutual_information should be below 1 / R");
  EXPECT_EQ(refusal([](auto& model) { model.json()["points"]["precedences"] = nlohmann::json::array(); }),
            "should say the precedence of every watch");
  EXPECT_EQ(refusal([](auto& model) {
              for (auto& tensor : model.file().tensors)
                if (tensor.name == "preprocessing.deviation") tensor.values = torch::zeros({3});
            }),
            "its deviations should be above 0");
}

}  // namespace
}  // namespace priornet
