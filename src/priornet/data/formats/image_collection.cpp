#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/arrays/tensor_memory.h>
#include <priornet/data/files/file_tree.h>
#include <priornet/data/formats/image_collection.h>
#include <priornet/data/images/decode.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <system_error>

namespace priornet {
namespace {

// A batch keeps all threads busy, and takes little memory beside the set.
constexpr size_t kBatchImages = 2048;
constexpr size_t kFirstBatchImages = 16;  // of a size not yet known
constexpr size_t kBatchBytes = size_t{64} << 20;
constexpr size_t kBatchPixels = size_t{64} << 20;

// A row of a batch to its place, a grey one to each of three planes where the set has colours.
void copy_row(const torch::Tensor& batch, int64_t row, int64_t channels, uint8_t* to) {
  const auto bytes = batch.numel() / batch.size(0);
  const auto* from = batch.data_ptr<uint8_t>() + row * bytes;
  for (int64_t copy = 0; copy < channels / batch.size(1); ++copy)
    std::memcpy(to + copy * bytes, from, static_cast<size_t>(bytes));
}

}  // namespace

size_t ImageCollector::batch_images() const {
  if (first_name_.empty()) return kFirstBatchImages;
  return std::clamp<size_t>(kBatchPixels / static_cast<size_t>(height_ * width_), 1, kBatchImages);
}

void ImageCollector::add(std::string path, std::string name, std::string bytes) {
  waiting_bytes_ += bytes.size();
  waiting_.push_back({std::move(path), std::move(name), std::move(bytes)});
  if (waiting_.size() >= batch_images() || waiting_bytes_ >= kBatchBytes) decode_waiting();
}

void ImageCollector::check_size(const Encoded& encoded, const torch::Tensor& image) {
  if (first_name_.empty()) {
    first_name_ = encoded.name;
    height_ = image.size(1);
    width_ = image.size(2);
  } else if (image.size(1) != height_ || image.size(2) != width_) {
    throw DataError(
        fmt::format("{}: is {}x{} pixels while {} is {}x{}; images of several sizes need a resize, as by ,size=64",
                    encoded.name, image.size(2), image.size(1), first_name_, width_, height_));
  }
}

void ImageCollector::decode_waiting() {
  if (waiting_.empty()) return;
  std::vector<torch::Tensor> images(waiting_.size());
  // Kept for each image, so that which is reported does not depend on the threads.
  std::vector<std::exception_ptr> errors(waiting_.size());
  at::parallel_for(0, static_cast<int64_t>(waiting_.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      try {
        images[i] = decode_image(waiting_[i].bytes, waiting_[i].name, options_.channels);
        if (options_.resize) images[i] = resize(images[i], *options_.resize);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  });
  for (size_t i = 0; i < waiting_.size(); ++i) {
    if (errors[i]) std::rethrow_exception(errors[i]);
    check_size(waiting_[i], images[i]);
    channels_ = std::max(channels_, images[i].size(0));
    paths_.push_back(std::move(waiting_[i].path));
  }
  auto batch =
      memory_for(first_name_, {static_cast<int64_t>(images.size()), channels_, height_, width_}, torch::kUInt8);
  for (size_t i = 0; i < images.size(); ++i)
    copy_row(images[i].unsqueeze(0), 0, channels_,
             batch.data_ptr<uint8_t>() + static_cast<int64_t>(i) * channels_ * height_ * width_);
  batches_.push_back(std::move(batch));
  waiting_.clear();
  waiting_bytes_ = 0;
}

ImageCollection ImageCollector::finish(const std::string& set_name, const PathOrder& order) {
  decode_waiting();
  if (paths_.empty()) throw DataError(fmt::format("{}: holds no PNG, JPEG or WebP image", set_name));
  std::vector<size_t> sorted(paths_.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return order(paths_[a], paths_[b]); });
  std::vector<int64_t> place(paths_.size());
  ImageCollection collection;
  for (size_t row = 0; row < sorted.size(); ++row) {
    place[sorted[row]] = static_cast<int64_t>(row);
    collection.paths.push_back(std::move(paths_[sorted[row]]));
  }
  collection.images =
      memory_for(set_name, {static_cast<int64_t>(sorted.size()), channels_, height_, width_}, torch::kUInt8);
  auto* to = collection.images.data_ptr<uint8_t>();
  auto next = place.begin();
  for (auto& batch : batches_) {
    for (int64_t row = 0; row < batch.size(0); ++row)
      copy_row(batch, row, channels_, to + *next++ * channels_ * height_ * width_);
    batch.reset();  // as the set fills, so that memory never holds it twice
  }
  return collection;
}

ImageCollection collect_images(const std::filesystem::path& root, const PathFilter& wanted,
                               const ImageFolderOptions& options, const PathOrder& order) {
  std::error_code ignored;
  if (!std::filesystem::exists(root, ignored)) throw DataError(fmt::format("{}: is not there", root.string()));
  ImageCollector collector(options);
  visit_files(
      root, [&](const std::string& path) { return is_image_path(path) && wanted(path); },
      [&](const std::string& path, ByteStream& bytes) {
        collector.add(path, bytes.name(), bytes.read_rest(kMostImageBytes));
      });
  return collector.finish(root.string(), order);
}

}  // namespace priornet
