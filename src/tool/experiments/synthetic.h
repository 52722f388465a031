#pragma once

#include <priornet/learning/progress.h>
#include <priornet/uncertainty/losses.h>
#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "learning/base/run_record.h"
#include "learning/networks/architectures.h"
#include "learning/synthesis/gaussians.h"
#include "tool/experiments/experiment.h"
#include "tool/report/table.h"

// The paper's synthetic experiment (section 5.1, figure 3): a small Dirichlet Prior Network (DPN) and the same network
// as a plain classifier (DNN) learn three Gaussian classes, once apart and once overlapping. Which of their
// uncertainties tells the data from the plane around it?

namespace priornet {

struct SyntheticOptions {
  std::vector<double> sigmas = {1.0, 4.0};
  uint64_t seed = 1;
  int64_t hidden = 50;     ///< units of the one hidden layer
  int64_t points = 30000;  ///< of the classes, kept; and of the outside, drawn anew for each epoch
  int64_t batch = 150;     ///< in-distribution points per step, and as many out of it
  int64_t epochs = 30;
  double learning_rate = 0.05;  ///< of Adam, at its peak: up over a tenth of the steps, then cosine to 0
  double input_scale = 0.1;     ///< brings the plane to about unit size
  Divergence divergence = Divergence::kForward;  ///< of the DPN's loss
  double alpha0 = 100.0;                         ///< precision of the DPN's target; epsilon is 1 / alpha0
  int64_t test_points = 20000;                   ///< in-distribution and out of it, each; never seen in training
  int64_t grid = 400;                            ///< cells along a side of the maps
  int64_t shown_points = 450;                    ///< training points to draw
  torch::Device device = torch::kCPU;
};

/// Area under the ROC curve with its 95 % interval (DeLong): out-of-distribution points should score higher.
struct Separation {
  double auroc = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// One trained network. The DNN's logits are read as a Dirichlet's too; its precision was never trained.
struct SyntheticModel {
  std::string name;       ///< "DNN" or "DPN"
  double accuracy = 0.0;  ///< on the in-distribution test points
  double loss = 0.0;      ///< mean over the last epoch, nats
  Separation entropy;
  Separation mutual_information;
  Separation differential_entropy;
  torch::Tensor entropy_map;  ///< [grid, grid] over [-20, 20]^2, row 0 the lowest; so are the others
  torch::Tensor expected_entropy_map;
  torch::Tensor mutual_information_map;
  torch::Tensor differential_entropy_map;
};

struct SyntheticCase {
  GaussianClasses classes;
  double bayes_accuracy = 0.0;       ///< of the best possible classifier, exactly
  double bayes_test_accuracy = 0.0;  ///< of that classifier on the same test points
  double outside_share = 0.0;        ///< of in-distribution test points that lie outside the data region
  LabelledPoints shown;
  torch::Tensor posterior_entropy_map;
  SyntheticModel dnn;
  SyntheticModel dpn;
};

struct SyntheticResult {
  SyntheticOptions options;
  std::vector<SyntheticCase> cases;  ///< one per sigma
};

/// Trains and evaluates. The same options, device and thread count give the same result.
/// Throws ArgumentError for options that make no sense and Error if training diverges.
SyntheticResult run_synthetic(const SyntheticOptions& options, Progress& progress);

enum class SyntheticKind {
  kDnn,  ///< cross-entropy on in-distribution points only
  kDpn,  ///< the Prior Network loss on in-distribution and out-of-distribution points
};

struct TrainedNetwork {
  MLP network = nullptr;
  double loss = 0.0;  ///< mean over the last epoch
};

/// Trains one network on `train`; reports each epoch.
TrainedNetwork train_synthetic(SyntheticKind kind, const GaussianClasses& classes, const LabelledPoints& train,
                               const SyntheticOptions& options, Progress& progress);

// The numbers of the synthetic experiment, from one result per seed. With one seed AUROCs come with their 95 %
// interval, with several as mean and standard deviation over the seeds.

/// AUROC of each uncertainty for telling in-distribution test points from points outside.
Table detection_table(const std::vector<SyntheticResult>& results);

/// Accuracy of the networks beside the best that is possible.
Table accuracy_table(const std::vector<SyntheticResult>& results);

/// Everything, as JSON: options, one entry per seed, and under "run" how it was made, the only part that differs
/// between two runs of the same options.
std::string to_json(const std::vector<SyntheticResult>& results, const RunRecord& record);

/// The options of a profile: `modern` trains with the reverse KL divergence.
SyntheticOptions synthetic_options(Profile profile);

/// Runs the synthetic experiment and writes figure1, figure2, figure3 and comparison (.svg and .png), results.json,
/// maps.json, table.md, table.tex, table.csv and report.html. Without gnuplot there are no figure files and a remark
/// says so. The networks are so small that the device is the CPU unless the user asks for another.
ExperimentSummary reproduce_synthetic(const ExperimentOptions& options, Progress& progress);

}  // namespace priornet
