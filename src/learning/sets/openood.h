#pragma once

#include <priornet/learning/dataset.h>

#include <string>
#include <string_view>
#include <vector>

// OpenOOD's image lists (Zhang et al., 2023): which images of published sets its benchmarks take. A line is the path of
// an image and a label, "cifar10/test/airplane/0298.png 0"; -1 stands for out of distribution.

namespace priornet {

struct ListedImage {
  std::string path;
  int64_t label = -1;
};

/// DataError, which begins with `name` and gives the line, for a line that is not such a pair.
std::vector<ListedImage> parse_image_list(const std::string& name, std::string_view text);

/// The rows, int64 [N], of images that are called CLASS/NUMBER.png: the NUMBER-th of its class, from 1, in the set's
/// own order. Its label, unless it is -1, is the set's. DataError, which begins with `name`, for an image that the set
/// does not have, another label, or an image that is listed twice.
torch::Tensor rows_by_class(const std::string& name, const std::vector<ListedImage>& images, const Dataset& set);

/// The same for images that are called val_NUMBER.JPEG: row NUMBER, from 0.
torch::Tensor rows_by_number(const std::string& name, const std::vector<ListedImage>& images, const Dataset& set);

}  // namespace priornet
