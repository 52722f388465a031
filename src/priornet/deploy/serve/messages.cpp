#include <priornet/deploy/serve/messages.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

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
  // What a client sent may be in the reason, and need not be UTF-8.
  response.body = nlohmann::json{{"error", reason}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (status == 503) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool read_target(std::string_view target, Request& request) {
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

}  // namespace priornet::serving
