#include <testing/quick_results.h>
#include <testing/real_data.h>

namespace priornet {
namespace {

// Profile quick on the published files: what the experiment must show, in minutes.
TEST(Mnist, ShowsThePapersEffectsQuickly) {
  REAL_DATA(mnist, "mnist");
  REAL_DATA(fashion, "fashion-mnist");
  const QuickResults results("mnist", {mnist, fashion});
  EXPECT_LT(results.cell("misclassification", "DNN", "error", ""), 2.0);
  EXPECT_GE(results.cell("Fashion-MNIST", "DPN", "AUROC", "D.Ent."), 99.0);
}

}  // namespace
}  // namespace priornet
