#include "tool/downloads/download.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "learning/base/file_io.h"

namespace priornet {

bool has_checksum(const KnownFile& file) { return !file.sha256.empty() || !file.md5.empty(); }

std::string fault_of(const KnownFile& file, int64_t size, const std::string& checksum) {
  if (file.size > 0 && size != file.size) return fmt::format("has {} bytes, {} expected", size, file.size);
  const bool sha256 = !file.sha256.empty();
  const auto& expected = sha256 ? file.sha256 : file.md5;
  if (checksum == expected) return {};
  return fmt::format("has {} {}, {} expected", sha256 ? "SHA-256" : "MD5", checksum, expected);
}

std::string fault_of(const KnownFile& file, const std::filesystem::path& path, Progress& progress) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return "is not there";
  const bool right_size = file.size <= 0 || static_cast<int64_t>(size) == file.size;
  // A wrong size is enough, and the checksum of a large file takes time.
  if (!right_size || !has_checksum(file))
    return fault_of({file.path, file.size, {}, {}, {}}, static_cast<int64_t>(size), {});
  return fault_of(file, static_cast<int64_t>(size),
                  file.sha256.empty() ? md5_of(path, progress) : sha256_of(path, progress));
}

namespace {

std::filesystem::path with_suffix(std::filesystem::path path, const char* suffix) { return path += suffix; }

}  // namespace

PartFile::PartFile(std::filesystem::path path, Progress& progress)
    : final_(std::move(path)), part_(with_suffix(final_, ".part")) {
  std::error_code error;
  std::filesystem::create_directories(final_.parent_path(), error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", final_.parent_path().string(), error.message()));
  open(progress);
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);  // and with it the lock
}

void PartFile::open(Progress& progress) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  while (true) {
    descriptor_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(errno);
    const auto task = "waiting for " + final_.filename().string();
    // On a file system without locks, two processes may damage the file; its checksum then shows it.
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      progress.report(task, 0, 1);
      std::this_thread::sleep_for(kPause);
    }
    if (is_still_there()) return;
    ::close(descriptor_);  // the process that held it before us has renamed it
  }
}

bool PartFile::is_still_there() {
  struct stat ours {};
  struct stat there {};
  if (::fstat(descriptor_, &ours) != 0) fail(errno);
  if (::stat(part_.c_str(), &there) != 0 || ours.st_ino != there.st_ino || ours.st_dev != there.st_dev) return false;
  size_ = ours.st_size;
  return true;
}

void PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
      size_ += written;
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void PartFile::clear() {
  if (::ftruncate(descriptor_, 0) != 0) fail(errno);
  size_ = 0;
}

void PartFile::publish() {
  if (::fsync(descriptor_) != 0) fail(errno);
  if (::rename(final_.c_str(), with_suffix(final_, ".bad").c_str()) != 0 && errno != ENOENT) fail(errno);
  if (::rename(part_.c_str(), final_.c_str()) != 0) fail(errno);
  sync_folder(final_.parent_path());
}

void PartFile::discard() { ::unlink(part_.c_str()); }

void PartFile::set_aside(Progress& progress) {
  if (::rename(part_.c_str(), with_suffix(final_, ".bad").c_str()) != 0) fail(errno);
  ::close(descriptor_);
  open(progress);
}

void PartFile::fail(int error) const {
  throw DataError(fmt::format("{}: cannot be written: {}", part_.string(), std::generic_category().message(error)));
}

struct Downloader::Failure {
  std::string reason;  ///< empty if there is none
  bool may_retry = false;
};

namespace {

std::string host_of(const std::string& url) {
  const auto begin = url.find("://");
  if (begin == std::string::npos) return url;
  return url.substr(begin + 3, url.find('/', begin + 3) - begin - 3);
}

std::vector<std::string> sources_of(const KnownFile& file, const std::string& mirror) {
  std::vector<std::string> sources;
  if (!mirror.empty()) sources.push_back(mirror + (mirror.ends_with('/') ? "" : "/") + file.path);
  const auto published = sources.insert(sources.end(), file.urls.begin(), file.urls.end());
  // https protects what comes from being read or changed on the way.
  std::stable_partition(published, sources.end(), [](const std::string& url) { return url.starts_with("https:"); });
  return sources;
}

bool passes_with_time(int status) { return status == 408 || status == 429 || status >= 500; }

// Checked before the first byte, not after the last that fits.
void expect_room(const KnownFile& file, const PartFile& part) {
  std::error_code error;
  const auto space = std::filesystem::space(part.path().parent_path(), error);
  const auto missing = file.size - part.size();
  if (!error && missing > 0 && space.available < static_cast<uintmax_t>(missing))
    throw DataError(
        fmt::format("{}: the disk is full: {} more bytes are needed, {} are free; the bytes downloaded so far are kept",
                    part.path().string(), missing, space.available));
}

}  // namespace

