#include "tool/server/http_server.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "tool/server/http_session.h"

namespace priornet::serving {
namespace {

constexpr int64_t kMemory = int64_t{256} << 20;

// One client, as far as limits go: a whole IPv6 network belongs to one household.
std::string address_of(const Socket& socket) {
  ErrorCode error;
  const auto end = socket.remote_endpoint(error);
  if (error) return "";
  const auto address = end.address();
  if (!address.is_v6()) return address.to_string();
  if (address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), uint8_t{0});
  return asio::ip::address_v6(bytes).to_string() + "/64";
}

std::shared_ptr<asio::ssl::context> tls_context(const HttpOptions& options) {
  if (options.tls_certificate.empty()) return nullptr;
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  context->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                       asio::ssl::context::no_tlsv1_1);
  ErrorCode error;
  context->use_certificate_chain_file(options.tls_certificate, error);
  if (error)
    throw DataError(fmt::format("{}: is not a certificate in PEM: {}", options.tls_certificate, error.message()));
  context->use_private_key_file(options.tls_key, asio::ssl::context::pem, error);
  if (error)
    throw DataError(
        fmt::format("{}: is not a private key in PEM for that certificate: {}", options.tls_key, error.message()));
  if (::SSL_CTX_check_private_key(context->native_handle()) != 1)
    throw DataError(fmt::format("{}: is not the key of the certificate {}", options.tls_key, options.tls_certificate));
  return context;
}

}  // namespace

class HttpServer::Listener {
 public:
  Listener(const HttpOptions& options, Handler handler)
      : options_(options),
        handler_(std::move(handler)),
        shared_{options_, handler_},
        table_(options_.connections, options_.memory ? options_.memory : std::make_shared<MemoryAccount>(kMemory)),
        tls_(tls_context(options_)),
        strand_(asio::make_strand(context_)),
        acceptor_(strand_),
        pause_(strand_) {
    listen();
    accept();
    try {
      for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (...) {
      stop();
      wait();
      throw;
    }
  }

  ~Listener() {
    stop();
    wait();
  }

  uint16_t port() const { return port_; }
  int64_t connections() const { return table_.connections(); }
  int64_t answering() const { return table_.connections(ConnectionPhase::kAnswering); }

  std::function<void()> read_certificate() {
    return [this, renewed = tls_context(options_)] { asio::post(strand_, [this, renewed] { tls_ = renewed; }); };
  }

  void stop() {
    if (shared_.stopping.exchange(true)) return;
    asio::post(strand_, [this] {
      take_backlog();
      ErrorCode ignored;
      acceptor_.close(ignored);
      for (const auto& guest : table_.guests()) guest->end_soon();
      work_.reset();
    });
  }

  void wait() {
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  // If one request runs out of memory, the others go on.
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
      if (!error) serve_if_possible(std::move(socket));
      if (!acceptor_.is_open() || shared_.stopping) return;
      if (!error) return accept();
      // For example out of file descriptors: when a connection ends, some are free again.
      table_.make_room();
      pause_.expires_after(std::chrono::milliseconds(50));
      pause_.async_wait([this](ErrorCode) {
        if (acceptor_.is_open() && !shared_.stopping) accept();
      });
    });
  }

  // Connections that the kernel has already accepted for us may carry requests.
  void take_backlog() {
    ErrorCode error;
    acceptor_.non_blocking(true, error);
    while (!error) {
      Socket socket(asio::make_strand(context_));
      acceptor_.accept(socket, error);
      if (!error) serve_if_possible(std::move(socket));
    }
  }

  // Without memory for it a connection is closed, and the next one is accepted.
  void serve_if_possible(Socket socket) {
    try {
      serve(std::move(socket));
    } catch (const std::exception&) {
    }
  }

  void serve(Socket socket) {
    Presence presence{asio::make_work_guard(context_), table_.enter(address_of(socket))};
    if (tls_)
      start<TlsStream>(TlsStream(std::move(socket), *tls_), std::move(presence));
    else
      start<Socket>(std::move(socket), std::move(presence));
  }

  template <typename Stream>
  void start(Stream stream, Presence presence) {
    std::make_shared<StreamSession<Stream>>(std::move(stream), shared_, std::move(presence))->start();
  }

  const HttpOptions options_;
  const Handler handler_;
  Shared shared_;
  ConnectionTable table_;
  asio::io_context context_;
  std::shared_ptr<asio::ssl::context> tls_;  // used on the strand
  Strand strand_;
  asio::basic_socket_acceptor<asio::ip::tcp, Strand> acceptor_;
  StrandTimer pause_;  // on the strand: stop() closes the acceptor there
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{asio::make_work_guard(context_)};
  uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(const HttpOptions& options, Handler handler)
    : listener_(std::make_unique<Listener>(options, std::move(handler))) {}
HttpServer::~HttpServer() = default;
std::function<void()> HttpServer::read_certificate() { return listener_->read_certificate(); }
uint16_t HttpServer::port() const { return listener_->port(); }
int64_t HttpServer::connections() const { return listener_->connections(); }
int64_t HttpServer::answering() const { return listener_->answering(); }
void HttpServer::stop() { listener_->stop(); }
void HttpServer::wait() { listener_->wait(); }
bool has_http_server() { return true; }

}  // namespace priornet::serving
