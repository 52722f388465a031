#pragma once

#include <span>
#include <string_view>

// web/serve, built in (cmake/PageFiles.cmake).

namespace priornet::serving {

struct PageFile {
  std::string_view path;  ///< "/", "/page/main.js"
  std::string_view content_type;
  std::string_view text;
};

std::span<const PageFile> page_files();

}  // namespace priornet::serving
