#include "standard_output.h"

#include <priornet/core/errors.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace priornet::tool {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw DataError("standard output: cannot be written: " + std::generic_category().message(errno));
}

}  // namespace priornet::tool
