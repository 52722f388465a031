#pragma once

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>  // Asio 1.74 forgets it

#include "learning/base/names.h"
#include "tool/server/connection_table.h"
#include "tool/server/http_messages.h"
#include "tool/server/http_server.h"

// Converts between the messages of Boost.Beast and those of http_messages.h. Only for files that include Boost.

namespace priornet::serving {

namespace http = boost::beast::http;

/// A body that counts on its connection's account as it arrives. An announced size takes no memory.
struct CountedBody {
  struct value_type {
    std::string bytes;
    ConnectionTable::Seat* seat = nullptr;
  };

  class reader {
   public:
    template <bool kIsRequest, class Fields>
    reader(http::header<kIsRequest, Fields>&, value_type& body) : body_(body) {}

    void init(const boost::optional<std::uint64_t>& length, boost::system::error_code& error) {
      if (length) length_ = static_cast<size_t>(*length);
      error = {};
    }
    template <class Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& error) {
      const auto count = boost::asio::buffer_size(buffers);
      if (!make_room(body_.bytes.size() + count)) {
        error = boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
        return 0;
      }
      error = {};
      for (auto at = boost::asio::buffer_sequence_begin(buffers); at != boost::asio::buffer_sequence_end(buffers);
           ++at) {
        const boost::asio::const_buffer piece(*at);
        body_.bytes.append(static_cast<const char*>(piece.data()), piece.size());
      }
      return count;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    // Doubles the memory, but never beyond the announced size. One that has to make way gets no room: if bytes had just
    // arrived, there was no read to cancel.
    bool make_room(size_t needed) {
      if (needed <= body_.bytes.capacity()) return body_.seat->take(0);
      const auto room = std::max(needed, std::min(2 * needed, length_));
      if (!body_.seat->take(static_cast<int64_t>(room - charged_))) return false;
      charged_ = room;
      body_.bytes.reserve(room);
      return true;
    }

    value_type& body_;
    size_t length_ = std::numeric_limits<size_t>::max();
    size_t charged_ = 0;
  };
};

using BeastRequest = http::request<CountedBody>;
using BeastResponse = http::response<http::string_body>;
using BeastParser = http::request_parser<CountedBody>;

/// Everything but the body. HEAD is treated as GET. Nothing if the target is malformed.
inline std::optional<Request> head_of(const BeastRequest& message) {
  Request request;
  request.method = message.method() == http::verb::head ? "GET" : std::string(message.method_string());
  const auto target = message.target();
  if (!read_target({target.data(), target.size()}, request)) return std::nullopt;
  const bool host_in_target = !request.header("host").empty();
  for (const auto& field : message)
    if (field.name() != http::field::host || !host_in_target)
      request.headers.emplace_back(lower_case(std::string(field.name_string())), std::string(field.value()));
  return request;
}

/// What is wrong with the headers that say where the body ends and whom the request is for; empty: nothing. A proxy in
/// front of the server might read such headers in another way, and take a part of one request for another one.
inline std::string framing_fault(const BeastParser& parser) {
  const auto& message = parser.get();
  const auto codings = message.count(http::field::transfer_encoding);
  if (codings > 0) {
    const auto coding = message[http::field::transfer_encoding];
    if (codings > 1 || message.version() < 11 || message.count(http::field::content_length) > 0 || !parser.chunked() ||
        !boost::beast::iequals(coding, "chunked"))
      return "the only Transfer-Encoding that this server takes is chunked, in HTTP/1.1 and without Content-Length";
  }
  const auto hosts = message.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() >= 11)) return "a request should have one Host header";
  return "";
}

struct ResponseForm {
  unsigned version = 11;    ///< of HTTP
  bool keep_alive = false;  ///< the connection
  bool head = false;        ///< the length of the body without the body
};
inline BeastResponse message_of(Response response, const ResponseForm& form) {
  BeastResponse message(static_cast<http::status>(response.status), form.version);
  message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(form.keep_alive);
  message.content_length(response.body.size());
  if (!form.head) message.body() = std::move(response.body);
  return message;
}

