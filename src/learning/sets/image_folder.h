#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/images.h>
#include <priornet/learning/load_set.h>
#include <priornet/learning/resize.h>
#include <torch/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "learning/data/archive.h"
#include "learning/data/file_tree.h"
#include "learning/data/growing_tensor_file.h"

// Shared by the readers of image files: decodes many encoded images on all threads into one tensor.

namespace priornet {

struct ImageFolderOptions {
  /// As stored, a set that holds one colour image is RGB throughout.
  Channels channels = Channels::kAsStored;
  /// Needed where the images have several sizes.
  std::optional<ResizeOptions> resize;
  /// Is told about every image, and about what was left out. Without it, the first fault is a DataError.
  SetFiles* files = nullptr;
  /// Takes the decoded pixels if memory has no room for them all; they then lie there.
  GrowingTensorFile* pixels = nullptr;
};

/// Orders by path, with the numbers in it as numbers: val_2 before val_10.
bool natural_less(const std::string& a, const std::string& b);

struct ImageCollection {
  std::vector<std::string> paths;  ///< in order
  torch::Tensor images;            ///< uint8 [N, C, H, W], one per path
};

/// Takes encoded images as they are read, and decodes them in batches. DataError that names the image (the first one
/// added, if several are at fault) if it does not decode and nothing listens to what is left out. SeveralSizes if its
/// size is not that of the first and there is no resize.
class ImageCollector {
 public:
  explicit ImageCollector(ImageFolderOptions options) : options_(std::move(options)) {}

  /// `name` begins messages, `path` gives the image its place in the order.
  void add(std::string path, std::string name, std::string bytes);

  /// All of them; DataError, "SET: holds no ...", if there are none. No call may follow.
  ImageCollection finish(const std::string& set_name, const PathOrder& order = std::less<>());

 private:
  struct Encoded {
    std::string path, name, bytes;
    uint64_t content = 0;
  };

  size_t batch_images() const;
  void decode_waiting();
  void keep(torch::Tensor batch);
  void append_to_file(const torch::Tensor& batch);
  torch::Tensor sorted_in_file(const std::vector<size_t>& sorted);
  void check_size(const Encoded& encoded, const torch::Tensor& image);

  ImageFolderOptions options_;
  std::vector<Encoded> waiting_;
  size_t waiting_bytes_ = 0;
  std::string first_name_;  ///< of the first image, whose size all have
  int64_t channels_ = 1, height_ = 0, width_ = 0;
  std::vector<std::string> paths_;
  std::vector<uint64_t> contents_;
  std::vector<torch::Tensor> batches_;  ///< those that are not in the file
  int64_t bytes_ = 0;                   ///< of the images so far
  int64_t file_images_ = 0, file_channels_ = 0;
};

/// By its ending (image_endings()), in either case. Not hidden files, nor those that macOS adds to archives.
bool is_image_path(const std::string& path);

/// The most bytes that an encoded image may have.
constexpr int64_t kMostImageBytes = int64_t{1} << 28;

/// The wanted image files of a folder or archive.
ImageCollection collect_images(const std::filesystem::path& root, const PathFilter& wanted,
                               const ImageFolderOptions& options, const PathOrder& order = std::less<>());

// Images that a user has in a folder or an archive. Files that are not images by their ending are skipped; images of
// several sizes without a resize, and a root without images, are DataErrors. So are an image that does not decode and,
// in a folder, an empty class folder and an image outside the class folders, unless options.files listens: then it is
// told about these.

/// One sub-folder per class, with images at any depth: inputs uint8 [N, C, H, W], class by class in the order of their
/// names, and within a class in the order of the paths. A folder that holds the whole archive is skipped. DataError
/// also if the folders are parts of a set (train, test, ...) with the classes below.
Dataset read_image_folder(const std::filesystem::path& root, const ImageFolderOptions& options = {});

/// Images at any depth, in the order of their paths, without labels.
Dataset read_flat_images(const std::filesystem::path& root, const ImageFolderOptions& options = {});

/// Fills labels and class_names from rows that name their class; all rows of a class stand together.
void label_in_order(Dataset& set, const std::vector<std::string>& class_of_row);

}  // namespace priornet
