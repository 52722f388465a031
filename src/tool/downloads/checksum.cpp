#include "tool/downloads/download.h"

#include <openssl/evp.h>
#include <priornet/uncertainty/errors.h>

#include <vector>

#include "learning/base/file_io.h"

namespace priornet {
namespace {

const char* name_of(Digest digest) { return digest == Digest::kSha256 ? "SHA-256" : "MD5"; }

}  // namespace

struct Checksum::State {
  struct Free {
    void operator()(EVP_MD_CTX* held) const { EVP_MD_CTX_free(held); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context;
  const char* name;

  // A system may forbid MD5 altogether.
  void expect(int status) const {
    if (status != 1) throw DataError(std::string("OpenSSL cannot compute ") + name + " on this system");
  }
};

Checksum::Checksum(Digest digest)
    : state_(
          std::make_unique<State>(State{std::unique_ptr<EVP_MD_CTX, State::Free>(EVP_MD_CTX_new()), name_of(digest)})) {
  state_->expect(
      EVP_DigestInit_ex(state_->context.get(), digest == Digest::kSha256 ? EVP_sha256() : EVP_md5(), nullptr));
}

Checksum::~Checksum() = default;

void Checksum::add(std::string_view bytes) {
  state_->expect(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
}

std::string Checksum::hexadecimal() {
  constexpr char kDigits[] = "0123456789abcdef";
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  state_->expect(EVP_DigestFinal_ex(state_->context.get(), bytes, &size));
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string checksum_of(Digest digest, const std::filesystem::path& path, Progress& progress) {
  constexpr size_t kBlock = size_t{1} << 20;
  InputFile file(path);
  Checksum checksum(digest);
  const auto task = "checking " + path.filename().string();
  std::vector<char> block(kBlock);
  int64_t done = 0;
  while (const auto got = file.read(block.data(), block.size())) {
    checksum.add({block.data(), got});
    done += static_cast<int64_t>(got);
    if (done < file.size()) progress.report(task, done, file.size());
  }
  progress.report(task, done, done);
  return checksum.hexadecimal();
}

std::string sha256_of(const std::filesystem::path& path, Progress& progress) {
  return checksum_of(Digest::kSha256, path, progress);
}

std::string md5_of(const std::filesystem::path& path, Progress& progress) {
  return checksum_of(Digest::kMd5, path, progress);
}

}  // namespace priornet
