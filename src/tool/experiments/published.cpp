#include "tool/experiments/published.h"

namespace priornet {

const PublishedRow* find_published(std::span<const PublishedRow> rows, const PublishedKey& key) {
  for (const auto& row : rows) {
    const bool in_noise_table = row.table == kNoiseTable;
    if (row.outside == key.outside && row.model == key.model && row.sigma == key.sigma &&
        in_noise_table == key.in_noise_table)
      return &row;
  }
  return nullptr;
}

namespace {

constexpr double kNone = kNoCell;
constexpr std::array<double, 4> kNoCells = {kNone, kNone, kNone, kNone};
constexpr std::string_view kMisclassification = "tab:ex-MNIST";
constexpr std::string_view kOmniglot = "tab:ex-OODD";
constexpr std::string_view kFurther = "tab:ap-mnistOODD";

// Columns: Max.P, Ent., M.I., D.Ent.; AUROC, then AUPR.
constexpr PublishedRow kMnist[] = {
    {kMisclassification, "MNIST", "", "DNN", 0, {98.0, 98.6, kNone, kNone}, {26.6, 25.0, kNone, kNone}, 0.4},
    {kMisclassification, "MNIST", "", "MCDP", 0, {97.2, 97.2, 96.9, kNone}, {33.0, 29.0, 27.8, kNone}, 0.4},
    {kMisclassification, "MNIST", "", "DPN", 0, {99.0, 98.9, 98.6, 92.9}, {43.6, 39.7, 30.7, 25.5}, 0.6},

    {kOmniglot, "MNIST", "OMNIGLOT", "DNN", 0, {98.7, 98.8, kNone, kNone}, {98.3, 98.5, kNone, kNone}},
    {kOmniglot, "MNIST", "OMNIGLOT", "MCDP", 0, {99.2, 99.2, 99.3, kNone}, {99.0, 99.1, 99.3, kNone}},
    {kOmniglot, "MNIST", "OMNIGLOT", "DPN", 0, {100.0, 100.0, 99.5, 100.0}, {100.0, 100.0, 97.5, 100.0}},

    {kFurther, "MNIST", "SEMEION", "DNN", 0, {92.7, 92.9, kNone, kNone}, {76.4, 76.7, kNone, kNone}},
    {kFurther, "MNIST", "SEMEION", "MCDP", 0, {95.2, 95.3, 95.4, kNone}, {84.1, 84.2, 87.3, kNone}},
    {kFurther, "MNIST", "SEMEION", "DPN", 0, {99.5, 99.6, 99.1, 99.7}, {96.9, 97.5, 90.8, 98.6}},
    {kFurther, "MNIST", "SVHN", "DNN", 0, {98.7, 98.9, kNone, kNone}, {98.5, 98.7, kNone, kNone}},
    {kFurther, "MNIST", "SVHN", "MCDP", 0, {98.2, 98.4, 98.1, kNone}, {98.0, 98.3, 97.9, kNone}},
    {kFurther, "MNIST", "SVHN", "DPN", 0, {99.9, 100.0, 99.5, 100.0}, {99.9, 100.0, 98.5, 100.0}},
    {kFurther, "MNIST", "CIFAR-10", "DNN", 0, {99.4, 99.5, kNone, kNone}, {99.3, 99.4, kNone, kNone}},
    {kFurther, "MNIST", "CIFAR-10", "MCDP", 0, {99.1, 99.3, 98.9, kNone}, {98.9, 99.2, 98.6, kNone}},
    {kFurther, "MNIST", "CIFAR-10", "DPN", 0, {100.0, 100.0, 99.5, 100.0}, {100.0, 100.0, 98.2, 100.0}},

    // MCDP's entropy at sigma 0 is 98.8 here, the DNN's; 99.2 in the table above.
    {kNoiseTable, "MNIST", "OMNIGLOT", "DNN", 0, {kNone, 98.8, kNone, kNone}, kNoCells},
    {kNoiseTable, "MNIST", "OMNIGLOT", "DNN", 3, {kNone, 58.4, kNone, kNone}, kNoCells},
    {kNoiseTable, "MNIST", "OMNIGLOT", "MCDP", 0, {kNone, 98.8, 99.3, kNone}, kNoCells},
    {kNoiseTable, "MNIST", "OMNIGLOT", "MCDP", 3, {kNone, 58.4, 79.1, kNone}, kNoCells},
    {kNoiseTable, "MNIST", "OMNIGLOT", "DPN", 0, {kNone, 100.0, 99.5, 100.0}, kNoCells},
    {kNoiseTable, "MNIST", "OMNIGLOT", "DPN", 3, {kNone, 51.8, 22.3, 99.8}, kNoCells},
};

}  // namespace

std::span<const PublishedRow> published_mnist() { return kMnist; }

namespace {

constexpr std::string_view kSvhnErrors = "tab:ap-svhnmis";
constexpr std::string_view kSvhnOutside = "tab:ap-svhnOODD";

// Columns: Max.P, Ent., M.I., D.Ent.; AUROC, then AUPR.
constexpr PublishedRow kSvhn[] = {
    {kSvhnErrors, "SVHN", "", "DNN", 0, {90.1, 91.8, kNone, kNone}, {47.7, 46.8, kNone, kNone}, 4.3},
    {kSvhnErrors, "SVHN", "", "MCDP", 0, {92.0, 92.2, 92.0, kNone}, {46.4, 43.5, 40.4, kNone}, 4.3},
    {kSvhnErrors, "SVHN", "", "DPN", 0, {90.1, 90.1, 90.1, 91.2}, {55.3, 54.8, 54.8, 46.0}, 5.1},

    {kSvhnOutside, "SVHN", "CIFAR-10", "DNN", 0, {92.5, 93.8, kNone, kNone}, {91.4, 92.1, kNone, kNone}},
    {kSvhnOutside, "SVHN", "CIFAR-10", "MCDP", 0, {95.6, 96.0, 96.3, kNone}, {94.4, 95.0, 95.8, kNone}},
    {kSvhnOutside, "SVHN", "CIFAR-10", "DPN", 0, {99.9, 99.9, 99.9, 99.9}, {100.0, 100.0, 100.0, 99.9}},
    {kSvhnOutside, "SVHN", "CIFAR-100", "DNN", 0, {92.4, 93.8, kNone, kNone}, {91.4, 92.1, kNone, kNone}},
    // AUROC and AUPR are printed the same.
    {kSvhnOutside, "SVHN", "CIFAR-100", "MCDP", 0, {94.2, 94.8, 95.4, kNone}, {94.2, 94.8, 95.4, kNone}},
    {kSvhnOutside, "SVHN", "CIFAR-100", "DPN", 0, {99.8, 99.8, 99.8, 99.8}, {99.8, 99.8, 99.8, 99.8}},
    {kSvhnOutside, "SVHN", "LSUN", "DNN", 0, {91.9, 93.4, kNone, kNone}, {90.7, 91.3, kNone, kNone}},
    {kSvhnOutside, "SVHN", "LSUN", "MCDP", 0, {95.9, 96.3, 97.0, kNone}, {94.9, 95.3, 96.8, kNone}},
    {kSvhnOutside, "SVHN", "LSUN", "DPN", 0, {100.0, 100.0, 100.0, 100.0}, {99.9, 99.9, 99.9, 100.0}},
    {kSvhnOutside, "SVHN", "TinyImageNet", "DNN", 0, {93.1, 94.2, kNone, kNone}, {91.8, 92.5, kNone, kNone}},
    {kSvhnOutside, "SVHN", "TinyImageNet", "MCDP", 0, {96.3, 96.7, 97.1, kNone}, {95.3, 95.8, 96.8, kNone}},
    {kSvhnOutside, "SVHN", "TinyImageNet", "DPN", 0, {100.0, 100.0, 100.0, 100.0}, {99.9, 99.9, 99.9, 100.0}},
};

}  // namespace

std::span<const PublishedRow> published_svhn() { return kSvhn; }

namespace {

// The tables of the appendix; those of section 5.2 (tab:ex-MNIST, tab:ex-OODD) repeat their cells without a change.
constexpr std::string_view kCifarErrors = "tab:ap-cifarmis";
constexpr std::string_view kCifarOutside = "tab:ap-cifarOODD";

// Columns: Max.P, Ent., M.I., D.Ent.; AUROC, then AUPR.
constexpr PublishedRow kCifar10[] = {
    {kCifarErrors, "CIFAR-10", "", "DNN", 0, {92.4, 92.3, kNone, kNone}, {48.7, 47.1, kNone, kNone}, 8.0},
    {kCifarErrors, "CIFAR-10", "", "MCDP", 0, {92.5, 92.0, 90.4, kNone}, {48.4, 45.5, 37.6, kNone}, 8.0},
    {kCifarErrors, "CIFAR-10", "", "DPN", 0, {92.2, 92.1, 92.1, 90.9}, {52.7, 51.0, 51.0, 45.5}, 8.5},

    {kCifarOutside, "CIFAR-10", "CIFAR-100", "DNN", 0, {86.4, 87.2, kNone, kNone}, {82.6, 84.3, kNone, kNone}},
    {kCifarOutside, "CIFAR-10", "CIFAR-100", "MCDP", 0, {86.4, 87.5, 85.7, kNone}, {83.0, 84.9, 81.5, kNone}},
    {kCifarOutside, "CIFAR-10", "CIFAR-100", "DPN", 0, {95.6, 95.7, 95.7, 95.8}, {95.1, 95.1, 95.1, 95.5}},
    {kCifarOutside, "CIFAR-10", "SVHN", "DNN", 0, {90.1, 90.8, kNone, kNone}, {84.6, 85.1, kNone, kNone}},
    {kCifarOutside, "CIFAR-10", "SVHN", "MCDP", 0, {89.6, 90.6, 83.7, kNone}, {84.1, 84.8, 73.1, kNone}},
    {kCifarOutside, "CIFAR-10", "SVHN", "DPN", 0, {98.1, 98.2, 98.2, 98.5}, {97.7, 97.8, 97.8, 98.2}},
    {kCifarOutside, "CIFAR-10", "LSUN", "DNN", 0, {89.8, 91.4, kNone, kNone}, {87.0, 90.0, kNone, kNone}},
    {kCifarOutside, "CIFAR-10", "LSUN", "MCDP", 0, {89.1, 90.9, 89.3, kNone}, {86.5, 89.6, 86.4, kNone}},
    {kCifarOutside, "CIFAR-10", "LSUN", "DPN", 0, {94.4, 94.4, 94.4, 94.6}, {93.3, 93.4, 93.4, 93.3}},
    {kCifarOutside, "CIFAR-10", "TinyImageNet", "DNN", 0, {87.5, 88.7, kNone, kNone}, {84.7, 87.2, kNone, kNone}},
    {kCifarOutside, "CIFAR-10", "TinyImageNet", "MCDP", 0, {87.6, 89.2, 86.9, kNone}, {85.1, 87.9, 83.2, kNone}},
    {kCifarOutside, "CIFAR-10", "TinyImageNet", "DPN", 0, {94.3, 94.3, 94.3, 94.6}, {94.0, 94.0, 94.0, 94.2}},
};

}  // namespace

std::span<const PublishedRow> published_cifar10() { return kCifar10; }

}  // namespace priornet
