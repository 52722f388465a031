#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/files/gzip.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace priornet {
namespace {

enum class Wrapping { kGzip, kZlib };

class InflateStream final : public ByteStream {
 public:
  InflateStream(ByteStream& compressed, std::unique_ptr<ByteStream> owned, Wrapping wrapping)
      : ByteStream(compressed.name()),
        compressed_(compressed),
        owned_(std::move(owned)),
        wrapping_(wrapping),
        buffer_(std::min<size_t>(kBuffer, static_cast<size_t>(compressed.at_most()) + 1)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&state_, MAX_WBITS + (wrapping == Wrapping::kGzip ? kGzipOnly : 0)) != Z_OK)
      throw std::bad_alloc();
  }
  ~InflateStream() override { inflateEnd(&state_); }

  int64_t at_most() const override {
    const auto left = compressed_.at_most() + state_.avail_in;
    return left > std::numeric_limits<int64_t>::max() / kLargestDeflateRatio ? left : left * kLargestDeflateRatio;
  }

 private:
  static constexpr size_t kBuffer = size_t{1} << 18;

  size_t read_some(void* to, size_t size) override {
    state_.next_out = static_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(std::min<size_t>(size, size_t{1} << 30));
    const auto wanted = state_.avail_out;
    while (state_.avail_out == wanted) {
      if (ended_ && wrapping_ == Wrapping::kZlib) return 0;
      if (state_.avail_in == 0) {
        state_.next_in = buffer_.data();
        state_.avail_in = static_cast<uInt>(compressed_.read(buffer_.data(), buffer_.size()));
      }
      if (state_.avail_in == 0) {
        if (ended_) return 0;
        throw DataError(fmt::format("{}: ends at byte {}, within {} data", name(), compressed_.offset(), kind()));
      }
      if (ended_) inflateReset(&state_);
      ended_ = false;
      const int status = inflate(&state_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        ended_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw DataError(fmt::format("{}: damaged {} data near byte {}: {}", name(), kind(),
                                    compressed_.offset() - state_.avail_in,
                                    state_.msg == nullptr ? "unknown error" : state_.msg));
      }
    }
    return wanted - state_.avail_out;
  }

  const char* kind() const { return wrapping_ == Wrapping::kGzip ? "gzip" : "zlib"; }

  ByteStream& compressed_;
  std::unique_ptr<ByteStream> owned_;
  Wrapping wrapping_;
  std::vector<unsigned char> buffer_;
  z_stream state_{};
  bool ended_ = false;  ///< whatever is left is another member
};

}  // namespace

std::string without_gzip(std::string name) {
  constexpr std::string_view kEnding = ".gz";
  if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
  return name;
}

std::unique_ptr<ByteStream> gunzip(std::unique_ptr<ByteStream> compressed) {
  auto& stream = *compressed;
  return std::make_unique<InflateStream>(stream, std::move(compressed), Wrapping::kGzip);
}

std::unique_ptr<ByteStream> gunzip(ByteStream& compressed) {
  return std::make_unique<InflateStream>(compressed, nullptr, Wrapping::kGzip);
}

std::unique_ptr<ByteStream> inflate_zlib(ByteStream& compressed) {
  return std::make_unique<InflateStream>(compressed, nullptr, Wrapping::kZlib);
}

}  // namespace priornet