bool Downloader::get(const KnownFile& file, const std::filesystem::path& root, Progress& progress) {
  const auto path = root / file.path;
  if (fault_of(file, path, progress).empty()) return false;
  PartFile part(path, progress);
  // Another process may have fetched the file while we waited.
  if (std::filesystem::exists(path) && fault_of(file, path, progress).empty()) {
    part.discard();
    return false;
  }
  expect_room(file, part);

  std::string reasons;
  for (const auto& url : sources_of(file, options_.mirror)) {
    const auto reason = from_source(url, file, part, progress);
    if (reason.empty()) {
      part.publish();
      return true;
    }
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", url, reason);
  }
  if (part.size() == 0) part.discard();
  throw NoSourceError(fmt::format("{}: no source has it: {}", file.path, reasons.empty() ? "none is known" : reasons));
}

// Fills the part until it is complete; otherwise returns the reason why it cannot.
std::string Downloader::from_source(const std::string& url, const KnownFile& file, PartFile& part, Progress& progress) {
  constexpr auto kSlice = std::chrono::milliseconds(50);
  if (unreachable_.contains(host_of(url))) return "not tried: its host cannot be reached";
  bool resumed = part.size() > 0;
  bool restarted = false;
  int retries = 0;
  while (true) {
    if (part.size() > 0 && (!has_checksum(file) || (file.size > 0 && part.size() > file.size))) part.clear();
    const auto failure = request(url, file, part, progress);
    if (failure.reason.empty()) {
      const auto fault = fault_of(file, part.path(), progress);
      if (fault.empty()) return {};
      if (!resumed || restarted) {
        part.set_aside(progress);
        return fault;
      }
      // The file may have changed since its first bytes arrived.
      part.clear();
      resumed = false;
      restarted = true;
      continue;
    }
    if (!failure.may_retry || retries == options_.retries) return failure.reason;
    resumed = resumed || part.size() > 0;
    const auto until = std::chrono::steady_clock::now() + options_.pause * (1 << std::min(retries++, 10));
    while (std::chrono::steady_clock::now() < until) {
      progress.report("fetching " + part.name(), part.size(), std::max(file.size, part.size() + 1));
      std::this_thread::sleep_for(kSlice);
    }
  }
}

Downloader::Failure Downloader::request(const std::string& url, const KnownFile& file, PartFile& part,
                                        Progress& progress) {
  if (file.size > 0 && part.size() == file.size) return {};
  const auto task = "fetching " + part.name();
  const auto most = file.size > 0 ? file.size : options_.largest;
  int64_t total = file.size;
  bool too_much = false;
  const auto report = [&] { progress.report(task, part.size(), std::max(total, part.size() + 1)); };
  HttpReceiver receiver;
  receiver.begin = [&](const HttpAnswer& answer) -> std::string {
    if (file.size > 0 && answer.total >= 0 && answer.total != file.size)
      return fmt::format("has {} bytes, {} expected", answer.total, file.size);
    if (answer.total > most) return fmt::format("has {} bytes, more than the {} allowed", answer.total, most);
    if (answer.first == 0 && part.size() > 0) part.clear();
    total = std::max(total, answer.total);
    return {};
  };
  receiver.take = [&](std::string_view bytes) -> std::string {
    too_much = static_cast<int64_t>(bytes.size()) > most - part.size();
    if (too_much) return fmt::format("sends more than the {} bytes allowed", most);
    part.append(bytes);
    report();
    return {};
  };
  receiver.tick = report;

  const auto outcome = http_get({url, part.size(), options_.connect_timeout, options_.stall_timeout}, receiver);
  if (outcome.end == HttpEnd::kUnreachable) unreachable_.insert(host_of(url));
  if (too_much) part.clear();
  if (outcome.status == 416 && part.size() > 0) {
    // No bytes follow those we have: this is the whole file, or another file.
    if (file.size == 0 && fault_of(file, part.path(), progress).empty()) return {};
    part.clear();
    return {outcome.reason, true};
  }
  if (outcome.end != HttpEnd::kComplete)
    return {outcome.reason, outcome.end == HttpEnd::kBrokeOff || passes_with_time(outcome.status)};
  if (part.size() < file.size) return {fmt::format("ends at byte {} of {}", part.size(), file.size), true};
  progress.report(task, part.size(), part.size());
  return {};
}

}  // namespace priornet
