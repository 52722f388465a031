#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Bodies compressed on their way: gzip and deflate, as HTTP names them.

namespace priornet::serving {

enum class ContentCoding { kIdentity, kGzip, kDeflate };

/// Of a Content-Encoding header; nothing where it is another coding, or several.
std::optional<ContentCoding> content_coding(std::string_view header);

/// The best of what an Accept-Encoding header allows.
ContentCoding accepted_coding(std::string_view header);

/// "gzip", "deflate".
std::string_view name_of(ContentCoding coding);

/// The bytes a body was made from; deflate with zlib's header or without. Nothing where they would be more than `most`.
/// ArgumentError where the body is damaged or breaks off.
std::optional<std::string> expanded(std::string_view body, ContentCoding coding, int64_t most);

std::string compressed(std::string_view body, ContentCoding coding);

}  // namespace priornet::serving
