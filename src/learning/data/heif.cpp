#include <fmt/format.h>
#include <libheif/heif.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <memory>

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

// A file whose main picture is known by its size: what the boxes say, which the coded picture need not keep to.
struct OpenHeif {
  OpenHeif(std::string_view bytes, const std::string& name) : context(heif_context_alloc()) {
    if (!context) throw std::bad_alloc();
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
