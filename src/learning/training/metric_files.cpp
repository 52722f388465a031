#include "learning/training/metric_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "learning/base/file_io.h"

namespace priornet {
namespace {

using Json = nlohmann::ordered_json;

// Names and numbers of a line, in its order.
using Numbers = std::vector<std::pair<std::string, Json>>;

void flatten(const Json& object, const std::string& prefix, Numbers& numbers) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object())
      flatten(value, prefix + name + "/", numbers);
    else
      numbers.emplace_back(prefix + name, value);
  }
}

Numbers numbers_of(std::string_view epoch) {
  Numbers numbers;
  flatten(Json::parse(epoch), "", numbers);
  return numbers;
}

std::string json_line(std::string_view epoch, WallTime) { return std::string(epoch) + "\n"; }

std::string csv_names(std::string_view epoch, WallTime) {
  std::vector<std::string> names;
  for (const auto& [name, value] : numbers_of(epoch)) names.push_back(name);
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string csv_row(std::string_view epoch, WallTime) {
  std::vector<std::string> values;
  for (const auto& [name, value] : numbers_of(epoch)) values.push_back(value.is_null() ? "" : value.dump());
  return fmt::format("{}\n", fmt::join(values, ","));
}

size_t size_of_lines(std::string_view file, int64_t count) {
  size_t size = 0;
  for (int64_t line = 0; line < count; ++line) {
    const auto end = file.find('\n', size);
    if (end == std::string_view::npos) break;  // a line that was never finished
    size = end + 1;
  }
  return size;
}

std::string with_new_names(std::string file) {
  constexpr std::string_view kOld = "images_a_second";
  constexpr std::string_view kNew = "images_per_second";
  for (size_t at = file.find(kOld); at != std::string::npos; at = file.find(kOld, at + kNew.size()))
    file.replace(at, kOld.size(), kNew);
  return file;
}

// A TFRecord: length (8 bytes), its checksum (4), the bytes, their checksum (4), all little-endian.
constexpr size_t kBeforeBytes = 12;
constexpr size_t kAfterBytes = 4;
static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

template <class Number>
void append_number(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// CRC-32C, turned and shifted as in TFRecords, so that a checksum of checksums means something.
uint32_t masked_checksum(std::string_view bytes) {
  constexpr uint32_t kPolynomial = 0x82f63b78;
  uint32_t checksum = 0xffffffff;
  for (const char c : bytes) {
    checksum ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) checksum = (checksum >> 1) ^ ((checksum & 1) != 0 ? kPolynomial : 0);
  }
  return std::rotr(~checksum, 15) + 0xa282ead8;
}

std::string record(std::string_view bytes) {
  std::string framed;
  append_number(framed, uint64_t{bytes.size()});
  append_number(framed, masked_checksum(framed));
  framed += bytes;
  append_number(framed, masked_checksum(bytes));
  return framed;
}

size_t size_of_records(std::string_view file, int64_t count) {
  size_t size = 0;
  for (int64_t record = 0; record < count; ++record) {
    uint64_t length = 0;
    if (file.size() - size < kBeforeBytes + kAfterBytes) break;
    std::memcpy(&length, file.data() + size, sizeof(length));
    if (length > file.size() - size - kBeforeBytes - kAfterBytes) break;
    size += kBeforeBytes + length + kAfterBytes;
  }
  return size;
}

// Protocol buffers: the number of a field and how it is written, then its value.
enum WireType { kVarint = 0, kEightBytes = 1, kLengthAndBytes = 2, kFourBytes = 5 };

void append_varint(std::string& message, uint64_t number) {
  for (; number >= 0x80; number >>= 7) message.push_back(static_cast<char>(number | 0x80));
  message.push_back(static_cast<char>(number));
}

void append_key(std::string& message, uint64_t field, WireType type) { append_varint(message, field << 3 | type); }

void append_bytes(std::string& message, uint64_t field, std::string_view bytes) {
  append_key(message, field, kLengthAndBytes);
  append_varint(message, bytes.size());
  message += bytes;
}

// Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
std::string event(WallTime now) {
  std::string message;
  append_key(message, 1, kEightBytes);
  append_number(message, now);
  return message;
}

std::string version_event(std::string_view, WallTime now) {
  auto message = event(now);
  append_bytes(message, 3, "brain.Event:2");
  return record(message);
}

// Summary { repeated Value value = 1; }, Value { string tag = 1; float simple_value = 2; }
std::string epoch_event(std::string_view epoch, WallTime now) {
  const auto numbers = numbers_of(epoch);
  std::string summary;
  uint64_t step = 0;
  for (const auto& [name, value] : numbers) {
    if (!value.is_number()) continue;
    if (name == "epoch") {
      step = value.get<uint64_t>();
      continue;
    }
    std::string one;
    append_bytes(one, 1, name);
    append_key(one, 2, kFourBytes);
    append_number(one, value.get<float>());
    append_bytes(summary, 1, one);
  }
  auto message = event(now);
  append_key(message, 2, kVarint);
  append_varint(message, step);
  append_bytes(message, 5, summary);
  return record(message);
}

}  // namespace

// TensorBoard reads every file whose name has "tfevents" in it.
const std::array<MetricFormat, 3> kMetricFormats = {{
    {"metrics.jsonl", nullptr, json_line, size_of_lines, with_new_names},
    {"metrics.csv", csv_names, csv_row, size_of_lines, with_new_names},
    {"metrics.tfevents", version_event, epoch_event, size_of_records, nullptr},
}};

std::vector<Json> epochs_in(const std::filesystem::path& metrics) {
  std::vector<Json> epochs;
  if (!std::filesystem::exists(metrics)) return epochs;
  std::istringstream lines(InputFile(metrics).read_rest());
  for (std::string line; std::getline(lines, line);)
    if (auto epoch = Json::parse(line, nullptr, false); epoch.is_object()) epochs.push_back(std::move(epoch));
  return epochs;
}

}  // namespace priornet
