#pragma once

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
#include <memory>
#include <optional>
#include <string>
#include <utility>  // Asio 1.74 forgets it

#include "tool/server/http_messages.h"
#include "tool/server/http_server.h"

// Between the messages of Boost.Beast and those of http_messages.h. Only for files that see Boost.

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

// What a connection runs over, with TLS or without. Only for files that see Boost.

namespace asio = boost::asio;
using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Strand>;
using TlsStream = asio::ssl::stream<Socket>;
using ErrorCode = boost::system::error_code;

inline Socket& socket_of(Socket& stream) { return stream; }
inline Socket& socket_of(TlsStream& stream) { return stream.next_layer(); }

/// The time by which a step of a connection must be over. To be used on the connection's strand. Moving it costs next
/// to nothing, which happens several times a request: one timer runs, and looks when it ends where the deadline is by
/// then.
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
  using Timer =
      asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Strand>;

  void run() {
    running_ = true;
    timer_.expires_at(due_);
    timer_.async_wait([this, owner = owner_](ErrorCode error) {
      const auto alive = owner.lock();
      if (error || !alive) return;
      running_ = false;
      if (due_ == Timer::time_point::max()) return;
      // Moved since, or this is a wait that was over when the next one was set.
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

/// What connections share. Outlives them.
struct Shared {
  const HttpOptions& options;
  const Handler& handler;
  std::atomic<bool> stopping{false};
  std::atomic<int64_t> bodies{0};  ///< bytes promised to requests
};

class Session {
 public:
  virtual ~Session() = default;
  /// On the connection's strand: how long an idle connection may stay from now on.
  virtual void end_soon() = 0;
};

/// Reads requests and writes answers, one after the other, each step under a deadline. Stream: Socket or TlsStream.
template <typename Stream>
class StreamSession final : public Session, public std::enable_shared_from_this<StreamSession<Stream>> {
 public:
  /// `ended` is kept as long as the session lives. One that is `refused` is told so and closed.
  StreamSession(Stream stream, Shared& shared, std::shared_ptr<void> ended, bool refused)
      : ended_(std::move(ended)),
        stream_(std::move(stream)),
        shared_(shared),
        deadline_(socket().get_executor()),
        refused_(refused) {}
  ~StreamSession() override { give_back(); }

  void start() {
    asio::post(socket().get_executor(), [self = this->shared_from_this()] { self->begin(); });
  }

  void end_soon() override {
    asio::post(socket().get_executor(), [self = this->shared_from_this()] {
      if (self->idle_) self->deadline_.within(self->shared_.options.drain);
    });
  }

 private:
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;
  static constexpr size_t kHeaderLimit = 16 << 10;
  static constexpr int64_t kLingerBytes = int64_t{64} << 20;

  Socket& socket() { return socket_of(stream_); }

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
    if (refused_) return refuse(503, "there are more connections than the server takes");
    next();
  }

  // Waits for the first byte of a request, for as long as a connection may be idle.
  void next() {
    form_ = {};
    parser_.emplace();
    parser_->header_limit(kHeaderLimit);
    parser_->body_limit(static_cast<uint64_t>(shared_.options.max_body));
    parser_->on_chunk_header(take_chunk_);
    if (buffer_.size() > 0) return read_header();
    idle_ = true;
    within(shared_.stopping ? shared_.options.drain : shared_.options.idle);
    stream_.async_read_some(buffer_.prepare(4096), [self = this->shared_from_this()](ErrorCode error, size_t count) {
      self->idle_ = false;
      if (error) return self->close();
      self->buffer_.commit(count);
      self->read_header();
    });
  }

  void read_header() {
    within(shared_.options.timeout);
    ErrorCode malformed;
    if (parse_what_is_there(*parser_, buffer_, false, malformed) || malformed) return on_header(malformed);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](ErrorCode error, size_t) { self->on_header(error); });
  }

  void on_header(ErrorCode error) {
    if (error) return on_read_error(error);
    const auto length = parser_->content_length();
    if (length && !promise(static_cast<int64_t>(*length))) return refuse_bytes();
    if (!boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) return read_body();
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
    if (timed_out_) return refuse(408, "the request did not arrive whole in time");
    if (no_room_) return refuse_bytes();
    if (error == http::error::body_limit)
      return refuse(413, "the body should have at most " + std::to_string(shared_.options.max_body) + " bytes");
    if (error == http::error::header_limit || error == http::error::buffer_overflow)
      return refuse(431, "the headers should have at most " + std::to_string(kHeaderLimit) + " bytes");
    if (error == http::error::end_of_stream || error == http::error::partial_message ||
        error.category() != http::make_error_code(http::error::end_of_stream).category())
      return close();  // the client is gone
    refuse(400, "the request is not HTTP: " + error.message());
  }

  void handle() {
    deadline_.none();
    auto message = parser_->release();
    form_ = {message.version(), message.keep_alive(), message.method() == http::verb::head};
    auto request = request_of(std::move(message));
    auto called = std::make_shared<std::atomic<bool>>(false);
    const Responder respond = [self = this->shared_from_this(), called](Response response) {
      if (called->exchange(true)) return;
      auto later = [self, response = std::move(response)]() mutable { self->answer(std::move(response)); };
      asio::post(self->socket().get_executor(), std::move(later));
    };
    if (!request) return respond(error_response(400, "the target of the request is malformed"));
    try {
      shared_.handler(std::move(*request), respond);
    } catch (const std::exception& error) {
      respond(error_response(500, error.what()));
    }
  }

  void refuse_bytes() { refuse(503, "too many bytes are on their way to the server"); }

  void refuse(int status, const std::string& reason) {
    if (shared_.options.refused) shared_.options.refused(status);
    form_.keep_alive = false;
    answer(error_response(status, reason));
  }

  void answer(Response response) {
    give_back();
    form_.keep_alive = form_.keep_alive && !shared_.stopping;
    answer_.emplace(message_of(std::move(response), form_));
    within(shared_.options.timeout);
    http::async_write(stream_, *answer_, [self = this->shared_from_this()](ErrorCode error, size_t) {
      self->answer_.reset();
      if (error) return self->close();
      if (self->form_.keep_alive) return self->next();
      self->linger();
    });
  }

  // Closing with unread bytes would take the answer away from a client that still sends.
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
    give_back();
    ErrorCode ignored;
    socket().close(ignored);
  }

  // Bytes of a body that are to come; false where there is no room for them.
  bool promise(int64_t bytes) {
    promised_ += bytes;
    return shared_.bodies.fetch_add(bytes) + bytes <= shared_.options.max_bodies || bytes == 0;
  }

  void give_back() {
    shared_.bodies -= promised_;
    promised_ = 0;
  }

  std::shared_ptr<void> ended_;  ///< first: destroyed last
  Stream stream_;
  Shared& shared_;
  StepDeadline deadline_;
  boost::beast::flat_buffer buffer_{kHeaderLimit + (size_t{128} << 10)};
  // A body in chunks says how long it is piece by piece.
  std::function<void(uint64_t, boost::beast::string_view, ErrorCode&)> take_chunk_ =
      [this](uint64_t size, boost::beast::string_view, ErrorCode& error) {
        no_room_ = !promise(static_cast<int64_t>(size));
        if (no_room_) error = http::error::body_limit;
      };
  std::optional<BeastParser> parser_;
  std::optional<BeastResponse> answer_;
  int64_t promised_ = 0;
  int64_t lingered_ = 0;
  ResponseForm form_;
  bool idle_ = false;
  bool timed_out_ = false;
  bool no_room_ = false;
  const bool refused_;
};

}  // namespace priornet::serving
