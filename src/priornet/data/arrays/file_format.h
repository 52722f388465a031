#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace priornet {

enum class FileFormat { kCsv, kJson, kNpy, kNpz };

/// The format that the extension of a path names, in either case. DataError that lists the supported extensions if it
/// is none of them.
FileFormat format_of(const std::filesystem::path& path, std::initializer_list<FileFormat> supported);

}  // namespace priornet
