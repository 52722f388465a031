#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "deploy/export/graph.h"

namespace priornet::graph {

/// A message in protobuf's wire format, field by field; only what ONNX files need.
class Message {
 public:
  void add(int field, int64_t value) {
    tag(field, 0);
    varint(static_cast<uint64_t>(value));
  }
  void add_float(int field, float value) {
    tag(field, 5);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }
  /// Text, bytes, or a message inside this one.
  void add(int field, std::string_view bytes) {
    tag(field, 2);
    varint(bytes.size());
    bytes_.append(bytes);
  }
  void add(int field, const Message& message) { add(field, std::string_view(message.bytes_)); }

  const std::string& bytes() const { return bytes_; }

 private:
  void tag(int field, unsigned wire_type) { varint(static_cast<uint64_t>(field) << 3 | wire_type); }
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_.push_back(static_cast<char>(value % 128 + 128));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

/// Writes the graph as an ONNX file of operator set 13, whole or not at all. ArgumentError for a graph of 2 GiB or
/// more, which protobuf cannot hold.
void write_onnx(const std::filesystem::path& path, const Graph& graph,
                const std::map<std::string, std::string>& metadata);

}  // namespace priornet::graph
