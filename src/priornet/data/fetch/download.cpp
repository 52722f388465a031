#include <fmt/format.h>
#include <priornet/data/fetch/download.h>
#include <priornet/data/fetch/http.h>
#include <priornet/data/fetch/part_file.h>
#include <priornet/data/fetch/wholeness.h>

#include <algorithm>
#include <thread>

namespace priornet {

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
  sources.insert(sources.end(), file.urls.begin(), file.urls.end());
  return sources;
}

bool passes_with_time(int status) { return status == 408 || status == 429 || status >= 500; }

// Better said before the first byte than after the last that fits.
void expect_room(const KnownFile& file, const PartFile& part) {
  std::error_code error;
  const auto space = std::filesystem::space(part.path().parent_path(), error);
  const auto missing = file.size - part.size();
  if (!error && missing > 0 && space.available < static_cast<uintmax_t>(missing))
    throw DataError(fmt::format("{}: the disk is full: {} more bytes are needed, {} are free; what came is kept",
                                part.path().string(), missing, space.available));
}

}  // namespace

bool Downloader::get(const KnownFile& file, const std::filesystem::path& root, Progress& progress) {
  const auto path = root / file.path;
  if (fault_of(file, path, progress).empty()) return false;
  PartFile part(path, progress);
  // Another process may have had the file while we waited.
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

// Fills the part until it is whole; a reason why that cannot be, otherwise.
std::string Downloader::from_source(const std::string& url, const KnownFile& file, PartFile& part, Progress& progress) {
  constexpr auto kSlice = std::chrono::milliseconds(50);
  if (unreachable_.contains(host_of(url))) return "not tried, the host cannot be reached";
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
      // The file may have changed since its first bytes came.
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
    if (answer.total > most) return fmt::format("has {} bytes, more than the {} that are taken", answer.total, most);
    if (answer.first == 0 && part.size() > 0) part.clear();
    total = std::max(total, answer.total);
    return {};
  };
  receiver.take = [&](std::string_view bytes) -> std::string {
    too_much = static_cast<int64_t>(bytes.size()) > most - part.size();
    if (too_much) return fmt::format("sends more than the {} bytes that are taken", most);
    part.append(bytes);
    report();
    return {};
  };
  receiver.tick = report;

  const auto outcome = http_get({url, part.size(), options_.connect_timeout, options_.stall_timeout}, receiver);
  if (outcome.end == HttpEnd::kUnreachable) unreachable_.insert(host_of(url));
  if (too_much) part.clear();
  if (outcome.status == 416 && part.size() > 0) {
    // Nothing comes after what we have: that is the whole file, or not this file.
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