/// Parses the bytes that have arrived, without waiting: the headers, or (`body`) all of the request. False if more
/// bytes are needed or, with `error`, if they are not HTTP.
inline bool parse_what_is_there(BeastParser& parser, boost::beast::flat_buffer& buffer, bool body,
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

// The transport of a connection, with or without TLS. Only for files that include Boost.

namespace asio = boost::asio;
using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Strand>;
using TlsStream = asio::ssl::stream<Socket>;
using StrandTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Strand>;
using ErrorCode = boost::system::error_code;

inline Socket& socket_of(Socket& stream) { return stream; }
inline Socket& socket_of(TlsStream& stream) { return stream.next_layer(); }

/// The time by which a step of a connection must be over. Use it on the connection's strand. Moving it, which happens
/// several times per request, costs almost nothing: one timer runs, and checks the current deadline when it ends.
class StepDeadline {
 public:
  explicit StepDeadline(const Strand& strand) : timer_(strand) {}

  /// `missed` is called on the strand, as long as `owner` lives.
  void watch(std::weak_ptr<void> owner, std::function<void()> missed) {
    owner_ = std::move(owner);
    missed_ = std::move(missed);
  }

  void within(std::chrono::milliseconds time) {
    due_ = Timer::clock_type::now() + time;
    if (!running_ || due_ < timer_.expiry()) run();
  }

  void none() { due_ = Timer::time_point::max(); }

 private:
  using Timer = StrandTimer;

  void run() {
    running_ = true;
    timer_.expires_at(due_);
    timer_.async_wait([this, owner = owner_](ErrorCode error) {
      const auto alive = owner.lock();
      if (error || !alive) return;
      running_ = false;
      if (due_ == Timer::time_point::max()) return;
      // The deadline was moved, or this wait had ended when the next one was set.
      if (due_ > Timer::clock_type::now()) return run();
      due_ = Timer::time_point::max();
      missed_();
    });
  }

  Timer timer_;
  Timer::time_point due_ = Timer::time_point::max();
  bool running_ = false;
  std::weak_ptr<void> owner_;
  std::function<void()> missed_;
};

// One connection. Private to http_server.cpp.

/// What connections share. It must outlive them.
struct Shared {
  const HttpOptions& options;
  const Handler& handler;
  std::atomic<bool> stopping{false};
};

/// For each connection: the work that keeps the threads waiting for an answer that is still being computed, and its
/// seat. The seat goes first: when no work is left the server ends, and the table of seats with it.
struct Presence {
  asio::executor_work_guard<asio::io_context::executor_type> work;
  std::unique_ptr<ConnectionTable::Seat> seat;
};

/// Reads requests and writes answers, one after the other, each step under a deadline. Stream: Socket or TlsStream.
template <typename Stream>
class StreamSession final : public Guest, public std::enable_shared_from_this<StreamSession<Stream>> {
 public:
  /// A connection with a refused seat is told so and closed.
  StreamSession(Stream stream, Shared& shared, Presence presence)
      : presence_(std::move(presence)),
        stream_(std::move(stream)),
        shared_(shared),
        deadline_(socket().get_executor()) {}

  void start() {
    seat().belongs_to(this->weak_from_this());
    asio::post(socket().get_executor(), [self = this->shared_from_this()] { self->begin(); });
  }

  void end_soon() override {
    asio::post(socket().get_executor(), [self = this->shared_from_this()] {
      if (self->phase_ == Phase::kIdle) self->deadline_.within(self->shared_.options.drain);
    });
  }

  void make_way(ConnectionPhase phase) override {
    asio::post(socket().get_executor(), [self = this->shared_from_this(), phase] {
      if (self->phase_ != phase) return;
      self->evicted_ = true;
      ErrorCode ignored;
      self->socket().cancel(ignored);
    });
  }

 private:
  using Phase = ConnectionPhase;
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;
  static constexpr size_t kHeaderLimit = 16 << 10;
  static constexpr int64_t kBodyOfGet = 4096;  ///< nothing reads it
  static constexpr size_t kSmallAnswer = 64 << 10;
  static constexpr int kUnsentBytes = 128 << 10;
  static constexpr int64_t kLingerBytes = int64_t{64} << 20;

  Socket& socket() { return socket_of(stream_); }
  ConnectionTable::Seat& seat() { return *presence_.seat; }

  bool enter(Phase phase) {
    phase_ = phase;
    return seat().enter(phase);
  }

  void within(std::chrono::milliseconds time) {
    timed_out_ = false;
    deadline_.within(time);
  }

  void begin() {
    deadline_.watch(this->weak_from_this(), [this] {
      timed_out_ = true;
      ErrorCode ignored;
      socket().cancel(ignored);
    });
    ErrorCode ignored;
    socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    // Otherwise a client that takes no answers gets megabytes of them computed and kept by the kernel.
    ::setsockopt(socket().native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof kUnsentBytes);
    if constexpr (kTls) {
      within(shared_.options.timeout);
      stream_.async_handshake(TlsStream::server, [self = this->shared_from_this()](ErrorCode error) {
        if (error) return self->close();
        self->greet();
      });
    } else {
      greet();
    }
  }

  void greet() {
    if (seat().refused()) return refuse(503, "the server has too many connections");
    next();
  }

  // Waits for the first byte of a request, at most as long as a connection may be idle.
  void next() {
    form_ = {};
    parser_.emplace();
    parser_->get().body().seat = &seat();
    parser_->header_limit(kHeaderLimit);
    parser_->body_limit(static_cast<uint64_t>(shared_.options.max_body));
    if (buffer_.size() > 0) return read_header();
    enter(Phase::kIdle);
    within(shared_.stopping ? shared_.options.drain : shared_.options.idle);
    stream_.async_read_some(buffer_.prepare(4096), [self = this->shared_from_this()](ErrorCode error, size_t count) {
      if (error) return self->close();
      self->buffer_.commit(count);
      self->read_header();
    });
  }

  void read_header() {
    enter(Phase::kReceiving);
    evicted_ = false;
    within(shared_.options.timeout);
    ErrorCode malformed;
    if (parse_what_is_there(*parser_, buffer_, false, malformed) || malformed) return on_header(malformed);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](ErrorCode error, size_t) { self->on_header(error); });
  }

  // Decides whether to accept the request without waiting for its body.
  void on_header(ErrorCode error) {
    if (error) return on_read_error(error);
    const auto& message = parser_->get();
    const bool body_to_come = parser_->chunked() || parser_->content_length().value_or(0) > 0;
    form_ = {message.version(), message.keep_alive() && !body_to_come, message.method() == http::verb::head};
    if (shared_.options.answered) {
      record_ = {};
      record_.method = std::string(message.method_string());
      record_.target = std::string(message.target().substr(0, 512));
      arrived_ = std::chrono::steady_clock::now();
    }
    if (const auto fault = framing_fault(*parser_); !fault.empty()) return refuse(400, fault);
    auto head = head_of(message);
    if (!head) return answer(error_response(400, "the target of the request is malformed"));
    request_ = std::move(*head);
    request_.peer = seat().address();
    if (auto refusal = shared_.handler.admit(request_)) return answer(std::move(*refusal));
    form_.keep_alive = message.keep_alive();
    if (message.method() != http::verb::post) {
      parser_->body_limit(static_cast<uint64_t>(kBodyOfGet));
      if (parser_->content_length().value_or(0) > static_cast<uint64_t>(kBodyOfGet))
        return on_read_error(http::error::body_limit);
    }
    if (message.version() < 11 || !boost::beast::iequals(message[http::field::expect], "100-continue"))
      return read_body();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue), [self = this->shared_from_this()](ErrorCode failed, size_t) {
      if (failed) return self->close();
      self->read_body();
    });
  }

  void read_body() {
    ErrorCode malformed;
    if (parse_what_is_there(*parser_, buffer_, true, malformed)) return handle();
    if (malformed) return on_read_error(malformed);
    http::async_read(stream_, buffer_, *parser_, [self = this->shared_from_this()](ErrorCode error, size_t) {
      if (error) return self->on_read_error(error);
      self->handle();
    });
  }

  void on_read_error(ErrorCode error) {
    if (evicted_) return refuse(503, "the request took long to arrive, and others need its place");
    if (timed_out_) return refuse(408, "the request did not arrive completely in time");
    if (error == boost::system::errc::not_enough_memory) return refuse_bytes();
    if (error == http::error::body_limit)
      return refuse(413, "the body should have at most " +
                             std::to_string(request_.method == "GET" ? kBodyOfGet : shared_.options.max_body) +
                             " bytes");
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse(431, "the headers should have at most " + std::to_string(kHeaderLimit) + " bytes");
    if (error == http::error::end_of_stream || error == http::error::partial_message ||
        error.category() != http::make_error_code(http::error::end_of_stream).category())
      return close();  // the client is gone
    refuse(400, "the request is not HTTP: " + error.message());
  }

  void handle() {
    if (!enter(Phase::kAnswering)) return refuse_bytes();
    deadline_.none();
    record_.received = static_cast<int64_t>(parser_->get().body().bytes.size());
    request_.body = std::move(parser_->get().body().bytes);
    auto called = std::make_shared<std::atomic<bool>>(false);
    const Responder respond = [self = this->shared_from_this(), called](Response response) {
      if (called->exchange(true)) return;
      auto later = [self, response = std::move(response)]() mutable { self->answer(std::move(response)); };
      asio::post(self->socket().get_executor(), std::move(later));
    };
    try {
      shared_.handler.answer(std::exchange(request_, {}), respond);
    } catch (const std::bad_alloc&) {
      respond(error_response(503, "the server has no memory left for this request"));
    } catch (const std::exception&) {
      respond(error_response(500, "the server failed while it handled this request"));
    }
  }

  void refuse_bytes() { refuse(503, "too many requests are being sent to the server"); }

  void refuse(int status, const std::string& reason) {
    if (shared_.options.refused) shared_.options.refused(status);
    form_.keep_alive = false;
    answer(error_response(status, reason));
  }

  void answer(Response response) {
    if (parser_) std::string().swap(parser_->get().body().bytes);  // of a refused request, which may go on arriving
    seat().give_back();
    if (response.body.size() > kSmallAnswer && !seat().take(static_cast<int64_t>(response.body.size()))) {
      form_.keep_alive = false;
      response = error_response(503, "too many answers wait for their clients");
    }
    form_.keep_alive = form_.keep_alive && !shared_.stopping;
    evicted_ = false;
    if (phase_ != Phase::kClosing) enter(form_.keep_alive ? Phase::kWriting : Phase::kClosing);
    report(response);
    answer_.emplace(message_of(std::move(response), form_));
    within(shared_.options.timeout);
    http::async_write(stream_, *answer_, [self = this->shared_from_this()](ErrorCode error, size_t) {
      self->answer_.reset();
      self->seat().give_back();
      if (error) return self->close();
      if (self->form_.keep_alive) return self->next();
      self->say_goodbye();
    });
  }

  void report(const Response& response) {
    if (!shared_.options.answered) return;
    record_.peer = seat().address();
    record_.status = response.status;
    record_.sent = static_cast<int64_t>(response.body.size());
    if (!record_.method.empty())
      record_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - arrived_).count();
    shared_.options.answered(std::exchange(record_, {}));
  }

  // A client that gets no close_notify cannot tell the end of an answer from a cut connection.
  void say_goodbye() {
    if constexpr (kTls) {
      within(std::min<std::chrono::milliseconds>(shared_.options.timeout, std::chrono::seconds(1)));
      stream_.async_shutdown([self = this->shared_from_this()](ErrorCode) {
        if (self->evicted_) return self->close();
        self->linger();
      });
    } else {
      linger();
    }
  }

  // Closing with unread bytes would destroy the answer for a client that still sends.
  void linger() {
    ErrorCode ignored;
    socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    within(std::min<std::chrono::milliseconds>(shared_.options.timeout, std::chrono::seconds(2)));
    discard();
  }

  void discard() {
    buffer_.clear();
    socket().async_read_some(buffer_.prepare(64 << 10),
                             [self = this->shared_from_this()](ErrorCode error, size_t count) {
                               self->lingered_ += static_cast<int64_t>(count);
                               if (error || self->lingered_ > kLingerBytes) return self->close();
                               self->discard();
                             });
  }

  void close() {
    deadline_.none();
    ErrorCode ignored;
    socket().close(ignored);
  }

  Presence presence_;  ///< first: destroyed last
  Stream stream_;
  Shared& shared_;
  StepDeadline deadline_;
  boost::beast::flat_buffer buffer_{kHeaderLimit + (size_t{128} << 10)};
  std::optional<BeastParser> parser_;
  std::optional<BeastResponse> answer_;
  Request request_;
  AccessRecord record_;
  std::chrono::steady_clock::time_point arrived_;
  int64_t lingered_ = 0;
  ResponseForm form_;
  Phase phase_ = Phase::kReceiving;
  bool timed_out_ = false;
  bool evicted_ = false;
};

}  // namespace priornet::serving
