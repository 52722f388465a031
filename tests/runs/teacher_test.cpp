#include <priornet/learning/evaluation.h>
#include <priornet/learning/trained_run.h>
#include <priornet/learning/training.h>
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

TEST_F(Teacher, SaysWhatItsMembersSayOnAverage) {
  add_teacher(sets_, pupil_, torch::kCPU, progress_);
  auto run = load_run(folder_ / "teacher", torch::kCPU);
  const auto logits = run_logits(run, sets_.train, {}, progress_);
  EXPECT_TRUE(near(sets_.teacher, logits.softmax(2).mean(0), 1e-6));
}

// Training asks the teacher by itself.
TEST_F(Teacher, TeachesAPriorNetwork) {
  train_run(pupil_, sets_, folder_ / "pupil", {}, progress_);
  EXPECT_FALSE(sets_.teacher.defined()) << "the sets are the caller's";
  add_teacher(sets_, pupil_, torch::kCPU, progress_);
  auto run = load_run(folder_ / "pupil", torch::kCPU);
  EXPECT_TRUE(run.gives_dirichlet());
  const auto found = score(run, sets_.train, {}, progress_).probabilities;
  EXPECT_LT((found - sets_.teacher).abs().mean().item<double>(), 0.1);
}

TEST_F(Teacher, MayBeSureOfAClass) {
  pupil_.noise = 1e5;  // inputs far outside: the other classes have a probability of 0
  add_teacher(sets_, pupil_, torch::kCPU, progress_);
  EXPECT_EQ(sets_.teacher.max().item<float>(), 1.0F);
  EXPECT_EQ(sets_.teacher.min().item<float>(), std::numeric_limits<float>::epsilon());
  pupil_.noise = 0;
  train_run(pupil_, sets_, folder_ / "pupil", {}, progress_);
}

TEST_F(Teacher, IsNotNeededByOtherMethods) {
  add_teacher(sets_, small_config("dpn"), torch::kCPU, progress_);
  EXPECT_FALSE(sets_.teacher.defined());
}

TEST_F(Teacher, OfOtherClassesIsRefused) {
  sets_.train.class_names = {"left", "middle", "top"};
  EXPECT_THROWS(DataError, add_teacher(sets_, pupil_, torch::kCPU, progress_),
                (pupil_.teacher + ": knows the classes left, middle, right, small has left, middle, top").c_str());
}

}  // namespace
}  // namespace priornet
