#include "tool/report/model_report.h"

#include <gtest/gtest.h>
#include <priornet/learning/table_encoding.h>
#include <testing/tensors.h>
#include "tool/report/evaluation_results.h"

#include <nlohmann/json.hpp>

namespace priornet {
namespace {

// Four inputs of two classes: the third answer is wrong and accepted, the fourth is wrong and handed back. One of two
// foreign inputs is accepted.
struct SmallReport {
  ModelFile model;
  EvaluationReport evaluation;
  Dataset inside{"./rows/test.csv,label=kind",
                 torch::tensor({{1.f, 2.f}, {2.f, 2.f}, {3.f, 8.f}, {4.f, 2.f}}),
                 torch::tensor({0, 1, 0, 1}),
                 {"no", "yes"},
                 {"height", "width"}};
  std::vector<Dataset> outside{{"omniglot:test", torch::tensor({{9.f, 9.f}, {1.f, 2.f}}), {}, {}, {"height", "width"}}};

  SmallReport() {
    model.name = "doors";
    model.run.config.model.name = "mlp";
    model.run.config.method.name = "dpn";
    model.run.config.train = "/data/rows/train.csv,label=kind";
    model.run.class_names = {"no", "yes"};
    model.run.members.resize(1);
    model.preprocessing.shape = {2};
    model.preprocessing.feature_names = {"height", "width"};
    model.preprocessing.scale.mean = torch::tensor({2.f, 2.f});
    model.preprocessing.scale.deviation = torch::tensor({1.f, 2.f});
    auto& result = evaluation.evaluation;
    result.inside.name = inside.name;
    result.inside.calibration_error = 0.25;
    result.inside_scores.probabilities = probabilities();
    result.wrong = torch::tensor({false, false, true, true});
    const Detection detection{
        .auroc = {0.9, 0.85, 0.95}, .positives = 2, .negatives = 4, .prevalence = 0.5, .replicates = 50};
    result.outside = {{"omniglot:test", 2, {{"entropy", detection, 0.97}}, {"height", 0.875, true, 0, 0}}};
  }

  static torch::Tensor probabilities() {
    return torch::tensor({{0.9, 0.1}, {0.2, 0.8}, {0.3, 0.7}, {0.6, 0.4}}, torch::kFloat64);
  }

  void calibrate() {
    OperatingPoints points;
    points.watches = {{Verdict::kAmbiguous, "expected_entropy", torch::zeros({1}, torch::kFloat64), 0.5}};
    points.rarities = torch::linspace(0.0, 0.98, 99, torch::kFloat64);
    points.temperature = 2.0;
    points.calibration_set = "/data/rows/train.csv,label=kind (rows kept back)";
    points.calibration_size = 198;
    model.points = points;
  }

