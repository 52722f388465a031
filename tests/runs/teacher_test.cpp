#include <priornet/learning/evaluation.h>
#include <priornet/learning/trained_run.h>
#include <priornet/learning/training.h>
#include <priornet/learning/transforms.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_runs.h>
#include <testing/tensors.h>
#include <testing/throws.h>

namespace priornet {
namespace {

class Teacher : public ::testing::Test {
 protected:
  void SetUp() override {
    auto config = small_config("dnn");
    config.members = 2;
    config.epochs = 4;
    train_run(config, sets_, folder_ / "teacher", {}, progress_);
    pupil_.teacher = (folder_ / "teacher").string();
    pupil_.epochs = 6;
    pupil_.method.settings["alpha0"] = 100;
  }

  TemporaryFolder folder_;
  NoProgress progress_;
  TrainingSets sets_ = small_sets();
  TrainConfig pupil_ = small_config("distil");
};

TEST_F(Teacher, SaysOfABatchWhatItsMembersSayOnAverage) {
  add_teacher(sets_, pupil_, torch::kCPU);
  auto run = load_run(folder_ / "teacher", torch::kCPU);
  const auto logits = run_logits(run, sets_.train, {}, progress_);
  EXPECT_TRUE(near(sets_.teacher(to_unit_range(sets_.train.inputs)), logits.softmax(2).mean(0), 1e-5));
}

TEST_F(Teacher, IsAskedInTurnWhereThatIsWanted) {
  pupil_.teacher_in_turn = true;
  add_teacher(sets_, pupil_, torch::kCPU);
  auto run = load_run(folder_ / "teacher", torch::kCPU);
  const auto said = run_logits(run, sets_.train, {}, progress_).softmax(2);
  const auto rows = said.size(1);
  const auto of_members = sets_.teacher(to_unit_range(sets_.train.inputs));
  EXPECT_TRUE(near(of_members.slice(0, 0, rows, 2), said[0].slice(0, 0, rows, 2), 1e-5));
  EXPECT_TRUE(near(of_members.slice(0, 1, rows, 2), said[1].slice(0, 1, rows, 2), 1e-5));
  const auto one = sets_.teacher(to_unit_range(sets_.train.inputs.slice(0, 0, 1)));  // fewer rows than members
  EXPECT_TRUE(near(one, said[0].slice(0, 0, 1), 1e-5));
}

TEST_F(Teacher, IsWrittenWithHowItIsAsked) {
  pupil_.teacher_in_turn = true;
  EXPECT_TRUE(read_config(TomlText{"", to_toml(pupil_)}).teacher_in_turn);
  EXPECT_EQ(to_toml(small_config("dpn")).find("teacher_in_turn"), std::string::npos);
}

// Training finds the teacher by itself; any method may have one.
TEST_F(Teacher, TeachesNetworksOfEveryMethod) {
  add_teacher(sets_, pupil_, torch::kCPU);
  const auto wanted = sets_.teacher(to_unit_range(sets_.train.inputs));
  for (const auto& method : methods()) {
    auto config = pupil_;
    config.method.name = method.name;
    config.method.settings["cross_entropy_weight"] = 1.0;
    auto sets = small_sets();
    train_run(config, sets, folder_ / method.name, {}, progress_);
    EXPECT_FALSE(sets.teacher) << "the sets are the caller's";
    auto run = load_run(folder_ / method.name, torch::kCPU);
    EXPECT_EQ(run.gives_dirichlet(), method.gives_dirichlet);
    const auto found = score(run, sets.train, {}, progress_).probabilities;
    EXPECT_LT((found - wanted).abs().mean().item<double>(), 0.1) << method.name;
  }
}

// A pupil whose labels are all wrong learns what the teacher says, not what the labels say.
TEST_F(Teacher, TakesThePlaceOfTheLabels) {
  auto config = pupil_;
  config.method.name = "dnn";
  const auto labels = sets_.train.labels.clone();
  sets_.train.labels = (labels + 1).remainder(3);
  train_run(config, sets_, folder_ / "pupil", {}, progress_);
  auto run = load_run(folder_ / "pupil", torch::kCPU);
  const auto found = score(run, sets_.train, {}, progress_).probabilities.argmax(1);
  EXPECT_GT(found.eq(labels).to(torch::kFloat64).mean().item<double>(), 0.9);
}

// No Dirichlet has a 0 as its target, but a loss that learns from this teacher is finite.
TEST_F(Teacher, MayBeSureOfAClass) {
  add_teacher(sets_, pupil_, torch::kCPU);
  const auto sure = sets_.teacher(to_unit_range(sets_.train.inputs) *
                                  1e5);  // far outside: the probabilities of the other classes round to 0
  EXPECT_EQ(sure.max().item<float>(), 1.0F);
  EXPECT_EQ(sure.min().item<float>(), 0.0F);
  const auto found = make_method({"distil", {}})->loss(torch::zeros_like(sure), {{}, sure}, 1e9);
  EXPECT_TRUE(found.loss.total.isfinite().item<bool>()) << found.loss.total;
  EXPECT_TRUE(found.gradient.isfinite().all().item<bool>());
}

TEST_F(Teacher, IsThereOnlyWhereItIsNamed) {
  add_teacher(sets_, small_config("dpn"), torch::kCPU);
  EXPECT_FALSE(sets_.teacher);
}

TEST_F(Teacher, OfOtherClassesOrInputsIsRefused) {
  auto others = sets_;
  others.train.class_names = {"left", "middle", "top"};
  EXPECT_THROWS(DataError, add_teacher(others, pupil_, torch::kCPU),
                (pupil_.teacher + ": has the classes left, middle, right, but small has left, middle, top").c_str());
  sets_.train.inputs = sets_.train.inputs.slice(2, 0, 6);
  EXPECT_THROWS(DataError, add_teacher(sets_, pupil_, torch::kCPU),
                (pupil_.teacher + ": takes inputs of shape [1, 8, 8], but those of small are [1, 6, 8]").c_str());
}

}  // namespace
}  // namespace priornet
