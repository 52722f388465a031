#include "tool/downloads/download.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <charconv>
#include <cstring>
#include <exception>
#include <memory>

namespace priornet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long kMostRedirects = 8;

struct FreeTransfer {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

// The state of one transfer. libcurl is C: no exception may pass through it, so each is kept and thrown afterwards.
struct Transfer {
  const HttpRequest& request;
  const HttpReceiver& receiver;
  CURL* handle;
  std::string content_range;
  bool begun = false;
  bool stalled = false;
  std::string refusal;
  std::exception_ptr error;
  Clock::time_point marked = Clock::now();
  curl_off_t marked_bytes = 0;

  template <class Work>
  bool safely(const Work& work) {
    try {
      return work();
    } catch (...) {
      error = std::current_exception();
      return false;
    }
  }

  int status() const {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
  }

  bool refuse(std::string reason) {
    refusal = std::move(reason);
    return refusal.empty();
  }

  // Called at the first byte of the body, or at its end if it is empty. False stops the transfer.
  bool begin() {
    if (begun) return true;
    begun = true;
    const int code = status();
    if (code != 200 && code != 206) return refuse(fmt::format("HTTP status {}", code));
    HttpAnswer answer;
    if (code == 206 && !ranged(answer)) return refuse("HTTP status 206 without the Content-Range that was asked for");
    if (code == 200) {
      curl_off_t length = -1;
      curl_easy_getinfo(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
      answer.total = length;
    }
    return refuse(receiver.begin(answer));
  }

  // From "bytes 5-9/10" or "bytes 5-9/*".
  bool ranged(HttpAnswer& answer) const {
    const std::string& text = content_range;
    const auto dash = text.find('-');
    const auto slash = text.find('/');
    if (!text.starts_with("bytes ") || dash == std::string::npos || slash == std::string::npos) return false;
    const auto number = [&](size_t begin, int64_t& value) {
      return std::from_chars(text.data() + begin, text.data() + text.size(), value).ec == std::errc();
    };
    if (!number(6, answer.first) || answer.first != request.from) return false;
    return text.compare(slash + 1, 1, "*") == 0 || number(slash + 1, answer.total);
  }

  // Whether less than 1 KiB came since the mark, for longer than allowed.
  bool stands_still(curl_off_t bytes) {
    constexpr curl_off_t kLeast = 1024;
    const auto now = Clock::now();
    if (bytes - marked_bytes >= kLeast) {
      marked = now;
      marked_bytes = bytes;
    }
    stalled = now - marked >= request.stall_timeout;
    return stalled;
  }
};

size_t on_body(char* bytes, size_t, size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const bool go_on = transfer.safely([&] {
    return transfer.begin() && transfer.refuse(transfer.receiver.take({bytes, size}));
  });
  return go_on ? size : size + 1;  // anything but the size stops the transfer
}

size_t on_header(char* bytes, size_t, size_t size, void* self) {
  constexpr std::string_view kName = "content-range:";
  auto& transfer = *static_cast<Transfer*>(self);
  std::string_view line(bytes, size);
  transfer.safely([&] {
    if (line.starts_with("HTTP/")) transfer.content_range.clear();  // a redirect's headers are not the file's
    if (line.size() < kName.size() || ::strncasecmp(line.data(), kName.data(), kName.size()) != 0) return true;
    line.remove_prefix(kName.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    transfer.content_range = line.substr(0, line.find_first_of("\r\n"));
    return true;
  });
  return size;
}

int on_progress(void* self, curl_off_t, curl_off_t now, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(self);
  const bool go_on = transfer.safely([&] {
    if (transfer.receiver.tick) transfer.receiver.tick();
    return !transfer.stands_still(now);
  });
  return go_on ? 0 : 1;
}

void restrict_protocols(CURL* handle, bool secure) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS, secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

void set_up(CURL* handle, Transfer& transfer) {
  const auto& request = transfer.request;
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "priornet");
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, kMostRedirects);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
  restrict_protocols(handle, request.url.starts_with("https:"));
  // libcurl copies the text. Not RESUME_FROM: that makes libcurl itself fail if the server ignores ranges.
  if (request.from > 0) curl_easy_setopt(handle, CURLOPT_RANGE, fmt::format("{}-", request.from).c_str());
}

HttpEnd end_of(CURLcode code, bool connected) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
      return HttpEnd::kUnreachable;
    case CURLE_OPERATION_TIMEDOUT:
      return connected ? HttpEnd::kBrokeOff : HttpEnd::kUnreachable;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return HttpEnd::kBrokeOff;
    default:
      return HttpEnd::kRefused;
  }
}

}  // namespace

HttpOutcome http_get(const HttpRequest& request, const HttpReceiver& receiver) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, FreeTransfer> handle(ready == CURLE_OK ? curl_easy_init() : nullptr);
  if (!handle) throw DataError(request.url + ": libcurl cannot be started");
  Transfer transfer{request, receiver, handle.get(), {}, false, false, {}, nullptr};
  set_up(handle.get(), transfer);
  char words[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, words);

  const CURLcode code = curl_easy_perform(handle.get());
  if (code == CURLE_OK) transfer.safely([&] { return transfer.begin(); });
  if (transfer.error) std::rethrow_exception(transfer.error);
  if (!transfer.refusal.empty()) return {HttpEnd::kRefused, transfer.status(), transfer.refusal};
  if (code == CURLE_OK) return {HttpEnd::kComplete, transfer.status(), {}};
  if (transfer.stalled) {
    const auto seconds = std::chrono::duration<double>(request.stall_timeout).count();
    return {HttpEnd::kBrokeOff, transfer.status(), fmt::format("stalled for {:g} s", seconds)};
  }
  curl_off_t connected = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_CONNECT_TIME_T, &connected);
  return {end_of(code, connected > 0), transfer.status(), *words != '\0' ? words : curl_easy_strerror(code)};
}

}  // namespace priornet
