#pragma once

#include <filesystem>
#include <string_view>

namespace priornet {

/// A small file of tests/data/fixtures.
inline std::filesystem::path fixture(std::string_view name) {
  return std::filesystem::path(PRIORNET_TEST_FIXTURES) / name;
}

}  // namespace priornet
