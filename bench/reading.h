#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace priornet::bench {

/// Reads a set as published, and for comparison only reads the same files and expands those that are compressed.
struct ReadingTimes {
  std::string work;
  int64_t bytes = 0;   ///< of the files, expanded
  double seconds = 0;  ///< until the set is in memory and checked
  double plain_seconds = 0;

  double ratio() const { return seconds / plain_seconds; }
};

using ReadingReport = std::function<void(const ReadingTimes& line)>;
using SkippedReport = std::function<void(const std::string& work, const std::filesystem::path& missing)>;

/// Times the sets whose files lie below `data_root`, for about `seconds` each and the fastest of each way, and reports
/// the sets that are missing.
void compare_reading(const std::filesystem::path& data_root, double seconds, const ReadingReport& report,
                     const SkippedReport& skipped);

}  // namespace priornet::bench
