#pragma once

#include <priornet/learning/catalogue.h>
#include <priornet/learning/progress.h>
#include <priornet/uncertainty/errors.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace priornet {

/// How the bytes at `path` differ from the published file, in a few words: "is not there", "has 10 bytes, 20 expected",
/// "has SHA-256 ..., ... expected". Empty if size and checksum agree as far as they are known.
std::string fault_of(const KnownFile& file, const std::filesystem::path& path, Progress& progress);

/// The same from a size and a checksum already computed: the SHA-256 if it is known, else the MD5, else nothing.
std::string fault_of(const KnownFile& file, int64_t size, const std::string& checksum);

/// Whether a checksum is known that the bytes can be checked against.
bool has_checksum(const KnownFile& file);

/// The part of a file that has arrived so far: PATH.part beside PATH. One process at a time holds it; the constructor
/// waits for the others, reporting "waiting for NAME". The file stays when the object goes, also when the process is
/// killed, with everything that was appended. Every failure throws DataError: "PATH.part: cannot be written: REASON".
class PartFile {
 public:
  /// Makes the folders of `path` if they are missing.
  PartFile(std::filesystem::path path, Progress& progress);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::filesystem::path& path() const { return part_; }
  std::string name() const { return final_.filename().string(); }  ///< of the whole file
  int64_t size() const { return size_; }

  void append(std::string_view bytes);
  void clear();

  /// Gives the file its name, on disk; an older one of that name becomes PATH.bad. No call may follow.
  void publish();

  /// Removes it: the file is no longer needed. No call may follow.
  void discard();

  /// Renames it to PATH.bad, replacing an older one, and goes on with an empty part.
  void set_aside(Progress& progress);

 private:
  void open(Progress& progress);
  bool is_still_there();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path final_;
  std::filesystem::path part_;
  int64_t size_ = 0;
  int descriptor_ = -1;
};

struct DownloadOptions {
  std::chrono::milliseconds connect_timeout{15'000};
  std::chrono::milliseconds stall_timeout{30'000};  ///< in which at least 1 KiB must come
  int retries = 4;                                  ///< at one source, where a transfer breaks off
  std::chrono::milliseconds pause{500};             ///< before the first retry; doubled for each further one
  int64_t largest = int64_t{64} << 30;              ///< bytes taken of a file whose size is unknown
  std::string mirror;                               ///< a URL tried first, which serves the paths of the catalogue
};

/// No source has the complete file.
class NoSourceError : public DataError {
 public:
  using DataError::DataError;
};

/// Gets files by HTTP, and remembers which hosts cannot be reached so as to try each only once.
class Downloader {
 public:
  explicit Downloader(DownloadOptions options = {}) : options_(std::move(options)) {}

  /// Gets a file from its sources in turn, those by https first, to its place under `root`, unless it is already there
  /// and complete. Returns whether anything was fetched.
  ///
  /// The bytes go to PATH.part; a later call continues there, after an interruption at any byte; a Progress that throws
  /// interrupts too. The file gets its name when size and checksum are right; one whose checksum is wrong is kept as
  /// PATH.bad and the next source is tried. Progress is in bytes, under the name "fetching NAME".
  ///
  /// An older file of that name that was not the right one becomes PATH.bad when the right one is there.
  ///
  /// NoSourceError names every source and what was wrong there; DataError if the file cannot be written, as on a full
  /// disk: the bytes so far are kept.
  bool get(const KnownFile& file, const std::filesystem::path& root, Progress& progress);

 private:
  struct Failure;

  std::string from_source(const std::string& url, const KnownFile& file, PartFile& part, Progress& progress);
  Failure request(const std::string& url, const KnownFile& file, PartFile& part, Progress& progress);

  DownloadOptions options_;
  std::set<std::string> unreachable_;
};

// SHA-256 and MD5 in lower-case hexadecimal, by OpenSSL. In a build without it everything here throws DataError.

enum class Digest { kSha256, kMd5 };

/// The checksum of bytes that come in pieces.
class Checksum {
 public:
  explicit Checksum(Digest digest);
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void add(std::string_view bytes);

  /// The checksum of everything that was added. No call may follow.
  std::string hexadecimal();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The checksum of a file; progress in bytes, under the name "checking NAME". DataError if the file cannot be read.
std::string checksum_of(Digest digest, const std::filesystem::path& path, Progress& progress);
std::string sha256_of(const std::filesystem::path& path, Progress& progress);
std::string md5_of(const std::filesystem::path& path, Progress& progress);

// One HTTP request by libcurl: http and https only, certificates verified, few redirects, none from https to http.
// In a build without libcurl it throws DataError.

struct HttpRequest {
  std::string url;
  int64_t from = 0;  ///< asks for the bytes from there on
  std::chrono::milliseconds connect_timeout{15'000};
  std::chrono::milliseconds stall_timeout{30'000};  ///< in which at least 1 KiB must come
};

/// How a server that has the file begins its answer.
struct HttpAnswer {
  int64_t first = 0;   ///< which byte of the file comes first: 0 from servers that ignore ranges
  int64_t total = -1;  ///< of the file in bytes, -1 where the server does not say
};

/// Takes an answer. begin and take may return a reason to stop the transfer, and each may throw: the transfer ends at
/// once and http_get throws the same.
struct HttpReceiver {
  std::function<std::string(const HttpAnswer&)> begin;
  std::function<std::string(std::string_view bytes)> take;
  std::function<void()> tick;  ///< at least about once per second, also while nothing comes
};

enum class HttpEnd {
  kComplete,     ///< everything the server meant to send, which may be less than the file
  kBrokeOff,     ///< after the connection was made: another attempt may get further
  kRefused,      ///< by the server's status, by the receiver, or by a rule above
  kUnreachable,  ///< there is no such host, or it does not answer
};

struct HttpOutcome {
  HttpEnd end = HttpEnd::kComplete;
  int status = 0;      ///< of the last answer, 0 where there was none
  std::string reason;  ///< in a few words, unless complete
};

HttpOutcome http_get(const HttpRequest& request, const HttpReceiver& receiver);

}  // namespace priornet
