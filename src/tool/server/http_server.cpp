#include "tool/server/http_server.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tool/server/http_session.h"

namespace priornet::serving {
namespace {

constexpr int64_t kMostRefusals = 64;  // connections that are told that there are too many

std::unique_ptr<asio::ssl::context> tls_context(const HttpOptions& options) {
  if (options.tls_certificate.empty()) return nullptr;
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
  ErrorCode error;
  context->use_certificate_chain_file(options.tls_certificate, error);
  if (error) throw DataError(fmt::format("{}: is no certificate in PEM: {}", options.tls_certificate, error.message()));
  context->use_private_key_file(options.tls_key, asio::ssl::context::pem, error);
  if (error)
    throw DataError(
        fmt::format("{}: is no private key in PEM for that certificate: {}", options.tls_key, error.message()));
  return context;
}

}  // namespace

class HttpServer::Listener {
 public:
  Listener(const HttpOptions& options, Handler handler)
      : options_(options),
        handler_(std::move(handler)),
        shared_{options_, handler_},
        tls_(tls_context(options_)),
        strand_(asio::make_strand(context_)),
        acceptor_(strand_) {
    listen();
    accept();
    for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
  }

  ~Listener() {
    stop();
    wait();
  }

  uint16_t port() const { return port_; }
  int64_t connections() const { return connections_; }

  void stop() {
    if (shared_.stopping.exchange(true)) return;
    asio::post(strand_, [this] {
      take_backlog();
      ErrorCode ignored;
      acceptor_.close(ignored);
      for (const auto& session : living()) session->end_soon();
      work_.reset();
    });
  }

  void wait() {
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  // One request that runs out of memory is not the end of the others.
  void run() {
    while (true) {
      try {
        context_.run();
        return;
      } catch (const std::exception&) {
      }
    }
  }

  void listen() {
    ErrorCode error;
    const auto address = asio::ip::make_address(options_.host == "localhost" ? "127.0.0.1" : options_.host, error);
    if (error) throw Error(fmt::format("the host should be an IP address or localhost, found {}", options_.host));
    const asio::ip::tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) throw Error(fmt::format("{}:{}: cannot listen: {}", options_.host, options_.port, error.message()));
    port_ = acceptor_.local_endpoint().port();
  }

  void accept() {
    acceptor_.async_accept(asio::make_strand(context_), [this](ErrorCode error, Socket socket) {
      if (!error) serve(std::move(socket));
      if (!acceptor_.is_open() || shared_.stopping) return;
      if (!error) return accept();
      // Out of file descriptors, say: connections end, and there are some again.
      pause_.expires_after(std::chrono::milliseconds(50));
      pause_.async_wait([this](ErrorCode) {
        if (acceptor_.is_open() && !shared_.stopping) accept();
      });
    });
  }

  // Connections that the kernel has accepted for us may carry requests already.
  void take_backlog() {
    ErrorCode error;
    acceptor_.non_blocking(true, error);
    while (!error) {
      Socket socket(asio::make_strand(context_));
      acceptor_.accept(socket, error);
      if (!error) serve(std::move(socket));
    }
  }

  void serve(Socket socket) {
    const auto open = connections_.fetch_add(1) + 1;
    if (open > options_.max_connections + kMostRefusals) {
      --connections_;
      if (options_.refused) options_.refused(503);
      return;
    }
    const bool refused = open > options_.max_connections;
    if (tls_)
      start<TlsStream>(TlsStream(std::move(socket), *tls_), refused);
    else
      start<Socket>(std::move(socket), refused);
  }

  std::vector<std::shared_ptr<Session>> living() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Session>> result;
    for (const auto& [id, session] : sessions_)
      if (auto one = session.lock()) result.push_back(std::move(one));
    return result;
  }

  // Of each connection: it counts, and lets the threads wait for an answer that is still being computed.
  struct Presence {
    explicit Presence(Listener& owner) : listener(owner), work(asio::make_work_guard(owner.context_)) {}
    ~Presence() {
      --listener.connections_;
      const std::lock_guard lock(listener.mutex_);
      listener.sessions_.erase(this);
    }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;

    Listener& listener;
    asio::executor_work_guard<asio::io_context::executor_type> work;
  };

  template <typename Stream>
  void start(Stream stream, bool refused) {
    const auto presence = std::make_shared<Presence>(*this);
    const auto session = std::make_shared<StreamSession<Stream>>(std::move(stream), shared_, presence, refused);
    {
      const std::lock_guard lock(mutex_);
      sessions_.emplace(presence.get(), session);
    }
    session->start();
  }

  const HttpOptions options_;
  const Handler handler_;
  Shared shared_;
  asio::io_context context_;
  std::unique_ptr<asio::ssl::context> tls_;
  Strand strand_;
  asio::basic_socket_acceptor<asio::ip::tcp, Strand> acceptor_;
  asio::steady_timer pause_{context_};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{asio::make_work_guard(context_)};
  uint16_t port_ = 0;
  std::atomic<int64_t> connections_{0};
  std::mutex mutex_;
  std::unordered_map<const Presence*, std::weak_ptr<Session>> sessions_;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(const HttpOptions& options, Handler handler)
    : listener_(std::make_unique<Listener>(options, std::move(handler))) {}
HttpServer::~HttpServer() = default;
uint16_t HttpServer::port() const { return listener_->port(); }
int64_t HttpServer::connections() const { return listener_->connections(); }
void HttpServer::stop() { listener_->stop(); }
void HttpServer::wait() { listener_->wait(); }
bool has_http_server() { return true; }

}  // namespace priornet::serving
