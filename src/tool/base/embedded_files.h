#pragma once

#include <span>
#include <string_view>

// Text files of the repository that are built into the tool (cmake/EmbeddedFiles.cmake): an installed one needs no
// source tree.

namespace priornet {

struct EmbeddedFile {
  std::string_view path;  ///< in the repository: "configs/mnist-dpn.toml"
  std::string_view text;
};

/// All of them, by path.
std::span<const EmbeddedFile> embedded_files();

/// The text of one; a path that is not among them throws Error.
std::string_view embedded_file(std::string_view path);

}  // namespace priornet
