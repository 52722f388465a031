#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

// What was done to a training set before a run saw it: rows kept back, features brought to one scale. It lies in the
// run's folder, in preparation.safetensors.

namespace priornet {

struct Dataset;

struct Preparation {
  torch::Tensor mean;                      ///< of rows of numbers, float32 [D]: subtracted ...
  torch::Tensor deviation;                 ///< ... and divided by; undefined where rows are taken as they are
  torch::Tensor validation_rows;           ///< int64, ascending, of the set that data.train names; undefined if none
  torch::Tensor calibration_rows;          ///< likewise
  std::vector<std::string> feature_names;  ///< of rows of numbers, where they have any
  std::string content;                     ///< training_content of the set; empty where nobody noted it

  /// Rows float32 [N, D] as the network takes them; anything else as it is.
  torch::Tensor standardised(const torch::Tensor& inputs) const;

  bool empty() const;

  /// Whether a set of this training_content is the one that was prepared; also where nobody noted it.
  bool may_be_of(const std::string& found) const { return content.empty() || content == found; }
};

/// Mean and deviation of rows [N, D]; of a feature that never changes, 1.
void measure_scale(Preparation& preparation, const torch::Tensor& rows);

/// A few letters that differ where a set has other rows of numbers, or its rows other labels, or another order of
/// these: kept rows are known by where they lie. Not the pixels of images, which depend on who decoded them.
std::string training_content(const Dataset& set);

/// Whole or not at all; nothing where there is nothing to say.
void write_preparation(const std::filesystem::path& run, const Preparation& preparation);

/// An empty one where the run has none. DataError that names the file if it is damaged.
Preparation read_preparation(const std::filesystem::path& run);

}  // namespace priornet
