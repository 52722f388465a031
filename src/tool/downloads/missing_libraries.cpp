#include <priornet/uncertainty/errors.h>

#include "tool/downloads/download.h"

// Replacements for the downloads' libraries if this build lacks them.

namespace priornet {
namespace {

[[noreturn, maybe_unused]] void missing(const std::string& name, const char* library, const char* what) {
  throw DataError(name + ": this build has no " + library + ": " + what);
}

}  // namespace

#ifndef PRIORNET_HAVE_OPENSSL
struct Checksum::State {};
Checksum::Checksum(Digest) { missing("a checksum", "OpenSSL", "checksums cannot be computed"); }
Checksum::~Checksum() = default;
void Checksum::add(std::string_view) {}
std::string Checksum::hexadecimal() { return {}; }
std::string checksum_of(Digest, const std::filesystem::path& path, Progress&) {
  missing(path.string(), "OpenSSL", "checksums cannot be computed");
}
std::string sha256_of(const std::filesystem::path& path, Progress&) {
  missing(path.string(), "OpenSSL", "checksums cannot be computed");
}
std::string md5_of(const std::filesystem::path& path, Progress&) {
  missing(path.string(), "OpenSSL", "checksums cannot be computed");
}
#endif

#ifndef PRIORNET_HAVE_CURL
HttpOutcome http_get(const HttpRequest& request, const HttpReceiver&) {
  missing(request.url, "libcurl", "nothing can be downloaded");
}
#endif

}  // namespace priornet
