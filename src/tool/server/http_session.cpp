#include "tool/server/http_session.h"

#include "learning/base/names.h"

namespace priornet::serving {

std::optional<Request> head_of(const BeastRequest& message) {
  Request request;
  request.method = message.method() == http::verb::head ? "GET" : std::string(message.method_string());
  const auto target = message.target();
  if (!read_target({target.data(), target.size()}, request)) return std::nullopt;
  for (const auto& field : message)
    request.headers.emplace_back(lower_case(std::string(field.name_string())), std::string(field.value()));
  return request;
}

BeastResponse message_of(Response response, const ResponseForm& form) {
  BeastResponse message(static_cast<http::status>(response.status), form.version);
  message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(form.keep_alive);
  message.content_length(response.body.size());
  if (!form.head) message.body() = std::move(response.body);
  return message;
}

bool parse_what_is_there(BeastParser& parser, boost::beast::flat_buffer& buffer, bool body,
                         boost::system::error_code& error) {
  const auto done = [&] { return body ? parser.is_done() : parser.is_header_done(); };
  parser.eager(body);
  while (!done() && buffer.size() > 0) {
    const auto used = parser.put(buffer.data(), error);
    buffer.consume(used);
    if (error == http::error::need_more) {
      error = {};
      return false;
    }
    if (error || used == 0) return false;
  }
  return done();
}

}  // namespace priornet::serving
