#include <priornet/core/errors.h>
#include <priornet/core/lower_case.h>
#include <priornet/deploy/serve/multipart.h>

#include <optional>
#include <string>

namespace priornet::serving {
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
  // The first mark may open the body; each other one follows a line end.
  auto at = body.starts_with(mark) ? mark.size() : std::string_view::npos;
  if (const auto later = body.find(between); at == std::string_view::npos && later != std::string_view::npos)
    at = later + between.size();
  while (at != std::string_view::npos && body.substr(at, 2) != "--") {
    const auto head_end = body.find("\r\n\r\n", at);
    const auto end = head_end == std::string_view::npos ? head_end : body.find(between, head_end + 2);
    if (end == std::string_view::npos) throw ArgumentError("the form breaks off inside a part");
    const auto content = end < head_end + 4 ? std::string_view() : body.substr(head_end + 4, end - head_end - 4);
    if (lower_case(std::string(body.substr(at, std::min<size_t>(head_end - at, 4096)))).find("filename=") !=
        std::string::npos)
      return content;
    if (!first) first = content;
    at = end + between.size();
  }
  if (!first) throw ArgumentError("the form has no part");
  return *first;
}

}  // namespace priornet::serving
