#include <fmt/format.h>
#include <priornet/core/checks.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/tensor_memory.h>
#include <priornet/data/files/byte_stream.h>
#include <priornet/data/formats/cifar.h>
#include <priornet/data/formats/named_files.h>

#include <algorithm>
#include <cstring>

namespace priornet {
namespace {

constexpr int64_t kPixels = 3 * 32 * 32;
constexpr int64_t kBlock = 64;            // records read at a time: they stay in the processor's cache
constexpr int64_t kFirstGuess = 1 << 16;  // records to make room for where a file's length is not known

class RecordReader {
 public:
  RecordReader(ByteStream& bytes, const CifarSet& set)
      : bytes_(bytes),
        record_(set.label_bytes + kPixels),
        block_(std::min(kBlock, kPixels / set.label_bytes)),
        classes_(static_cast<int64_t>(set.class_names.size())) {}

  /// Reads up to `most` records and returns how many there were.
  int64_t read(int64_t most, uint8_t* pixels, int64_t* labels) {
    int64_t done = 0;
    while (done < most) {
      const auto wanted = std::min(block_, most - done);
      // Straight to where the pixels go: their labels take no more than the room of the row after. The last block has
      // no such row.
      const bool has_room = done + wanted < most;
      if (!has_room) last_block_.resize(static_cast<size_t>(wanted * record_));
      auto* to = pixels + done * kPixels;
      const auto* from = has_room ? to : last_block_.data();
      const auto got = read_block(has_room ? to : last_block_.data(), wanted);
      for (int64_t i = 0; i < got; ++i) {
        labels[done + i] = checked(from[(i + 1) * record_ - kPixels - 1], i - got);
        std::memmove(to + i * kPixels, from + (i + 1) * record_ - kPixels, kPixels);
      }
      done += got;
      if (got < wanted) break;
    }
    return done;
  }

 private:
  int64_t read_block(uint8_t* to, int64_t records) {
    const auto got = static_cast<int64_t>(bytes_.read(to, static_cast<size_t>(records * record_)));
    if (got % record_ != 0)
      throw DataError(fmt::format("{}: ends at byte {}, within record {} (from 0): wanted {} bytes a record",
                                  bytes_.name(), bytes_.offset(), bytes_.offset() / record_, record_));
    return got / record_;
  }

  int64_t checked(int64_t label, int64_t records_from_here) const {
    if (label >= classes_) {
      const auto record = bytes_.offset() / record_ + records_from_here;
      throw DataError(fmt::format("{}: byte {}: label {} of record {} (from 0) should be in [0, {})", bytes_.name(),
                                  (record + 1) * record_ - kPixels - 1, label, record, classes_));
    }
    return label;
  }

  ByteStream& bytes_;
  int64_t record_;
  int64_t block_;
  int64_t classes_;
  std::vector<uint8_t> last_block_;
};

struct Rows {
  Rows(const std::string& name, int64_t count)
      : pixels(memory_for(name, {count, 3, 32, 32}, torch::kUInt8)), labels(memory_for(name, {count}, torch::kInt64)) {}
  Rows(torch::Tensor some_pixels, torch::Tensor some_labels)
      : pixels(std::move(some_pixels)), labels(std::move(some_labels)) {}

  int64_t count() const { return labels.size(0); }
  Rows part(int64_t first, int64_t size) const {
    return {pixels.narrow(0, first, size), labels.narrow(0, first, size)};
  }
  void copy_from(const Rows& other) const {
    pixels.copy_(other.pixels);
    labels.copy_(other.labels);
  }
  int64_t fill(RecordReader& reader) const {
    return reader.read(count(), pixels.data_ptr<uint8_t>(), labels.data_ptr<int64_t>());
  }

  torch::Tensor pixels;
  torch::Tensor labels;
};

// All records of a file whose length is only known to be limited, in the memory given if they fit.
Rows read_all(ByteStream& bytes, const CifarSet& set, Rows rows) {
  RecordReader reader(bytes, set);
  auto count = rows.fill(reader);
  while (count == rows.count()) {
    const Rows next(bytes.name(), 1);
    if (next.fill(reader) == 0) break;
    const Rows larger(bytes.name(), 2 * count + 1);
    larger.part(0, count).copy_from(rows);
    larger.part(count, 1).copy_from(next);
    rows = larger;
    count += 1 + larger.part(count + 1, count).fill(reader);
  }
  if (count == 0) throw DataError(fmt::format("{}: is empty", bytes.name()));
  return rows.part(0, count);
}

}  // namespace

Dataset read_cifar(const std::filesystem::path& root, const CifarSet& set) {
  check_range("read_cifar", "files", !set.files.empty(), "at least one", 0);
  check_range("read_cifar", "label_bytes", set.label_bytes >= 1 && set.label_bytes <= kPixels, "1 to 3072",
              static_cast<double>(set.label_bytes));
  const auto files = static_cast<int64_t>(set.files.size());
  Rows all(root.string(), 0);
  int64_t each = 0;
  visit_named_files(root, set.files, [&](size_t which, ByteStream& bytes) {
    const auto file = static_cast<int64_t>(which);
    if (each == 0) {
      // Mostly right; where it is too much, memory that is not filled is never touched.
      const auto record = set.label_bytes + kPixels;
      const auto guess = std::clamp<int64_t>(bytes.at_most() / record, 1, kFirstGuess);
      all = Rows(root.string(), files * guess);
      if (guess * record == bytes.at_most()) touch(all.pixels);  // a file whose length is known
      const auto first = read_all(bytes, set, all.part(file * guess, guess));
      each = first.count();
      if (each != guess) {
        all = Rows(root.string(), files * each);
        all.part(file * each, each).copy_from(first);
      }
      return;
    }
    RecordReader reader(bytes, set);
    if (const auto count = all.part(file * each, each).fill(reader); count < each)
      throw DataError(
          fmt::format("{}: holds {} records: wanted {}, as the other files hold", bytes.name(), count, each));
    bytes.expect_end(fmt::format("a file of {} records, as the others are,", each));
  });
  return {root.string(), all.pixels, all.labels, set.class_names, {}};
}

}  // namespace priornet
