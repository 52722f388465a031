#pragma once

#include <priornet/learning/config.h>
#include <priornet/uncertainty/detection.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tool/experiments/published.h"
#include "tool/report/table.h"

// An experiment on images as data: which networks are trained and asked, on which sets, beside which published cells.

namespace priornet {

struct PlannedModel {
  std::string name;    ///< as the paper's tables name it: "DNN", "MCDP", "DPN"
  std::string run;     ///< its folder below runs/; models may share one, or be a member of another
  TrainConfig config;  ///< an ensemble has members; its noise is on the inputs of training and evaluation alike
  int64_t dropout_samples = 0;  ///< passes with dropout at work; 0: one without it
};

struct PlannedSet {
  std::string title;      ///< as the tables name it
  std::string set;        ///< by name (load_set.h)
  std::string published;  ///< as the paper's tables name it; empty: not in the paper
  /// Of a set that the catalogue does not have: what belongs into the folder of its name in the data root.
  std::string by_hand = {};
};

/// Two models to be compared on every out-of-distribution set, each by a measure of its own.
struct PlannedComparison {
  std::string model;
  std::string measure;  ///< a column of `priornet measure`
  std::string against;
  std::string against_measure;
};

struct ImageResult;

struct ImageExperiment {
  std::string name;   ///< "mnist"
  std::string title;  ///< of the report
  std::string lead;   ///< what it is, in a sentence
  uint64_t seed = 1;
  std::string inside;  ///< the set that errors and in-distribution scores are given on
  std::string inside_title;
  std::vector<PlannedModel> models;
  std::vector<PlannedSet> outside;
  std::vector<PlannedComparison> comparisons;
  std::span<const PublishedRow> published;
  bool is_noise_table = false;       ///< compared with the paper's table on noise: AUROC alone, a row a sigma
  BootstrapOptions bootstrap;        ///< of the intervals
  std::vector<std::string> remarks;  ///< what a reader of the tables should know of the recipe
  /// Tables of its own in place of those of the paper, from one result per seed; none: the paper's.
  std::function<std::vector<Table>(const std::vector<ImageResult>& seeds)> tables = {};
};

}  // namespace priornet
