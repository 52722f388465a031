#include "tool/server/http_messages.h"

#include <arpa/inet.h>
#include <priornet/uncertainty/errors.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/base/names.h"

namespace priornet::serving {
namespace {

std::string_view found_in(const std::vector<std::pair<std::string, std::string>>& pairs, std::string_view name) {
  for (const auto& [key, value] : pairs)
    if (key == name) return value;
  return {};
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      result += ' ';
    } else if (text[i] == '%') {
      unsigned value = 0;
      if (i + 2 >= text.size()) return {};
      const auto* end = text.data() + i + 3;
      if (std::from_chars(text.data() + i + 1, end, value, 16).ptr != end) return {};
      result += static_cast<char>(value);
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::string_view Request::header(std::string_view name) const { return found_in(headers, name); }
std::string_view Request::parameter(std::string_view name) const { return found_in(query, name); }

Response error_response(int status, std::string_view reason) {
  Response response;
  response.status = status;
  // The reason may contain what a client sent, which may not be UTF-8.
  response.body = json_text(nlohmann::json{{"error", reason}});
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool read_target(std::string_view target, Request& request) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (lower_case(std::string(target.substr(0, scheme.size()))) != scheme) continue;
    const auto rest = target.substr(scheme.size());
    const auto host = rest.substr(0, rest.find_first_of("/?"));
    if (host.empty() || host.find('@') != std::string_view::npos) return false;
    request.headers.emplace_back("host", host);
    target = rest.substr(host.size());
    if (target.empty() || target.front() == '?') return read_target("/" + std::string(target), request);
    break;
  }
  if (target.empty() || target.front() != '/') return false;
  const auto mark = target.find('?');
  auto path = percent_decoded(target.substr(0, mark), false);
  if (!path) return false;
  request.path = std::move(*path);
  auto rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const auto part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const auto equals = part.find('=');
    auto name = percent_decoded(part.substr(0, equals), true);
    auto value = percent_decoded(equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1), true);
    if (!name || !value) return false;
    request.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

bool is_media_type(std::string_view header, std::string_view type) {
  return lower_case(std::string(header.substr(0, type.size()))) == type;
}

namespace {

std::string boundary_of(std::string_view content_type) {
  const auto at = lower_case(std::string(content_type)).find("boundary=");
  if (at == std::string::npos) throw ArgumentError("the form has no boundary in its Content-Type");
  auto rest = content_type.substr(at + 9);
  rest = !rest.empty() && rest.front() == '"' ? rest.substr(1, rest.find('"', 1) - 1) : rest.substr(0, rest.find(';'));
  if (rest.empty() || rest.size() > 70) throw ArgumentError("the form's boundary should have 1 to 70 characters");
  return std::string(rest);
}

}  // namespace

std::string_view file_of_form(std::string_view content_type, std::string_view body) {
  const auto mark = "--" + boundary_of(content_type);
  const auto between = "\r\n" + mark;
  std::optional<std::string_view> first;
  // The first mark may open the body; every later one follows a line end.
  auto at = body.starts_with(mark) ? mark.size() : std::string_view::npos;
  if (const auto later = body.find(between); at == std::string_view::npos && later != std::string_view::npos)
    at = later + between.size();
  while (at != std::string_view::npos && body.substr(at, 2) != "--") {
    const auto head_end = body.find("\r\n\r\n", at);
    const auto end = head_end == std::string_view::npos ? head_end : body.find(between, head_end + 2);
    if (end == std::string_view::npos) throw ArgumentError("the form breaks off inside a part");
    const auto content = end < head_end + 4 ? std::string_view() : body.substr(head_end + 4, end - head_end - 4);
    const auto head = lower_case(std::string(body.substr(at, std::min<size_t>(head_end - at, 4096))));
    if (head.find("filename=") != std::string::npos || head.find("filename*=") != std::string::npos) return content;
    if (!first) first = content;
    at = end + between.size();
  }
  if (!first) throw ArgumentError("the form has no part");
  return *first;
}

std::string read_token(const std::filesystem::path& path) {
  constexpr size_t kLongest = 4096;
  InputFile file(path);
  std::string text(kLongest + 1, '\0');
  text.resize(file.read(text.data(), text.size()));
  text.resize(std::min(text.size(), text.find_first_of("\r\n")));
  if (text.empty()) throw DataError(path.string() + ": should hold a token in its first line, which is empty");
  if (text.size() > kLongest) throw DataError(path.string() + ": should hold a token of at most 4096 bytes");
  return text;
}

std::string host_name(std::string_view host) {
  if (host.starts_with('[')) return lower_case(std::string(host.substr(0, host.find(']') + 1)));
  return lower_case(std::string(host.substr(0, host.find(':'))));
}

bool is_named(std::string_view name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& one) {
    const auto wanted = lower_case(one);
    if (wanted == "*" || wanted == name) return true;
    return wanted.starts_with("*.") && name.size() > wanted.size() - 1 && name.ends_with(wanted.substr(1));
  });
}

