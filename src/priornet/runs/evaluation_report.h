#pragma once

#include <priornet/runs/evaluation.h>
#include <priornet/runs/odin.h>
#include <priornet/runs/run_comparison.h>

#include <optional>
#include <string>
#include <vector>

namespace priornet {

/// An evaluation with where it came from: what `priornet evaluate` says.
struct EvaluationReport {
  std::string run;         ///< the folder
  std::string method;      ///< as configurations name it
  int64_t members = 1;     ///< networks
  std::string checkpoint;  ///< "last" or "best"
  std::string weights;     ///< TrainedRun::identity
  Evaluation evaluation;

  struct Odin {
    OdinChoice choice;
    std::string inside;   ///< what it was chosen on
    std::string outside;  ///< against what
  };
  std::optional<Odin> odin;

  std::string against;  ///< the folder of the run it is compared with; empty: none
  std::vector<ComparedMeasure> comparison;
};

/// Everything in it but the scores of the inputs, fractions at full precision; a number that is not finite is null.
std::string to_json(const EvaluationReport& report);

}  // namespace priornet