  ModelReport report() const {
    ModelReport result{model, evaluation, {inside.name, probabilities(), inside.labels, {}}, {}};
    result.foreign.push_back({"omniglot:test", probabilities().slice(0, 0, 2), {}, {}});
    if (!model.points) return result;
    result.test.decisions = {{Verdict::kAccept, 0.9, ""},
                             {Verdict::kAccept, 0.5, ""},
                             {Verdict::kAccept, 0.2, ""},
                             {Verdict::kAmbiguous, 0.01, "expected_entropy"}};
    result.foreign[0].decisions = {{Verdict::kUnfamiliar, 0.01, "differential_entropy"}, {Verdict::kAccept, 0.5, ""}};
    return result;
  }
};

// 10 of 100: 0.05523 to 0.17437, as R's prop.test(10, 100, correct = FALSE) has it.
TEST(ModelReport, GivesSharesWithWilsonsInterval) {
  const auto tenth = share_of(10, 100);
  EXPECT_DOUBLE_EQ(tenth.value, 0.1);
  EXPECT_NEAR(tenth.low, 0.05523, 1e-5);
  EXPECT_NEAR(tenth.high, 0.17437, 1e-5);
  EXPECT_EQ(share_of(0, 20).low, 0.0);
  EXPECT_GT(share_of(0, 20).high, 0.1);
  EXPECT_NEAR(share_of(20, 20).high, 1.0, 1e-12);
}

TEST(ModelReport, CallsSetsByTheirLastPart) {
  EXPECT_EQ(short_set_name("mnist:test"), "mnist:test");
  EXPECT_EQ(short_set_name("mnist:test,first=100"), "mnist:test");
  EXPECT_EQ(short_set_name("/data/rows/test.csv,label=kind"), "test.csv");
  EXPECT_EQ(short_set_name("./photos/"), "photos");
  EXPECT_EQ(short_set_name("/data/photos,size=32 (rows kept back)"), "photos (rows kept back)");
  EXPECT_EQ(short_set_name("rows/test.csv,label=kind"), "test.csv");
}

TEST(ModelReport, LeavesTitlesAsTheyAre) {
  for (const auto* title : {"Paris, France", "cats/dogs", "streets, day/night (2020)", "", "a,b,c"})
    EXPECT_EQ(short_set_name(title), title);
}

TEST(ModelReport, SaysInWordsWhatBecomesOfInputs) {
  SmallReport small;
  EXPECT_EQ(bottom_line(small.report()), "Of 1000 inputs like those of test.csv it gets 500 wrong.");
  small.calibrate();
  EXPECT_EQ(bottom_line(small.report()),
            "Of 1000 inputs like those of test.csv it answers 750 by itself, 250 of them wrongly, and hands 250 back.");
  EXPECT_EQ(
      description(small.report()),
      "doors sorts rows of 2 columns (height, width) into 2 classes: no, yes. It is a network of type mlp (method "
      "dpn), trained on train.csv and tested on test.csv (4 inputs).");
}

TEST(ModelReport, GivesEachKeyFigureWithItsMeaning) {
  SmallReport small;
  small.calibrate();
  const auto figures = key_figures(small.report());
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& figure : figures) values.emplace_back(figure.name, figure.value);
  const std::vector<std::pair<std::string, std::string>> wanted = {{"error", "50.0 %"},
                                                                   {"handed_back", "25.0 %"},
                                                                   {"accepted_error", "33.3 %"},
                                                                   {"noticed", "50.0 %"},
                                                                   {"calibration", "40.0 points"}};
  EXPECT_EQ(values, wanted);
  EXPECT_EQ(
      figures[1].detail,
      "1 of 4 test inputs: 1 ambiguous. Promised: 5 % or less, on average; 1.7 % to 10.0 % with this calibration.");
  EXPECT_EQ(figures[3].detail, "Inputs that belong to none of its classes. omniglot:test: 50.0 %.");
  EXPECT_NE(figures[4].detail.find("25.0 points before calibration"), std::string::npos) << figures[4].detail;
}

// Lines that begin with spaces would be a block of code.
TEST(ModelReport, ListsItsKeyFiguresInMarkdown) {
  SmallReport small;
  small.model.run.class_names[0] = "<i>no</i>";
  const auto text = to_markdown(small.report());
  EXPECT_NE(text.find("2 classes: \\<i>no\\</i>, yes."), std::string::npos) << text;
  EXPECT_NE(text.find("\n- **50.0 %** wrong, if every answer is taken. 2 of 4 test inputs."), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n**Caution:** 4 test inputs are few"), std::string::npos) << text;
  EXPECT_EQ(text.find("\n "), std::string::npos) << text;
}

TEST(ModelReport, SaysThatAModelWithoutThresholdsHandsNothingBack) {
  const SmallReport small;
  const auto figures = key_figures(small.report());
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures[1].value, "none");
  EXPECT_NE(figures[1].detail.find("priornet calibrate"), std::string::npos);
  const auto json = summary_json(small.report());
  EXPECT_TRUE(json["operating_point"].is_null());
  EXPECT_FALSE(json["test"].contains("verdicts"));
}

TEST(ModelReport, WarnsOfStatisticsThatBeatTheNetwork) {
  SmallReport small;
  auto& trivial = small.evaluation.evaluation.outside[0].trivial;
  const auto cautions = [&] {
    std::string all;
    for (const auto& text : warnings(small.report())) all += text + "\n";
    return all;
  };
  EXPECT_EQ(cautions(), "4 test inputs are few: see the intervals before you compare shares.\n");
  trivial.auroc = 0.95;
  EXPECT_TRUE(
      cautions().starts_with("One trivial statistic beats the network on omniglot:test: height alone tells its "
                             "inputs from those of test.csv with AUROC 95.00 %, the model's best score "
                             "(entropy) with 90.00 %."))
      << cautions();
  trivial.auroc = 0.900001;
  EXPECT_TRUE(cautions().starts_with("One trivial statistic is as good as the network on omniglot:test")) << cautions();
  for (const double equal : {0.9, 0.899999}) {
    trivial.auroc = equal;
    EXPECT_TRUE(cautions().starts_with("One trivial statistic is as good as the network")) << cautions();
    EXPECT_EQ(summary_json(small.report())["foreign"][0]["trivial_equals_network"], true);
    EXPECT_EQ(summary_json(small.report())["foreign"][0]["trivial_beats_network"], false);
  }
}

TEST(ModelReport, WarnsFirstIfItWasTestedOnWhatItLearntFrom) {
  const SmallReport small;
  auto report = small.report();
  report.tested_on_training = true;
  EXPECT_EQ(
      warnings(report).at(0),
      "The model learnt from test.csv, on which it was tested here: it will make more mistakes on new inputs. Test "
      "it on a set that it did not learn from.");
}

TEST(ModelReport, WarnsOfForeignSetsThatTheModelLearntFrom) {
  const SmallReport small;
  auto report = small.report();
  report.learnt_as_foreign = {"/data/photos/other,size=32"};
  EXPECT_EQ(warnings(report).at(0),
            "The model learnt that inputs of other are foreign: it will hand back fewer new foreign inputs. Test it on "
            "a set that it did not learn from.");
}

TEST(ModelReport, WarnsWhereMoreIsHandedBackThanPromised) {
  SmallReport small;
  small.calibrate();
  auto report = small.report();
  report.test.probabilities = SmallReport::probabilities().repeat({100, 1});
  report.test.labels = small.inside.labels.repeat({100});
  for (int i = 1; i < 100; ++i)
    report.test.decisions.insert(report.test.decisions.end(), report.test.decisions.begin(),
                                 report.test.decisions.begin() + 4);
  ASSERT_EQ(report.test.decisions.size(), 400u);
  ASSERT_EQ(warnings(report).size(), 1u);
  EXPECT_EQ(warnings(report)[0],
            "It hands back 25.0 % of test.csv, more than promised: these inputs are not like those of the calibration "
            "set (train.csv (rows kept back)).");
}

TEST(ModelReport, CountsConfusionsByWhatIsTrue) {
  SmallReport small;
  small.calibrate();
  const auto json = summary_json(small.report());
  const auto& test = json["test"];
  EXPECT_EQ(test["confusion"].dump(), "[[1,1],[1,1]]");
  EXPECT_EQ(test["verdicts"].dump(), R"({"accept":3,"ambiguous":1,"unfamiliar":0,"undecided":0})");
  EXPECT_EQ(test["errors_by_verdict"]["accept"], 1);
  EXPECT_EQ(test["errors_by_verdict"]["ambiguous"], 1);
  EXPECT_EQ(test["classes"][1].dump(), R"({"name":"yes","size":2,"errors":1,"handed_back":1,"accepted_errors":0})");
  EXPECT_EQ(json["foreign"][0]["verdicts"]["unfamiliar"], 1);
  EXPECT_EQ(json["foreign"][0]["trivial_beats_network"], false);
  EXPECT_EQ(
      json["operating_point"]["watches"][0].dump(),
      R"({"cause":"ambiguous","measure":"expected_entropy","threshold":0.5,"reachable":true,"calibration_size":198,)"
      R"("spoke":1})");
  small.model.points->watches[0].threshold = std::log(2.0);  // the largest entropy of two classes
  EXPECT_EQ(summary_json(small.report())["operating_point"]["watches"][0]["reachable"], false);
  // The operating point lies on the curve: one of the three accepted answers is wrong.
  const auto& points = test["risk_coverage"]["points"];
  bool found = false;
  for (size_t i = 0; i < points[0].size(); ++i)
    found |= points[0][i] == 0.75 && std::abs(points[1][i].get<double>() - 1.0 / 3) < 1e-3;
  EXPECT_TRUE(found) << points.dump();
}

TEST(ExampleInputs, StandInGroupsByWhatBecomesOfThem) {
  SmallReport small;
  small.calibrate();
  const auto groups = examples_json(small.report(), {small.inside, small.outside})["groups"];
  std::vector<std::string> names;
  for (const auto& group : groups) names.push_back(group["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"accepted", "accepted_wrong", "ambiguous", "foreign_handed_back",
                                             "foreign_accepted"}));
  const auto& wrong = groups[1]["inputs"][0];
  EXPECT_EQ(wrong["row"], 2);
  EXPECT_EQ(wrong["prediction"], "yes");
  EXPECT_EQ(wrong["label"], "no");
  EXPECT_EQ(wrong["rival"], "no");
  // The farthest column first: (8 - 2) / 2 and (3 - 2) / 1 deviations.
  EXPECT_EQ(wrong["columns"].dump(),
            R"([{"name":"width","value":8.0,"deviations":3.0},{"name":"height","value":3.0,"deviations":1.0}])");
  EXPECT_FALSE(groups[3]["inputs"][0].contains("label"));
  EXPECT_EQ(groups[2]["inputs"][0]["verdict_by"], "expected_entropy");
  EXPECT_FALSE(wrong.contains("verdict_by"));
}

