#pragma once

#include <utility>  // Asio 1.74 forgets it

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <priornet/deploy/serve/messages.h>

#include <optional>
#include <string>

// Between the messages of Boost.Beast and those of messages.h. Only for files that see Boost.

namespace priornet::serving {

namespace http = boost::beast::http;
using BeastRequest = http::request<http::string_body>;
using BeastResponse = http::response<http::string_body>;
using BeastParser = http::request_parser<http::string_body>;

/// HEAD is asked for as GET. Nothing where the target is malformed.
std::optional<Request> request_of(BeastRequest message);

struct ResponseForm {
  unsigned version = 11;    ///< of HTTP
  bool keep_alive = false;  ///< the connection
  bool head = false;        ///< the length of the body without the body
};
BeastResponse message_of(Response response, const ResponseForm& form);

/// Parses what has come already, without waiting: the headers, or (`body`) all of the request. False where more bytes
/// are needed or, with `error`, where they are no HTTP.
bool parse_what_is_there(BeastParser& parser, boost::beast::flat_buffer& buffer, bool body,
                         boost::system::error_code& error);

}  // namespace priornet::serving
