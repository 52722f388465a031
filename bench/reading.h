#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace priornet::bench {

/// Reading a set as published, and nothing but reading the same files and expanding them where they are compressed.
struct ReadingTimes {
  std::string work;
  int64_t bytes = 0;   ///< of the files, expanded
  double seconds = 0;  ///< to the set in memory, checked
  double plain_seconds = 0;

  double ratio() const { return seconds / plain_seconds; }
};

using ReadingReport = std::function<void(const ReadingTimes& line)>;
using SkippedReport = std::function<void(const std::string& work, const std::filesystem::path& missing)>;

/// Times the sets whose files lie below `data_root`, for about `seconds` each and the fastest of each way, and tells of
/// those that do not.
void compare_reading(const std::filesystem::path& data_root, double seconds, const ReadingReport& report,
                     const SkippedReport& skipped);

}  // namespace priornet::bench
