#include "tool/base/embedded_files.h"

#include <priornet/uncertainty/errors.h>

#include <string>

namespace priornet {

std::string_view embedded_file(std::string_view path) {
  for (const auto& file : embedded_files())
    if (file.path == path) return file.text;
  throw Error(std::string(path) + " is not built in");
}

}  // namespace priornet
