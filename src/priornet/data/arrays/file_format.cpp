#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/lower_case.h>
#include <priornet/data/arrays/file_format.h>

#include <string>

namespace priornet {
namespace {

std::string_view extension_of(FileFormat format) {
  switch (format) {
    case FileFormat::kCsv:
      return ".csv";
    case FileFormat::kJson:
      return ".json";
    case FileFormat::kNpy:
      return ".npy";
    case FileFormat::kNpz:
      return ".npz";
  }
  return "";
}

}  // namespace

FileFormat format_of(const std::filesystem::path& path, std::initializer_list<FileFormat> supported) {
  const auto extension = lower_case(path.extension().string());
  std::string wanted;
  for (const auto* format = supported.begin(); format != supported.end(); ++format) {
    if (extension == extension_of(*format)) return *format;
    wanted += format == supported.begin() ? "" : format + 1 == supported.end() ? " or " : ", ";
    wanted += extension_of(*format);
  }
  throw DataError(extension.empty()
                      ? fmt::format("{}: has no extension to tell its format: wanted {}", path.string(), wanted)
                      : fmt::format("{}: extension {} is not supported: wanted {}", path.string(), extension, wanted));
}

}  // namespace priornet
