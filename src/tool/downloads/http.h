#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

// One HTTP request by libcurl: http and https only, certificates verified, few redirects, none from https to http.
// In a build without libcurl it throws DataError.

namespace priornet {

struct HttpRequest {
  std::string url;
  int64_t from = 0;  ///< asks for the bytes from there on
  std::chrono::milliseconds connect_timeout{15'000};
  std::chrono::milliseconds stall_timeout{30'000};  ///< in which at least 1 KiB must come
};

/// How a server that has the file begins its answer.
struct HttpAnswer {
  int64_t first = 0;   ///< which byte of the file comes first: 0 from servers that ignore ranges
  int64_t total = -1;  ///< of the file in bytes, -1 where the server does not say
};

/// Takes an answer. begin and take may return a reason to stop the transfer, and each may throw: the transfer ends at
/// once and http_get throws the same.
struct HttpReceiver {
  std::function<std::string(const HttpAnswer&)> begin;
  std::function<std::string(std::string_view bytes)> take;
  std::function<void()> tick;  ///< at least about once per second, also while nothing comes
};

enum class HttpEnd {
  kComplete,     ///< everything the server meant to send, which may be less than the file
  kBrokeOff,     ///< after the connection was made: another attempt may get further
  kRefused,      ///< by the server's status, by the receiver, or by a rule above
  kUnreachable,  ///< there is no such host, or it does not answer
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::kComplete;
  int status = 0;      ///< of the last answer, 0 where there was none
  std::string reason;  ///< in a few words, unless complete
};

HttpOutcome http_get(const HttpRequest& request, const HttpReceiver& receiver);

}  // namespace priornet
