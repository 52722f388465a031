#pragma once

#include <string>
#include <vector>

#include "learning/base/run_record.h"
#include "tool/experiments/experiment.h"
#include "tool/experiments/image_plans.h"
#include "tool/experiments/reason_scores.h"

// Is the reason right? Three questions about the networks of the experiment cifar10 and some beside them: does data
// uncertainty grow with the disagreement of people (CIFAR-10H), which cause do verdicts name, and does distributional
// uncertainty fall, and data uncertainty stay, as the training set grows?

namespace priornet {

/// A model that was trained on so many different images.
struct PlannedAmount {
  std::string model;  ///< "DPN", "DNN ensemble"
  int64_t images = 0;
};

/// One seed.
struct ReasonsPlan {
  ImageExperiment models;                 ///< on CIFAR-10's test set, against unfamiliar sets
  std::string people;                     ///< the set of counts of people's labels, row by row that of models.inside
  ImageExperiment amounts;                ///< on the same test set, against nothing
  std::vector<PlannedAmount> amounts_of;  ///< of amounts.models, in their order
};

/// The models of cifar10 by these names, then a DPN of the divergence that they lack (forward or reverse) and, with the
/// first seed, an ensemble of DNNs. Of the networks on part of the data every one takes the same number of steps, with
/// the same schedule: the images are repeated until an epoch is as long as that of the largest set. ConfigError for
/// profile paper.
ReasonsPlan reasons_plan(const ImagePlanOptions& options);

struct ReasonsOfModel {
  std::string model;
  std::string run;  ///< its folder, from that of the results
  double error = 0.0;
  std::vector<PeopleCorrelation> people;
  std::vector<VerdictShares> verdicts;
};

struct AmountResult {
  PlannedAmount amount;
  double error = 0.0;
  Estimate data;       ///< mean expected entropy, nats
  Estimate knowledge;  ///< mean mutual information, nats: distributional of a DPN, of the model for an ensemble
};

struct ReasonsResult {
  uint64_t seed = 1;
  ReasonsPlan plan;
  std::vector<ReasonsOfModel> models;
  std::vector<AmountResult> amounts;
  std::vector<MissingSet> missing;
};

/// Trains what is not trained yet and looks at it all, as run_image_experiment does.
ReasonsResult run_reasons(const ReasonsPlan& plan, const ImageRunOptions& options, Progress& progress);

/// A table per question. One result per seed.
std::vector<Table> reasons_tables(const std::vector<ReasonsResult>& seeds);

/// Everything, as JSON (report/results_folder.h); what the report draws is under "reasons".
std::string to_json(const std::vector<ReasonsResult>& seeds, const RunRecord& record);

/// Runs it for every seed and writes results.json, table.md, table.tex, table.csv and report.html. Uses the networks of
/// finished experiments `cifar10`, `cifar10-modern` and `openood` in the folders beside its own. AbsentSet where
/// CIFAR-10, CIFAR-100 or CIFAR-10H is not there.
ExperimentSummary reproduce_reasons(const ExperimentOptions& options, Progress& progress);

}  // namespace priornet
