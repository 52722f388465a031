#include <fmt/format.h>
#include <libheif/heif.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "learning/data/decoded_pixels.h"

namespace priornet {
namespace {

template <auto Release>
struct Released {
  template <class T>
  void operator()(T* object) const {
    Release(object);
  }
};
template <class T, auto Release>
using Owned = std::unique_ptr<T, Released<Release>>;

void require(const heif_error& error, const std::string& name) {
  if (error.code != heif_error_Ok) throw DataError(fmt::format("{}: does not decode as HEIC: {}", name, error.message));
}

// The boxes that a file, or another box, consists of: length, four letters, content.
class Boxes {
 public:
  explicit Boxes(std::string_view bytes) : left_(bytes) {}

  /// Goes to the next box; false at the end, or where the rest is none.
  bool next() {
    if (left_.size() < 8) return false;
    auto length = number(left_, 0, 4);
    size_t header = 8;
    if (length == 1 && left_.size() >= 16) {
      length = number(left_, 8, 8);
      header = 16;
    } else if (length == 0) {
      length = left_.size();
    }
    if (length < header || length > left_.size()) return false;
    name_ = left_.substr(4, 4);
    content_ = left_.substr(header, length - header);
    left_.remove_prefix(length);
    return true;
  }

  std::string_view name() const { return name_; }
  std::string_view content() const { return content_; }

  static uint64_t number(std::string_view bytes, size_t at, size_t size) {
    uint64_t value = 0;
    for (const char byte : bytes.substr(at, size)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

 private:
  std::string_view left_, name_, content_;
};

// Which pictures each picture is made of: tiles, layers, its transparency.
using PictureParts = std::map<uint64_t, std::vector<uint64_t>>;

void add_references(std::string_view box, PictureParts& parts) {
  if (box.size() < 4) return;
  const size_t width = box[0] == 0 ? 2 : 4;  // of a picture's number
  for (Boxes references(box.substr(4)); references.next();) {
    const auto list = references.content();
    if (list.size() < width + 2) continue;
    const auto from = Boxes::number(list, 0, width);
    for (auto at = width + 2; at + width <= list.size(); at += width) {
      const auto to = Boxes::number(list, at, width);
      if (references.name() == "dimg") parts[from].push_back(to);
      if (references.name() == "auxl") parts[to].push_back(from);
    }
  }
}

// libheif decodes a picture, and those that it is made of, again wherever it is referred to, with no end if it is made
// of itself, and runs out of stack.
class PartCounts {
 public:
  PartCounts(const PictureParts& parts, const std::string& name) : parts_(parts), name_(name) {
    for (const auto& [picture, ignored] : parts) count(picture, 0);
  }

 private:
  uint64_t count(uint64_t picture, int depth) {
    constexpr int kDeepest = 8;
    constexpr uint64_t kMost = 4096;
    const auto found = parts_.find(picture);
    if (found == parts_.end()) return 1;
    if (const auto known = counts_.find(picture); known != counts_.end()) return known->second;
    uint64_t all = 1;
    for (const auto part : found->second) {
      all += depth < kDeepest ? count(part, depth + 1) : kMost;
      if (all > kMost)
        throw DataError(
            fmt::format("{}: does not decode as HEIC: a picture is made of itself, or of more than {}", name_, kMost));
    }
    return counts_[picture] = all;
  }

  const PictureParts& parts_;
  const std::string& name_;
  std::map<uint64_t, uint64_t> counts_;
};

void check_references(std::string_view bytes, const std::string& name) {
  PictureParts parts;
  for (Boxes file(bytes); file.next();) {
    if (file.name() != "meta" || file.content().size() < 4) continue;
    for (Boxes meta(file.content().substr(4)); meta.next();)
      if (meta.name() == "iref") add_references(meta.content(), parts);
  }
  PartCounts(parts, name);
}

// A file whose main picture is known by its size: what the boxes say, which the coded picture need not keep to.
struct OpenHeif {
  OpenHeif(std::string_view bytes, const std::string& name) : context(heif_context_alloc()) {
    if (!context) throw std::bad_alloc();
    check_references(bytes, name);
    heif_context_set_max_decoding_threads(context.get(), 0);  // images are already decoded in parallel
    require(heif_context_read_from_memory_without_copy(context.get(), bytes.data(), bytes.size(), nullptr), name);
    heif_image_handle* found = nullptr;
    require(heif_context_get_primary_image_handle(context.get(), &found), name);
    handle.reset(found);
    height = heif_image_handle_get_height(found);
    width = heif_image_handle_get_width(found);
    check_image_size(name, height, width, static_cast<int64_t>(bytes.size()));
    constexpr int64_t kPadding = 64;  // of coded blocks
    const auto stored = std::max(heif_image_handle_get_ispe_height(found), heif_image_handle_get_ispe_width(found));
    side = std::min(std::max({height, width, int64_t{stored}}), kLargestImageSide) + kPadding;
    heif_context_set_maximum_image_size_limit(context.get(), static_cast<int>(side));  // of what tiles are put into
  }

  Owned<heif_context, heif_context_free> context;
  Owned<heif_image_handle, heif_image_handle_release> handle;
  int64_t height = 0;
  int64_t width = 0;
  int64_t side = 0;  ///< of the largest picture that its tiles may be put into
};

}  // namespace

ImageFacts heif_facts(std::string_view bytes, const std::string& name) {
  const OpenHeif open(bytes, name);
  return {open.height, open.width, 3 * 3 * open.side * open.side};  // as coded, as RGB, and the copy
}

Pixels decode_heif(std::string_view bytes, const std::string& name) {
  const OpenHeif open(bytes, name);
  const Owned<heif_decoding_options, heif_decoding_options_free> options(heif_decoding_options_alloc());
  if (!options) throw std::bad_alloc();
  options->convert_hdr_to_8bit = 1;
  heif_image* decoded = nullptr;
  require(
      heif_decode_image(open.handle.get(), &decoded, heif_colorspace_RGB, heif_chroma_interleaved_RGB, options.get()),
      name);
  const Owned<heif_image, heif_image_release> image(decoded);
  int stride = 0;
  const auto* plane = heif_image_get_plane_readonly(decoded, heif_channel_interleaved, &stride);
  Pixels pixels{heif_image_get_height(decoded, heif_channel_interleaved),
                heif_image_get_width(decoded, heif_channel_interleaved),
                3,
                {}};
  if (plane == nullptr || pixels.height < 1 || pixels.width < 1 || stride < 3 * pixels.width)
    throw DataError(fmt::format("{}: does not decode as HEIC: it holds no picture", name));
  if (pixels.height != open.height || pixels.width != open.width)
    throw DataError(fmt::format("{}: does not decode as HEIC: it says that it is {}x{}, but holds {}x{} pixels", name,
                                open.width, open.height, pixels.width, pixels.height));
  pixels.values.resize(static_cast<size_t>(3 * pixels.height * pixels.width));
  for (int64_t y = 0; y < pixels.height; ++y)
    std::copy_n(plane + y * stride, 3 * pixels.width, pixels.values.data() + 3 * y * pixels.width);
  return pixels;
}

}  // namespace priornet
