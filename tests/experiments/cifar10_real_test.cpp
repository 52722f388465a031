#include <testing/quick_results.h>
#include <testing/real_data.h>

namespace priornet {
namespace {

// Profile quick on the published files: what the experiment must show, in minutes.
TEST(Cifar10, ShowsThePapersEffectQuickly) {
  REAL_DATA(cifar10, "cifar-10-batches-bin");
  REAL_DATA(cifar100, "cifar-100-binary");
  const QuickResults results("cifar10", {cifar10, cifar100});
  EXPECT_GT(results.cell("CIFAR-100", "DPN", "AUROC", "D.Ent."),
            results.cell("CIFAR-100", "DNN", "AUROC", "Ent.") + 3.0);
}

}  // namespace
}  // namespace priornet
