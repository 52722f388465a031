#pragma once

#include <filesystem>

namespace priornet {

/// A fresh empty folder under the data root, gone with all it holds when the object goes. Those that killed
/// processes left behind go when the next one is made. DataError where it cannot be made.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& root);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< on the folder: tells others that its process lives
};

}  // namespace priornet
