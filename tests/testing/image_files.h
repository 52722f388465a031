#pragma once

#include <priornet/learning/images.h>
#include <testing/temporary_folder.h>

#include <string>
#include <vector>

namespace priornet {

/// A PNG of one value everywhere.
inline std::string plain_png(int value, int64_t height = 4, int64_t width = 6, int64_t channels = 1) {
  return encode_png(torch::full({channels, height, width}, value, torch::kUInt8));
}

/// Writes files by their paths below the folder, making folders on the way; returns the folder's path.
inline std::filesystem::path lay_out(const TemporaryFolder& folder,
                                     const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [path, bytes] : files) {
    std::filesystem::create_directories((folder / path).parent_path());
    folder.file(path, bytes);
  }
  return folder / "";
}

/// The first pixel of every image.
inline std::vector<int> first_pixels(const torch::Tensor& images) {
  std::vector<int> values;
  for (int64_t n = 0; n < images.size(0); ++n) values.push_back(images[n].flatten()[0].item<int>());
  return values;
}

}  // namespace priornet
