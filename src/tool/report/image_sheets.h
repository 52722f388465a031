#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/scoring.h>
#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace priornet {

struct ContactSheetOptions {
  int64_t rows = 10;
  int64_t columns = 10;
  /// How many pixels each pixel of an image becomes; 0 chooses: small images grow to 64 pixels per side or a little
  /// more.
  int64_t scale = 0;
  /// int64 [N]: the sheet then has one row per class, in the order of the labels, of the first images of each.
  torch::Tensor labels;
};

/// Images, uint8 [N, 1 or 3, H, W], side by side on a neutral ground: uint8 [3, H', W']. Without labels the first rows
/// x columns of them, row by row; the sheet ends with its last row. Pixels are repeated, never blended; of images with
/// more than 192 pixels per side every n-th pixel is shown. Another dtype or shape, or a size below 1, throws
/// ArgumentError.
torch::Tensor contact_sheet(const torch::Tensor& images, const ContactSheetOptions& options = {});

/// Writes the sheet as a PNG; the file appears whole or not at all.
void write_contact_sheet(const std::filesystem::path& path, const torch::Tensor& images,
                         const ContactSheetOptions& options = {});

// The inputs that a model is most and least certain about, as pixels with what it says about them.

struct CertaintySet {
  std::string title;
  const Dataset* set = nullptr;  ///< images
  const SetScores* scores = nullptr;
};

struct CertaintyOptions {
  uint64_t seed = 0;
  std::string model;
  int64_t count = 6;  ///< of each kind and set
};

/// JSON: {"seed", "model", "measure", "classes", "shape", "sets"}; the first set is the in-distribution one, and the
/// others are brought to its shape. For each set the pixels (base64 of uint8 [N, C, H, W], the most certain first, then
/// the least certain), and for each image its value of the measure (differential entropy, else entropy), the class, the
/// label if the set has labels of these classes, and `alpha`, the concentrations, or, if the model has no precision,
/// `p`, the probabilities.
std::string certainty_json(const std::vector<CertaintySet>& sets, const CertaintyOptions& options);

}  // namespace priornet
