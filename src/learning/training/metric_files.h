#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

// The metrics of a run in the formats that programs read: each file is a start, if it has one, and a piece per epoch.

namespace priornet {

/// When a piece is written, in seconds since 1970.
using WallTime = double;

/// `epoch` is a line of metrics.jsonl.
struct MetricFormat {
  const char* file;
  /// What stands before the first epoch, made from it; null where nothing does.
  std::string (*start)(std::string_view epoch, WallTime now);
  std::string (*piece)(std::string_view epoch, WallTime now);
  /// How many bytes the first `count` pieces take, the start counted as one; fewer pieces if not all are whole.
  size_t (*size)(std::string_view file, int64_t count);
};

/// - metrics.jsonl: the line itself;
/// - metrics.csv: the same numbers as a table; the columns of what is nested are called validation/inside/entropy;
/// - metrics.tfevents: the same for TensorBoard, by those names: TFRecords of the protocol buffer Event.
/// A number that is null, as what is not finite is in JSON, is empty in the table and not among the events.
extern const std::array<MetricFormat, 3> kMetricFormats;

}  // namespace priornet
