#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace priornet {

/// The folder an experiment leaves its results in. Each file appears whole or not at all.
class OutputFolder {
 public:
  /// Makes the folder where needed and tries that it takes a file, so that hours of training do not end in a full
  /// stop. Throws DataError where it does not.
  explicit OutputFolder(std::filesystem::path path);

  void write(std::string_view name, std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
};

}  // namespace priornet
