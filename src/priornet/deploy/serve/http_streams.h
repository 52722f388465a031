#pragma once

#include <utility>  // Asio 1.74 forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>

// What a connection runs over, with TLS or without. Only for files that see Boost.

namespace priornet::serving {

namespace asio = boost::asio;
using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Strand>;
using TlsStream = asio::ssl::stream<Socket>;
using ErrorCode = boost::system::error_code;

inline Socket& socket_of(Socket& stream) { return stream; }
inline Socket& socket_of(TlsStream& stream) { return stream.next_layer(); }

}  // namespace priornet::serving
