#include <fmt/format.h>
#include <gif_lib.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "learning/data/decoded_pixels.h"

namespace priornet {
namespace {

int read_bytes(GifFileType* gif, GifByteType* to, int size) {
  auto& unread = *static_cast<std::string_view*>(gif->UserData);
  const auto count = std::min(static_cast<size_t>(size), unread.size());
  std::memcpy(to, unread.data(), count);
  unread.remove_prefix(count);
  return static_cast<int>(count);
}

struct CloseGif {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};

class GifReader {
 public:
  GifReader(std::string_view bytes, const std::string& name) : bytes_(bytes), unread_(bytes), name_(name) {
    int error = 0;
    gif_.reset(DGifOpen(&unread_, read_bytes, &error));
    if (!gif_) fail(error);
    check_image_size(name_, gif_->SHeight, gif_->SWidth, static_cast<int64_t>(bytes_.size()));
  }

  ImageFacts facts() const {
    return {gif_->SHeight, gif_->SWidth, int64_t{4} * gif_->SHeight * gif_->SWidth};  // indices, then colours
  }

  Pixels read() {
    find_first_frame();
    require(DGifGetImageDesc(gif_.get()));
    const auto& frame = gif_->Image;
    const auto* colours = frame.ColorMap != nullptr ? frame.ColorMap : gif_->SColorMap;
    if (colours == nullptr) fail("has no palette");
    if (frame.Left < 0 || frame.Top < 0 || frame.Width < 1 || frame.Height < 1 ||
        frame.Left + frame.Width > gif_->SWidth || frame.Top + frame.Height > gif_->SHeight)
      fail("its first picture goes beyond its frame");
    const auto indices = read_indices();
    GifRecordType next{};
    require(DGifGetRecordType(gif_.get(), &next));  // there is an end, or another picture
    return coloured(indices, *colours);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw DataError(fmt::format("{}: does not decode as GIF: {}", name_, why));
  }
  [[noreturn]] void fail(int error) const {
    const auto* why = GifErrorString(error);
    fail(unread_.empty() ? std::string("ends too soon") : why == nullptr ? std::string("damaged") : std::string(why));
  }
  void require(int status) const {
    if (status != GIF_OK) fail(gif_->Error);
  }

  // Skips comments and the like, and keeps only the transparent index.
  void find_first_frame() {
    for (GifRecordType type{};;) {
      require(DGifGetRecordType(gif_.get(), &type));
      if (type == IMAGE_DESC_RECORD_TYPE) return;
      if (type != EXTENSION_RECORD_TYPE) fail("holds no picture");
      int code = 0;
      GifByteType* block = nullptr;
      require(DGifGetExtension(gif_.get(), &code, &block));
      GraphicsControlBlock control{};
      if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK && control.TransparentColor >= 0)
        around_ = static_cast<GifByteType>(control.TransparentColor);
      while (block != nullptr) require(DGifGetExtensionNext(gif_.get(), &block));
    }
  }

  // The whole frame; pixels that the picture does not cover are transparent, or have the first colour, as in Pillow.
  std::vector<GifByteType> read_indices() {
    const auto& frame = gif_->Image;
    const auto width = static_cast<size_t>(gif_->SWidth);
    std::vector<GifByteType> indices(width * static_cast<size_t>(gif_->SHeight), around_);
    const auto read_line = [&](int y) {
      auto* to = indices.data() + static_cast<size_t>(frame.Top + y) * width + static_cast<size_t>(frame.Left);
      require(DGifGetLine(gif_.get(), to, frame.Width));
    };
    if (frame.Interlace) {
      for (const auto& [first, step] : {std::pair{0, 8}, {4, 8}, {2, 4}, {1, 2}})
        for (int y = first; y < frame.Height; y += step) read_line(y);
    } else {
      for (int y = 0; y < frame.Height; ++y) read_line(y);
    }
    return indices;
  }

  Pixels coloured(const std::vector<GifByteType>& indices, const ColorMapObject& colours) const {
    const auto count = static_cast<size_t>(colours.ColorCount);
    const bool grey = std::all_of(colours.Colors, colours.Colors + count,
                                  [](const auto& c) { return c.Red == c.Green && c.Green == c.Blue; });
    Pixels pixels{gif_->SHeight, gif_->SWidth, grey ? 1 : 3, {}};
    pixels.values.reserve(indices.size() * static_cast<size_t>(pixels.channels));
    for (const auto index : indices) {
      const auto colour = index < count ? colours.Colors[index] : GifColorType{0, 0, 0};
      pixels.values.push_back(colour.Red);
      if (grey) continue;
      pixels.values.push_back(colour.Green);
      pixels.values.push_back(colour.Blue);
    }
    return pixels;
  }

  std::string_view bytes_;
  std::string_view unread_;
  const std::string& name_;
  std::unique_ptr<GifFileType, CloseGif> gif_;
  GifByteType around_ = 0;
};

}  // namespace

ImageFacts gif_facts(std::string_view bytes, const std::string& name) { return GifReader(bytes, name).facts(); }

Pixels decode_gif(std::string_view bytes, const std::string& name) { return GifReader(bytes, name).read(); }

}  // namespace priornet
