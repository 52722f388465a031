#include <priornet/experiments/published.h>

namespace priornet {
namespace {

// The tables of the appendix; those of section 5.2 (tab:ex-MNIST, tab:ex-OODD) repeat their cells without a change.
constexpr std::string_view kCifarErrors = "tab:ap-cifarmis";
constexpr std::string_view kCifarOutside = "tab:ap-cifarOODD";
constexpr double kBlank = kNoCell;

// Columns: Max.P, Ent., M.I., D.Ent.; AUROC, then AUPR.
constexpr PublishedRow kCifar10[] = {
    {kCifarErrors, "CIFAR-10", "", "DNN", 0, {92.4, 92.3, kBlank, kBlank}, {48.7, 47.1, kBlank, kBlank}, 8.0},
    {kCifarErrors, "CIFAR-10", "", "MCDP", 0, {92.5, 92.0, 90.4, kBlank}, {48.4, 45.5, 37.6, kBlank}, 8.0},
    {kCifarErrors, "CIFAR-10", "", "DPN", 0, {92.2, 92.1, 92.1, 90.9}, {52.7, 51.0, 51.0, 45.5}, 8.5},

    {kCifarOutside, "CIFAR-10", "CIFAR-100", "DNN", 0, {86.4, 87.2, kBlank, kBlank}, {82.6, 84.3, kBlank, kBlank}},
    {kCifarOutside, "CIFAR-10", "CIFAR-100", "MCDP", 0, {86.4, 87.5, 85.7, kBlank}, {83.0, 84.9, 81.5, kBlank}},
    {kCifarOutside, "CIFAR-10", "CIFAR-100", "DPN", 0, {95.6, 95.7, 95.7, 95.8}, {95.1, 95.1, 95.1, 95.5}},
    {kCifarOutside, "CIFAR-10", "SVHN", "DNN", 0, {90.1, 90.8, kBlank, kBlank}, {84.6, 85.1, kBlank, kBlank}},
    {kCifarOutside, "CIFAR-10", "SVHN", "MCDP", 0, {89.6, 90.6, 83.7, kBlank}, {84.1, 84.8, 73.1, kBlank}},
    {kCifarOutside, "CIFAR-10", "SVHN", "DPN", 0, {98.1, 98.2, 98.2, 98.5}, {97.7, 97.8, 97.8, 98.2}},
    {kCifarOutside, "CIFAR-10", "LSUN", "DNN", 0, {89.8, 91.4, kBlank, kBlank}, {87.0, 90.0, kBlank, kBlank}},
    {kCifarOutside, "CIFAR-10", "LSUN", "MCDP", 0, {89.1, 90.9, 89.3, kBlank}, {86.5, 89.6, 86.4, kBlank}},
    {kCifarOutside, "CIFAR-10", "LSUN", "DPN", 0, {94.4, 94.4, 94.4, 94.6}, {93.3, 93.4, 93.4, 93.3}},
    {kCifarOutside, "CIFAR-10", "TinyImageNet", "DNN", 0, {87.5, 88.7, kBlank, kBlank}, {84.7, 87.2, kBlank, kBlank}},
    {kCifarOutside, "CIFAR-10", "TinyImageNet", "MCDP", 0, {87.6, 89.2, 86.9, kBlank}, {85.1, 87.9, 83.2, kBlank}},
    {kCifarOutside, "CIFAR-10", "TinyImageNet", "DPN", 0, {94.3, 94.3, 94.3, 94.6}, {94.0, 94.0, 94.0, 94.2}},
};

}  // namespace

std::span<const PublishedRow> published_cifar10() { return kCifar10; }

}  // namespace priornet
