#pragma once

#include <priornet/deploy/predictor.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// What `priornet calibrate` prints about a model file: its thresholds, what they promise, and how it behaves with them.

namespace priornet::tool {

/// What a calibrated model does on the inputs of a set.
struct Behaviour {
  std::string set;
  int64_t size = 0;
  std::array<int64_t, kVerdictNames.size()> verdicts = {};
  std::map<std::string, int64_t> verdicts_by;  ///< how often each score rejected a prediction
  double error = NAN;                          ///< of all
  double accepted_error = NAN;                 ///< of those accepted
  double calibration_error = NAN;

  int64_t rejected() const { return size - verdicts[0]; }
};

/// `labels`: int64 [N]; undefined leaves the errors out.
Behaviour behaviour_of(const Predictions& said, const torch::Tensor& labels, const std::string& set);

/// For a calibrated model in the file `out`.
std::string calibration_text(const ModelFile& model, const std::vector<Behaviour>& behaviours, const std::string& out);
std::string calibration_json(const ModelFile& model, const std::vector<Behaviour>& behaviours, const std::string& out);

/// Warns about every watch that can never reject, and names the classes that share their thresholds.
void say_what_is_short(const ModelFile& model);

}  // namespace priornet::tool
