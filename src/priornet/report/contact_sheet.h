#pragma once

#include <torch/types.h>

#include <filesystem>

namespace priornet {

struct ContactSheetOptions {
  int64_t rows = 10;
  int64_t columns = 10;
  /// Whole pixels an image's pixel becomes; 0 chooses it: small images grow to 64 pixels a side or a little more.
  int64_t scale = 0;
  /// int64 [N]: the sheet then has a row a class, in the order of the labels, of the first images of each.
  torch::Tensor labels;
};

/// Images, uint8 [N, 1 or 3, H, W], side by side on a neutral ground: uint8 [3, H', W']. Without labels the first
/// rows x columns of them, row by row; the sheet ends with its last row. Pixels are repeated, never blended; of images
/// beyond 192 a side every n-th pixel is shown. Another dtype or shape, or a size below 1, throws ArgumentError.
torch::Tensor contact_sheet(const torch::Tensor& images, const ContactSheetOptions& options = {});

/// The sheet as a PNG, whole or not at all.
void write_contact_sheet(const std::filesystem::path& path, const torch::Tensor& images,
                         const ContactSheetOptions& options = {});

}  // namespace priornet
