#include <fuzz/rejection.h>

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/ostream.hpp>
#include <boost/beast/http.hpp>
#include <string>

#include "tool/server/http_messages.h"

using namespace priornet;
namespace http = boost::beast::http;

// A request as it comes over a connection, in two pieces: headers, target, compressed body, form. max_len: 8192
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto text = text_of(data + 1, size - 1);
  const auto first = std::min<size_t>(text.size(), 8 * size_t{data[0]});
  http::request_parser<http::string_body> parser;
  parser.header_limit(16 << 10);
  parser.body_limit(1 << 16);
  parser.eager(true);
  boost::beast::flat_buffer buffer;
  for (const auto piece : {text.substr(0, first), text.substr(first)}) {
    boost::beast::ostream(buffer) << piece;
    boost::system::error_code error;
    while (!parser.is_done() && buffer.size() > 0 && !error) buffer.consume(parser.put(buffer.data(), error));
    if (error && error != http::error::need_more) return 0;
  }
  if (!parser.is_header_done()) return 0;
  const auto& message = parser.get();
  serving::Request request;
  const auto target = message.target();
  if (!serving::read_target({target.data(), target.size()}, request)) return 0;
  const auto header = [&](http::field name) { return std::string(message[name]); };
  const auto host = serving::host_name(header(http::field::host));
  serving::is_allowed_host(host, {"*.example.org", "a.example.org"});
  serving::is_allowed_host(serving::host_name(header(http::field::origin)), {"*"});
  serving::carries_token(header(http::field::authorization), "secret");
  serving::accepted_coding(header(http::field::accept_encoding));
  try {
    auto body = message.body();
    if (const auto coding = serving::content_coding(header(http::field::content_encoding)))
      body = serving::expanded(body, *coding, 1 << 16).value_or("");
    serving::file_of_form(header(http::field::content_type), body);
  } catch (const ArgumentError&) {  // what a client is told
  }
  return 0;
}