// Six numbers are made from three columns; the reader knows only the columns.
TEST(ExampleInputs, ShowTheColumnsOfTheUsersTable) {
  SmallReport small;
  auto encoding = std::make_shared<TableEncoding>();
  encoding->columns.resize(3);
  encoding->columns[0].name = "height";
  encoding->columns[1].type = ColumnType::kCategory;
  encoding->columns[1].levels = {"red", "blue"};
  encoding->columns[2].name = "width";
  encoding->columns[2].marks_missing = true;
  auto& preprocessing = small.model.preprocessing;
  preprocessing.encoding = encoding;
  preprocessing.shape = {5};
  preprocessing.feature_names = encoding->feature_names();
  preprocessing.scale.mean = torch::tensor({2.f, 0.5f, 0.1f, 3.f, 0.1f});
  preprocessing.scale.deviation = torch::tensor({1.f, 0.5f, 0.2f, 1.f, 0.4f});
  small.inside.inputs = torch::tensor(
      {{1.f, 1.f, 0.f, 4.f, 0.f}, {2.f, 1.f, 0.f, 3.f, 0.f}, {4.f, 0.f, 1.f, 3.f, 1.f}, {2.f, 1.f, 0.f, 3.f, 0.f}});
  small.inside.feature_names = small.outside[0].feature_names = preprocessing.feature_names;
  small.outside[0].inputs = small.inside.inputs.slice(0, 0, 2);
  EXPECT_TRUE(description(small.report()).starts_with("doors sorts rows of 3 columns (height, (column 2), width)"))
      << description(small.report());
  small.calibrate();
  const auto wrong = examples_json(small.report(), {small.inside, small.outside})["groups"][1]["inputs"][0];
  EXPECT_EQ(wrong["columns"].dump(),
            R"-([{"name":"(column 2)","value":"blue","rare":true},{"name":"width","value":"missing"},)-"
            R"-({"name":"height","value":4.0,"deviations":2.0}])-");
}

}  // namespace
}  // namespace priornet