bool is_allowed_host(std::string_view name, const std::vector<std::string>& names) {
  if (name == "localhost" || is_named(name, names)) return true;
  auto text = std::string(name);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  in6_addr ignored{};
  return ::inet_pton(AF_INET, text.c_str(), &ignored) == 1 || ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

bool carries_token(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size() ||
      lower_case(std::string(authorization.substr(0, kScheme.size()))) != kScheme)
    return false;
  const auto given = authorization.substr(kScheme.size());
  // Compares every byte, whatever the others are.
  volatile unsigned different = given.size() == token.size() ? 0U : 1U;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto expected = token.empty() ? '\0' : token[i % token.size()];
    different = different | static_cast<unsigned>(static_cast<unsigned char>(given[i] ^ expected));
  }
  return different == 0 && !token.empty();
}

namespace {

// zlib's codes for the wrapper around the data: 2^15 bytes of window, 16 more for gzip, negative for none.
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
  size_t filled = 0;
  while (filled <= most) {
    if (filled == result.size()) result.resize(std::min(most + 1, std::max<size_t>(4096, 2 * filled)));
    stream.next_out = reinterpret_cast<Bytef*>(result.data()) + filled;
    stream.avail_out = static_cast<uInt>(result.size() - filled);
    const auto status = inflate(&stream, Z_NO_FLUSH);
    filled = result.size() - stream.avail_out;
    if (status == Z_STREAM_END) {
      if (form != kGzip || stream.avail_in == 0) break;
      if (inflateReset(&stream) != Z_OK) return Inflated::kDamaged;  // another member follows
    } else if (status != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) {
      return Inflated::kDamaged;
    }
  }
  if (filled > most) return Inflated::kTooLarge;
  result.resize(filled);
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

ContentCoding accepted_coding(std::string_view accepted) {
  const auto text = lower_case(std::string(accepted));
  std::string_view header = text;
  auto best = ContentCoding::kIdentity;
  while (!header.empty()) {
    const auto part = header.substr(0, header.find(','));
    header.remove_prefix(std::min(header.size(), part.size() + 1));
    const auto weight = part.find("q=");
    double value = 1.0;
    if (weight != std::string_view::npos) std::from_chars(part.data() + weight + 2, part.data() + part.size(), value);
    if (value <= 0) continue;
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
    throw ArgumentError("the body should be " + std::string(name_of(coding)) + ", but it is damaged or incomplete");
  return result;
}

std::string compressed(std::string_view body, ContentCoding coding) {
  z_stream stream{};
  constexpr int kFast = 1;
  constexpr int kMemory = 8;
  if (deflateInit2(&stream, kFast, Z_DEFLATED, coding == ContentCoding::kGzip ? kGzip : kZlib, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> ended(&stream, &deflateEnd);
  std::string result(deflateBound(&stream, static_cast<uLong>(body.size())), '\0');
  stream.next_in = bytes_of(body);
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.erase(stream.total_out);
  return result;
}

}  // namespace priornet::serving
