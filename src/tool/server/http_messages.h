#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// HTTP as the server's routes see it, independent of the library below.

namespace priornet::serving {

struct Request {
  std::string method;
  std::string path;                                          ///< decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;    ///< decoded
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;
  std::string peer;  ///< the client's address, by which limits count; for IPv6 the network, /64

  /// By its name in lower case; empty if there is none.
  std::string_view header(std::string_view name) const;
  /// Empty if there is none.
  std::string_view parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Call it once, from any thread; of several copies only the first call counts.
using Responder = std::function<void(Response)>;
/// What a server does with requests. Both may be called from several threads at a time.
struct Handler {
  /// For a request whose body has not arrived yet: nothing if it may arrive, else the answer.
  std::function<std::optional<Response>(const Request&)> admit;
  /// Answers now or later.
  std::function<void(Request, Responder)> answer;
};

/// {"error": reason}; 503 comes with Retry-After, 401 with WWW-Authenticate.
Response error_response(int status, std::string_view reason);

/// Splits a request's target into path and query, with %XX decoded ("+" is a space in the query). An absolute target,
/// http://HOST/path, also adds a header "host", which counts instead of the one that was sent. False if the target is
/// malformed.
bool read_target(std::string_view target, Request& request);

/// Whether a Content-Type header begins with this type, whatever its case: "image/", "text/csv".
bool is_media_type(std::string_view header, std::string_view type);

/// The file in the body of a form: its first part with a file name, or the first part. `content_type` is that of the
/// request, with the boundary. ArgumentError if there is no boundary, no part, or no end of one. A view of `body`.
std::string_view file_of_form(std::string_view content_type, std::string_view body);

/// The first line of a file. DataError: it cannot be read, is empty, or longer than 4096 bytes.
std::string read_token(const std::filesystem::path& path);

/// The name or address in a Host header, or in an origin after its scheme: without the port, in lower case.
std::string host_name(std::string_view host);
/// Whether a name is one of `names`: "a.example.org", "*.example.org" (everything below example.org), "*" (any).
bool is_named(std::string_view name, const std::vector<std::string>& names);
/// The same, or an IP address, or localhost.
bool is_allowed_host(std::string_view name, const std::vector<std::string>& names);

/// Whether an Authorization header contains the token: "Bearer TOKEN". Takes the same time however much of the token is
/// right.
bool carries_token(std::string_view authorization, std::string_view token);

// Bodies compressed on their way: gzip and deflate, as HTTP names them.

enum class ContentCoding { kIdentity, kGzip, kDeflate };

/// For a Content-Encoding header; nothing if it names another coding, or several.
std::optional<ContentCoding> content_coding(std::string_view header);

/// The best coding that an Accept-Encoding header allows.
ContentCoding accepted_coding(std::string_view header);

/// "gzip", "deflate".
std::string_view name_of(ContentCoding coding);

/// The bytes of a compressed body; gzip in one or more members, deflate with or without zlib's header. Nothing if they
/// would be more than `most`. ArgumentError if the body is damaged or incomplete.
std::optional<std::string> expanded(std::string_view body, ContentCoding coding, int64_t most);

std::string compressed(std::string_view body, ContentCoding coding);

}  // namespace priornet::serving
