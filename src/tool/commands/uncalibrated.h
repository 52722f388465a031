#pragma once

#include <priornet/deploy/model_file.h>
#include <priornet/deploy/predictor.h>
#include <priornet/deploy/thresholds.h>
#include <priornet/learning/detector.h>
#include <priornet/learning/load_set.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tool/commands/own_logits.h"

// What `priornet calibrate` sets thresholds for: a run, a network in a file, or logits that another program computed.
// Each becomes a model with its detectors, and inputs that neither learnt from. What the subcommand does with these
// (calibrate.cpp) is the same for all three.

namespace priornet::tool {

struct CalibrateOptions {
  std::string run;
  LogitsSource logits;  ///< its kind is also that of `network`
  std::string network;
  std::string training;
  std::vector<double> mean;
  std::vector<double> deviation;
  std::string data;
  std::string check;
  std::string out;
  std::string name;
  std::string checkpoint = "last";
  std::string device = "auto";
  bool allow_torchscript = false;
  CalibrationOptions calibration;
  std::vector<std::string> watch;  ///< detectors that look for "unfamiliar" beside the measure; empty: the usual ones
  std::vector<std::string> detectors;  ///< more detectors for the model file
  bool no_detectors = false;
  int64_t dropout_samples = 0;
  bool no_resize = false;
  bool json = false;
};

/// What a model says about a set of inputs.
struct JudgedInputs {
  std::string name;      ///< of the set
  torch::Tensor labels;  ///< int64 [N], or undefined
  Predictions said;
};

struct UncalibratedModel {
  ModelFile model;                   ///< with its detectors, without thresholds
  std::vector<std::string> watched;  ///< those of its detectors that look for "unfamiliar" beside the measure
  /// What the model says about the inputs that thresholds come from.
  std::function<JudgedInputs(const ModelFile&)> held_out;
  /// The same, with its thresholds, about the inputs of --check.
  std::function<JudgedInputs(const ModelFile&)> check;
  std::vector<NamedTensor> cross_validated = {};  ///< scores of watched detectors, as calibrate() takes them
};

/// From RUN. Detectors learn from the set that the run learnt from. `load.progress` is needed; what `load` points to
/// must outlive the result. Misuse for options that contradict each other, DataError for a set that cannot be used.
UncalibratedModel uncalibrated_run(const CalibrateOptions& options, LoadOptions load);

/// The same from --network, which was trained elsewhere. Detectors learn from --training, or else from one half of
/// --data.
UncalibratedModel uncalibrated_network(const CalibrateOptions& options, LoadOptions load);

/// The same from --logits: the model has no network. Detectors learn from one half of the inputs.
UncalibratedModel uncalibrated_logits(const CalibrateOptions& options);

// What the three share.

/// The detectors of a model file.
struct ChosenDetectors {
  std::vector<std::string> watched;  ///< they look for "unfamiliar" beside the measure
  std::vector<std::string> kept;     ///< in the model file: those, then the others that the user asked for
};

/// Those of `usable` that the user names or, if none are named, those of `usual`. Misuse for a name that is not among
/// the usable ones.
ChosenDetectors chosen_detectors(const CalibrateOptions& options, const std::vector<std::string>& usable,
                                 const std::vector<std::string>& usual);
/// The same for a network.
ChosenDetectors chosen_detectors(const CalibrateOptions& options, const Classifier& network);

/// Whether one of these detectors learns from inputs.
bool learns(const std::vector<std::string>& names);

/// Rows of a set, int64. No input may both teach a detector and calibrate it, or new ones would look stranger than
/// those that the thresholds come from.
struct Halves {
  torch::Tensor training;  ///< at most kDetectorTraining
  torch::Tensor calibration;
};
/// Drawn at random, always in the same way. DataError, which begins with the set's name, for fewer than 4 rows.
Halves halves_of(const std::string& name, int64_t rows);

/// A set for a network with inputs of that shape. Images of several sizes become that size, unless --no-resize is
/// given.
Dataset set_for_shape(const std::string& name, const std::vector<int64_t>& shape, const CalibrateOptions& options,
                      const LoadOptions& load);

/// A model that takes inputs, with its detectors, and `set`, which neither learnt from.
UncalibratedModel uncalibrated_with_set(ModelFile model, const ChosenDetectors& chosen, Dataset set,
                                        const CalibrateOptions& options, const LoadOptions& load);

}  // namespace priornet::tool
