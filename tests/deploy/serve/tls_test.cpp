#include <fmt/format.h>
#include <openssl/ssl.h>
#include <priornet/uncertainty/errors.h>
#include <testing/running_server.h>
#include <testing/temporary_folder.h>
#include <testing/throws.h>

#include <gtest/gtest.h>

#include <cstdlib>

namespace priornet {
namespace {

// A certificate that signs itself, for 127.0.0.1.
class TlsServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!make_certificate()) GTEST_SKIP() << "there is no openssl to make a certificate";
    http_.tls_certificate = certificate_.string();
    http_.tls_key = key_.string();
  }

  // Each time another one.
  bool make_certificate() {
    const auto made = fmt::format(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=priornet "
        "-addext subjectAltName=IP:127.0.0.1 -keyout '{}' -out '{}' 2>/dev/null",
        key_.string(), certificate_.string());
    return std::system(made.c_str()) == 0;
  }

  TemporaryFolder folder_;
  std::filesystem::path key_ = folder_ / "key.pem";
  std::filesystem::path certificate_ = folder_ / "certificate.pem";
  serving::HttpOptions http_;
};

// The answer to one request of a client that trusts only this certificate; empty if client and server cannot agree. A
// connection that is cut without TLS's word for the end adds "[cut]".
std::string asked_by_tls(int port, const std::string& trusted, const std::string& request, int newest_version) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_load_verify_locations(context.get(), trusted.c_str(), nullptr);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), newest_version);
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> connection(BIO_new_ssl_connect(context.get()), BIO_free_all);
  BIO_set_conn_hostname(connection.get(), fmt::format("127.0.0.1:{}", port).c_str());
  if (BIO_do_connect(connection.get()) <= 0) return "";
  BIO_write(connection.get(), request.data(), static_cast<int>(request.size()));
  std::string answer;
  char piece[4096];
  for (int got = 0; (got = BIO_read(connection.get(), piece, sizeof piece)) > 0;)
    answer.append(piece, static_cast<size_t>(got));
  SSL* tls = nullptr;
  BIO_get_ssl(connection.get(), &tls);
  const bool ended = (SSL_get_shutdown(tls) & SSL_RECEIVED_SHUTDOWN) != 0;
  return ended ? answer : answer + "[cut]";
}

const std::string kRequest = HttpClient::request("POST", "/predict", "abcd", "Connection: close\r\n");

TEST_F(TlsServer, AnswersWhoTrustsItsCertificate) {
  const RunningServer server({}, http_);
  const auto answer = asked_by_tls(server.port(), http_.tls_certificate, kRequest, TLS1_3_VERSION);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << answer;
  EXPECT_NE(answer.find("made-up"), std::string::npos) << answer;
  EXPECT_TRUE(asked_by_tls(server.port(), http_.tls_certificate, kRequest, TLS1_2_VERSION).starts_with("HTTP/1.1 200"));
}

TEST_F(TlsServer, SaysThatItsAnswerIsWhole) {
  const RunningServer server({}, http_);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto answer = asked_by_tls(server.port(), http_.tls_certificate, kRequest, version);
    EXPECT_TRUE(answer.ends_with("}")) << answer;
  }
}

TEST_F(TlsServer, TakesANewCertificateWhenItIsTold) {
  RunningServer server({}, http_);
  const auto old = folder_.file("old.pem", bytes_of(certificate_)).string();
  ASSERT_TRUE(make_certificate());
  const auto trusts = [&](const std::string& certificate) {
    return asked_by_tls(server.port(), certificate, kRequest, TLS1_3_VERSION).starts_with("HTTP/1.1 200");
  };
  const auto use = server.http().read_certificate();
  EXPECT_TRUE(trusts(old)) << "it was only read";
  use();
  EXPECT_TRUE(trusts(certificate_.string()));
  EXPECT_FALSE(trusts(old));
  folder_.file("key.pem", "nothing");
  EXPECT_THROW(server.http().read_certificate(), DataError);
  EXPECT_TRUE(trusts(certificate_.string()));
}

TEST_F(TlsServer, SpeaksNoOldTlsAndNoPlainHttp) {
  const RunningServer server({}, http_);
  EXPECT_EQ(asked_by_tls(server.port(), http_.tls_certificate, kRequest, TLS1_1_VERSION), "");
  EXPECT_EQ(server.ask("GET", "/v2").status, 0);
  EXPECT_TRUE(asked_by_tls(server.port(), http_.tls_certificate, kRequest, TLS1_3_VERSION).starts_with("HTTP/1.1 200"))
      << "and goes on";
}

TEST_F(TlsServer, RefusesAKeyThatIsNone) {
  http_.tls_key = folder_.file("no-key.pem", "nothing").string();
  try {
    const RunningServer server({}, http_);
    FAIL() << "it listens";
  } catch (const DataError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(http_.tls_key + ": is not a private key in PEM")) << error.what();
  }
}

}  // namespace
}  // namespace priornet
