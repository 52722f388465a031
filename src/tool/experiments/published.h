#pragma once

#include <array>
#include <limits>
#include <span>
#include <string_view>

// What the paper printed: the cells of its tables, one row per model, in percent and as rounded there.

namespace priornet {

/// The measures of the paper's tables, in their order, by the column names of `priornet measure`.
constexpr std::array<std::string_view, 4> kPaperMeasures = {"max_prob", "entropy", "mutual_information",
                                                            "differential_entropy"};

/// Their names in the headings of the paper's tables.
constexpr std::array<std::string_view, 4> kPaperMeasureNames = {"Max.P", "Ent.", "M.I.", "D.Ent."};

constexpr double kNoCell = std::numeric_limits<double>::quiet_NaN();  ///< a dash in the paper, or no column at all

/// The table on noise: it repeats cells of others.
constexpr std::string_view kNoiseTable = "tab:ex-MNISTomniAUROC";

struct PublishedRow {
  std::string_view table;       ///< its label in the paper's source
  std::string_view inside;      ///< "MNIST"
  std::string_view outside;     ///< "OMNIGLOT"; empty for misclassification detection
  std::string_view model;       ///< "DNN", "MCDP", "DPN"
  double sigma;                 ///< of the noise on every input
  std::array<double, 4> auroc;  ///< by kPaperMeasures
  std::array<double, 4> aupr;   ///< likewise
  double error = kNoCell;       ///< % of inputs misclassified
};

/// Every row of the paper on a set; a row that it prints twice appears once.
std::span<const PublishedRow> published_mnist();
std::span<const PublishedRow> published_svhn();
std::span<const PublishedRow> published_cifar10();

/// Which row is wanted.
struct PublishedKey {
  std::string_view outside;  ///< empty for misclassification
  std::string_view model;
  double sigma = 0.0;
  bool in_noise_table = false;
};

/// nullptr if the paper has none.
const PublishedRow* find_published(std::span<const PublishedRow> rows, const PublishedKey& key);

}  // namespace priornet
