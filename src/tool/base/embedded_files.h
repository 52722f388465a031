#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

// Files that come with the tool: text files of the repository that are built into it (cmake/EmbeddedFiles.cmake), and a
// model to try. An installed tool needs no source tree.

namespace priornet {

struct EmbeddedFile {
  std::string_view path;  ///< in the repository: "configs/mnist-dpn.toml"
  std::string_view text;
};

/// All of them, by path.
std::span<const EmbeddedFile> embedded_files();

/// The text of one; a path that is not among them throws Error.
std::string_view embedded_file(std::string_view path);

/// How a user names the model of digits that comes with the tool (models/README.md).
constexpr std::string_view kDigitModel = "digits:";

/// The file of the model that a user named: for kDigitModel the one in ../share/priornet beside the program's folder,
/// for any other name that path. Error if the model of digits is missing.
std::filesystem::path model_path(const std::string& name);

/// For a subcommand that writes beside a model: DataError, which says what to do, if the name is kDigitModel.
void refuse_digit_model(const std::string& name, std::string_view subcommand);

}  // namespace priornet
