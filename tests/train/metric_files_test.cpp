#include "learning/training/metric_files.h"
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <testing/small_runs.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace priornet {
namespace {

using Start = RunFolder::Start;

// A reader of event files, written from the specifications of TFRecords and of the wire format of protocol buffers.

// Castagnoli's checksum by a table, as it is usually computed; the writer computes it bit by bit.
uint32_t crc32c(const std::string& bytes) {
  std::array<uint32_t, 256> table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = (table[i] & 1) == 1 ? table[i] / 2 ^ 0x82f63b78 : table[i] / 2;
  }
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return crc ^ 0xffffffff;
}

uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  bool at_end() const { return at_ == bytes_.size(); }
  std::string take(size_t count) {
    if (count > bytes_.size() - at_) throw DataError("the bytes end too early");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

std::vector<std::string> records_in(const std::string& file) {
  Bytes bytes(file);
  std::vector<std::string> records;
  while (!bytes.at_end()) {
    const auto length = bytes.take(8);
    EXPECT_EQ(bytes.number<uint32_t>(), masked(crc32c(length)));
    records.push_back(bytes.take(Bytes(length).number<uint64_t>()));
    EXPECT_EQ(bytes.number<uint32_t>(), masked(crc32c(records.back())));
  }
  return records;
}

struct Event {
  double wall_time = 0;
  uint64_t step = 0;
  std::string version;
  std::map<std::string, float> values;
};

std::pair<std::string, float> read_value(const std::string& message) {
  Bytes bytes(message);
  std::pair<std::string, float> value;
  while (!bytes.at_end()) {
    const auto key = bytes.varint();
    if (key == (1 << 3 | 2))
      value.first = bytes.take(bytes.varint());
    else if (key == (2 << 3 | 5))
      value.second = bytes.number<float>();
    else
      ADD_FAILURE() << "a value has the key " << key;
  }
  return value;
}

Event read_event(const std::string& message) {
  Bytes bytes(message);
  Event event;
  while (!bytes.at_end()) {
    const auto key = bytes.varint();
    if (key == (1 << 3 | 1)) {
      event.wall_time = bytes.number<double>();
    } else if (key == (2 << 3 | 0)) {
      event.step = bytes.varint();
    } else if (key == (3 << 3 | 2)) {
      event.version = bytes.take(bytes.varint());
    } else if (key == (5 << 3 | 2)) {
      Bytes summary(bytes.take(bytes.varint()));
      while (!summary.at_end()) {
        EXPECT_EQ(summary.varint(), 1u << 3 | 2u);
        event.values.insert(read_value(summary.take(summary.varint())));
      }
    } else {
      ADD_FAILURE() << "an event has the key " << key;
      break;
    }
  }
  return event;
}

std::vector<Event> events_in(const std::filesystem::path& path) {
  std::vector<Event> events;
  for (const auto& record : records_in(bytes_of(path))) events.push_back(read_event(record));
  return events;
}

// Every event file of TensorFlow begins with these bytes: 24, its masked checksum, and the key of wall_time.
TEST(MetricFiles, BeginTheEventsAsTensorFlowDoes) {
  ASSERT_EQ(crc32c("123456789"), 0xe3069283u);  // the check value of CRC-32C
  const auto start = kMetricFormats[2].start("{}", 0.0);
  EXPECT_EQ(start.substr(0, 13), std::string("\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09", 13));
  EXPECT_EQ(read_event(records_in(start).at(0)).version, "brain.Event:2");
}

TEST(MetricFiles, SayTheSameInEveryFormat) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  trained(small_config(), run);
  const auto metrics = metrics_of(run);
  const auto events = events_in(run.path() / "metrics.tfevents");
  ASSERT_EQ(events.size(), metrics.size() + 1);
  std::stringstream table(bytes_of(run.path() / "metrics.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_TRUE(line.starts_with("epoch,loss,inside,outside,cross_entropy,")) << line;
  EXPECT_NE(line.find(",images_per_second,"), std::string::npos) << line;
  EXPECT_NE(line.find(",validation/nll,"), std::string::npos) << line;
  EXPECT_NE(line.find(",validation/outside/differential_entropy"), std::string::npos) << line;
  const auto columns = std::count(line.begin(), line.end(), ',');
  for (size_t i = 0; i < metrics.size(); ++i) {
    const auto& event = events[i + 1];
    EXPECT_EQ(event.step, i + 1);
    EXPECT_GT(event.wall_time, 1.7e9);
    EXPECT_EQ(event.values.at("loss"), metrics[i]["loss"].get<float>());
    EXPECT_EQ(event.values.at("validation/inside/entropy"), metrics[i]["validation"]["inside"]["entropy"].get<float>());
    EXPECT_EQ(static_cast<int64_t>(event.values.size()), columns);  // all but the epoch
    ASSERT_TRUE(std::getline(table, line));
    EXPECT_TRUE(line.starts_with(fmt::format("{},{},", i + 1, metrics[i]["loss"].dump()))) << line;
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns);
  }
  EXPECT_FALSE(std::getline(table, line)) << line;
}

TEST(MetricFiles, AreCutWhereARunGoesOn) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  const auto epoch = [](int number) {
    return fmt::format(R"({{"epoch":{},"loss":{}.5,"validation":{{"nll":null}}}})", number, number);
  };
  for (const int number : {1, 2, 3}) run.add_metrics(epoch(number));
  std::ofstream(run.path() / "metrics.tfevents", std::ios::app | std::ios::binary) << "half a record";
  std::ofstream(run.path() / "metrics.csv", std::ios::app) << "4,";
  run.cut_metrics(3);
  run.add_metrics(epoch(7));
  EXPECT_EQ(bytes_of(run.path() / "metrics.csv"), "epoch,loss,validation/nll\n1,1.5,\n2,2.5,\n7,7.5,\n");
  EXPECT_EQ(bytes_of(run.metrics()), epoch(1) + "\n" + epoch(2) + "\n" + epoch(7) + "\n");
  const auto events = events_in(run.path() / "metrics.tfevents");
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[3].step, 7u);
  EXPECT_EQ(events[3].values, (std::map<std::string, float>{{"loss", 7.5F}}));
  // A run that begins again may have other columns.
  run.cut_metrics(1);
  run.add_metrics(R"({"epoch":1,"error":0.5})");
  EXPECT_EQ(bytes_of(run.path() / "metrics.csv"), "epoch,error\n1,0.5\n");
  EXPECT_EQ(events_in(run.path() / "metrics.tfevents").size(), 2u);
}

TEST(MetricFiles, GetTodaysNamesWhereAnOlderRunGoesOn) {
  const TemporaryFolder folder;
  const RunFolder run(folder / "run", Start::kNew);
  for (const int number : {1, 2, 3}) run.add_metrics(fmt::format(R"({{"epoch":{},"images_a_second":9.5}})", number));
  run.cut_metrics(3);
  run.add_metrics(R"({"epoch":3,"images_per_second":8.5})");
  EXPECT_EQ(bytes_of(run.path() / "metrics.csv"), "epoch,images_per_second\n1,9.5\n2,9.5\n3,8.5\n");
  EXPECT_EQ(bytes_of(run.metrics()),
            "{\"epoch\":1,\"images_per_second\":9.5}\n{\"epoch\":2,\"images_per_second\":9.5}\n"
            "{\"epoch\":3,\"images_per_second\":8.5}\n");
  EXPECT_EQ(events_in(run.path() / "metrics.tfevents").size(), 4u);
}

}  // namespace
}  // namespace priornet
