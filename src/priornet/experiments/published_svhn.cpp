#include <priornet/experiments/published.h>

namespace priornet {
namespace {

constexpr std::string_view kSvhnErrors = "tab:ap-svhnmis";
constexpr std::string_view kSvhnOutside = "tab:ap-svhnOODD";
constexpr double kDash = kNoCell;

// Columns: Max.P, Ent., M.I., D.Ent.; AUROC, then AUPR.
constexpr PublishedRow kSvhn[] = {
    {kSvhnErrors, "SVHN", "", "DNN", 0, {90.1, 91.8, kDash, kDash}, {47.7, 46.8, kDash, kDash}, 4.3},
    {kSvhnErrors, "SVHN", "", "MCDP", 0, {92.0, 92.2, 92.0, kDash}, {46.4, 43.5, 40.4, kDash}, 4.3},
    {kSvhnErrors, "SVHN", "", "DPN", 0, {90.1, 90.1, 90.1, 91.2}, {55.3, 54.8, 54.8, 46.0}, 5.1},

    {kSvhnOutside, "SVHN", "CIFAR-10", "DNN", 0, {92.5, 93.8, kDash, kDash}, {91.4, 92.1, kDash, kDash}},
    {kSvhnOutside, "SVHN", "CIFAR-10", "MCDP", 0, {95.6, 96.0, 96.3, kDash}, {94.4, 95.0, 95.8, kDash}},
    {kSvhnOutside, "SVHN", "CIFAR-10", "DPN", 0, {99.9, 99.9, 99.9, 99.9}, {100.0, 100.0, 100.0, 99.9}},
    {kSvhnOutside, "SVHN", "CIFAR-100", "DNN", 0, {92.4, 93.8, kDash, kDash}, {91.4, 92.1, kDash, kDash}},
    // AUROC and AUPR are printed alike.
    {kSvhnOutside, "SVHN", "CIFAR-100", "MCDP", 0, {94.2, 94.8, 95.4, kDash}, {94.2, 94.8, 95.4, kDash}},
    {kSvhnOutside, "SVHN", "CIFAR-100", "DPN", 0, {99.8, 99.8, 99.8, 99.8}, {99.8, 99.8, 99.8, 99.8}},
    {kSvhnOutside, "SVHN", "LSUN", "DNN", 0, {91.9, 93.4, kDash, kDash}, {90.7, 91.3, kDash, kDash}},
    {kSvhnOutside, "SVHN", "LSUN", "MCDP", 0, {95.9, 96.3, 97.0, kDash}, {94.9, 95.3, 96.8, kDash}},
    {kSvhnOutside, "SVHN", "LSUN", "DPN", 0, {100.0, 100.0, 100.0, 100.0}, {99.9, 99.9, 99.9, 100.0}},
    {kSvhnOutside, "SVHN", "TinyImageNet", "DNN", 0, {93.1, 94.2, kDash, kDash}, {91.8, 92.5, kDash, kDash}},
    {kSvhnOutside, "SVHN", "TinyImageNet", "MCDP", 0, {96.3, 96.7, 97.1, kDash}, {95.3, 95.8, 96.8, kDash}},
    {kSvhnOutside, "SVHN", "TinyImageNet", "DPN", 0, {100.0, 100.0, 100.0, 100.0}, {99.9, 99.9, 99.9, 100.0}},
};

}  // namespace

std::span<const PublishedRow> published_svhn() { return kSvhn; }

}  // namespace priornet
