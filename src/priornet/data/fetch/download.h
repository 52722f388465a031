#pragma once

#include <priornet/core/errors.h>
#include <priornet/core/progress.h>
#include <priornet/data/catalogue/entry.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

namespace priornet {

class PartFile;

struct DownloadOptions {
  std::chrono::milliseconds connect_timeout{15'000};
  std::chrono::milliseconds stall_timeout{30'000};  ///< in which at least 1 KiB must come
  int retries = 4;                                  ///< at one source, where a transfer breaks off
  std::chrono::milliseconds pause{500};             ///< before the first retry; doubled for each further one
  int64_t largest = int64_t{64} << 30;              ///< bytes taken of a file whose size is unknown
  std::string mirror;                               ///< a URL tried first, which serves the paths of the catalogue
};

/// No source has the file whole.
class NoSourceError : public DataError {
 public:
  using DataError::DataError;
};

/// Gets files by HTTP, and remembers which hosts cannot be reached so as to try each only once.
class Downloader {
 public:
  explicit Downloader(DownloadOptions options = {}) : options_(std::move(options)) {}

  /// Gets a file from its sources in turn to its place under `root`, unless it is there and whole. Returns whether
  /// anything was fetched.
  ///
  /// The bytes come into PATH.part, whence a later call goes on, after an interruption at any byte; a Progress that
  /// throws interrupts too. The file gets its name when size and checksum are right; one whose checksum is wrong is
  /// kept as PATH.bad and the next source is tried. Progress is in bytes, under the name "fetching NAME".
  ///
  /// An older file of that name that was not the right one becomes PATH.bad when the right one is there.
  ///
  /// NoSourceError names every source with what was wrong there; DataError where the file cannot be written, as on a
  /// full disk: what came is kept.
  bool get(const KnownFile& file, const std::filesystem::path& root, Progress& progress);

 private:
  struct Failure;

  std::string from_source(const std::string& url, const KnownFile& file, PartFile& part, Progress& progress);
  Failure request(const std::string& url, const KnownFile& file, PartFile& part, Progress& progress);

  DownloadOptions options_;
  std::set<std::string> unreachable_;
};

}  // namespace priornet
