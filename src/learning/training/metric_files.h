#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

// The metrics of a run in formats that other programs read. Each file has a start, if it needs one, and a piece per
// epoch.

namespace priornet {

/// When a piece is written, in seconds since 1970.
using WallTime = double;

/// `epoch` is a line of metrics.jsonl.
struct MetricFormat {
  const char* file;
  /// The text before the first epoch, made from it; null if there is none.
  std::string (*start)(std::string_view epoch, WallTime now);
  std::string (*piece)(std::string_view epoch, WallTime now);
  /// How many bytes the first `count` pieces take, the start counted as one; fewer pieces if some are cut off.
  size_t (*size)(std::string_view file, int64_t count);
  /// The file with today's names instead of those of older versions; null if it keeps its names.
  std::string (*with_new_names)(std::string file);
};

/// - metrics.jsonl: the line itself;
/// - metrics.csv: the same numbers as a table; columns of nested values are called validation/inside/entropy;
/// - metrics.tfevents: the same for TensorBoard, by those names: TFRecords of the protocol buffer Event.
/// Before version 0.2 images_per_second was called images_a_second. A run of that time that goes on gets the new name
/// in all its lines; events keep their names. A number that is null (JSON has no other way to say "not finite") is
/// empty in the table and left out of the events.
extern const std::array<MetricFormat, 3> kMetricFormats;

/// The lines of a metrics.jsonl; none if there is no such file. A full disk or a killed process may leave a part of a
/// line: it is not among them. DataError if the file cannot be read.
std::vector<nlohmann::ordered_json> epochs_in(const std::filesystem::path& metrics);

}  // namespace priornet
