#include "tool/server/content_coding.h"

#include <priornet/uncertainty/errors.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "learning/base/names.h"

namespace priornet::serving {
namespace {

// zlib's numbers for what stands around the data: 2^15 bytes to look back in, 16 more for gzip, negative for nothing.
constexpr int kZlib = 15;
constexpr int kGzip = 15 + 16;
constexpr int kRaw = -15;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

Bytef* bytes_of(std::string_view text) { return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data())); }

struct Inflater {
  explicit Inflater(int form) {
    if (inflateInit2(&stream, form) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

enum class Inflated { kWhole, kDamaged, kTooLarge };

Inflated inflate_into(std::string_view body, int form, size_t most, std::string& result) {
  Inflater inflater(form);
  auto& stream = inflater.stream;
  stream.next_in = bytes_of(body);
  stream.avail_in = static_cast<uInt>(body.size());
  result.clear();
  while (true) {
    const auto before = result.size();
    if (before > most) return Inflated::kTooLarge;
    result.resize(std::min(most + 1, std::max<size_t>(4096, 2 * before)));
    stream.next_out = reinterpret_cast<Bytef*>(result.data()) + before;
    stream.avail_out = static_cast<uInt>(result.size() - before);
    const auto status = inflate(&stream, Z_NO_FLUSH);
    result.erase(result.size() - stream.avail_out);
    if (status == Z_STREAM_END) break;
    if (status != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) return Inflated::kDamaged;
  }
  if (result.size() > most) return Inflated::kTooLarge;
  return stream.avail_in == 0 ? Inflated::kWhole : Inflated::kDamaged;
}

}  // namespace

std::optional<ContentCoding> content_coding(std::string_view header) {
  const auto name = lower_case(std::string(trimmed(header)));
  if (name.empty() || name == "identity") return ContentCoding::kIdentity;
  if (name == "gzip" || name == "x-gzip") return ContentCoding::kGzip;
  if (name == "deflate") return ContentCoding::kDeflate;
  return std::nullopt;
}

ContentCoding accepted_coding(std::string_view header) {
  auto best = ContentCoding::kIdentity;
  while (!header.empty()) {
    const auto part = header.substr(0, header.find(','));
    header.remove_prefix(std::min(header.size(), part.size() + 1));
    const auto weight = part.find("q=");
    if (weight != std::string_view::npos && std::atof(std::string(part.substr(weight + 2)).c_str()) <= 0) continue;
    const auto coding = content_coding(part.substr(0, part.find(';')));
    if (!coding || *coding == ContentCoding::kIdentity) continue;
    if (best != ContentCoding::kGzip) best = *coding;
  }
  return best;
}

std::string_view name_of(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kGzip:
      return "gzip";
    case ContentCoding::kDeflate:
      return "deflate";
    case ContentCoding::kIdentity:
      break;
  }
  return "identity";
}

std::optional<std::string> expanded(std::string_view body, ContentCoding coding, int64_t most) {
  if (coding == ContentCoding::kIdentity) return std::string(body);
  std::string result;
  const auto room = static_cast<size_t>(most);
  auto outcome = inflate_into(body, coding == ContentCoding::kGzip ? kGzip : kZlib, room, result);
  if (outcome == Inflated::kDamaged && coding == ContentCoding::kDeflate)
    outcome = inflate_into(body, kRaw, room, result);
  if (outcome == Inflated::kTooLarge) return std::nullopt;
  if (outcome == Inflated::kDamaged)
    throw ArgumentError("the body should be " + std::string(name_of(coding)) + ", which it is not to its end");
  return result;
}

std::string compressed(std::string_view body, ContentCoding coding) {
  z_stream stream{};
  constexpr int kFast = 1;
  constexpr int kMemory = 8;
  if (deflateInit2(&stream, kFast, Z_DEFLATED, coding == ContentCoding::kGzip ? kGzip : kZlib, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string result(deflateBound(&stream, static_cast<uLong>(body.size())), '\0');
  stream.next_in = bytes_of(body);
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.erase(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace priornet::serving
