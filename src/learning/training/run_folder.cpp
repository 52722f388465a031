#include <priornet/learning/run_folder.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/learning/config.h>
#include <priornet/uncertainty/errors.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "learning/base/file_io.h"
#include "learning/training/metric_files.h"

namespace priornet {
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";

std::vector<int64_t> steps_in(const std::filesystem::path& folder) {
  std::vector<int64_t> steps;
  std::error_code none_yet;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none_yet)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    int64_t step = 0;
    const auto* end = name.data() + name.size() - kSuffix.size();
    if (std::from_chars(name.data() + kPrefix.size(), end, step).ptr == end) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

bool is_of_member(std::string_view name) {
  constexpr std::string_view kMember = "member-";
  return name.starts_with(kMember) && name.size() > kMember.size() &&
         name.find_first_not_of("0123456789", kMember.size()) == std::string_view::npos;
}

// Only what a run leaves: the folder may hold the user's own files.
std::vector<std::filesystem::path> parts_of_run(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> parts;
  std::error_code none_yet;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none_yet)) {
    const auto name = entry.path().filename().string();
    const bool is_metrics = std::any_of(kMetricFormats.begin(), kMetricFormats.end(),
                                        [&](const MetricFormat& format) { return name == format.file; });
    if (is_metrics || name == "config.toml" || name == "checkpoints" || name == "scores" || name == "evaluation" ||
        name == "network.pt" || name == "left-out.csv" || is_of_member(name))
      parts.push_back(entry.path());
  }
  return parts;
}

}  // namespace

RunFolder::RunFolder(std::filesystem::path path, Start start)
    : path_(std::move(path)), replaces_(start == Start::kForce) {
  if (std::filesystem::exists(config()) && start == Start::kNew)
    throw DataError(
        fmt::format("{}: already holds a run: --resume goes on with it, --force removes it", path_.string()));
  make_folders();
}

void RunFolder::begin() const {
  try {
    if (replaces_)
      for (const auto& file : parts_of_run(path_)) std::filesystem::remove_all(file);
  } catch (const std::filesystem::filesystem_error& error) {
    throw DataError(fmt::format("{}: cannot be removed: {}", error.path1().string(), error.code().message()));
  }
  make_folders();
}

void RunFolder::make_folders() const {
  try {
    std::filesystem::create_directories(path_ / "checkpoints");
  } catch (const std::filesystem::filesystem_error& error) {
    throw DataError(fmt::format("{}: cannot be written: {}", error.path1().string(), error.code().message()));
  }
}

std::filesystem::path RunFolder::checkpoint(int64_t step) const {
  return path_ / "checkpoints" / fmt::format("{}{:08}{}", kPrefix, step, kSuffix);
}

void RunFolder::write_config(const std::string& toml) const {
  AtomicFile file(config());
  file.write(toml);
  file.commit();
}

void RunFolder::write_program(const torch::Tensor& bytes) const {
  if (!bytes.defined()) return;
  AtomicFile file(program());
  file.write({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
  file.commit();
}

torch::Tensor read_program(const std::filesystem::path& run) {
  const auto path = run / "network.pt";
  if (!std::filesystem::exists(path)) return {};
  const auto text = InputFile(path).read_rest();
  auto bytes = torch::empty({static_cast<int64_t>(text.size())}, torch::kUInt8);
  std::memcpy(bytes.data_ptr(), text.data(), text.size());
  return bytes;
}

void RunFolder::check_config(const std::string& toml) const {
  if (replaces_ || !std::filesystem::exists(config())) return;
  if (const auto difference = first_difference(InputFile(config()).read_rest(), toml); !difference.empty())
    throw DataError(fmt::format("{}: has another configuration: {}", config().string(), difference));
}

std::vector<int64_t> RunFolder::steps() const { return steps_in(path_ / "checkpoints"); }

void RunFolder::set_aside(int64_t step) const {
  const auto path = checkpoint(step);
  std::error_code error;
  std::filesystem::rename(path, path.string() + ".damaged", error);
  if (error) throw DataError(fmt::format("{}: is damaged and cannot be renamed: {}", path.string(), error.message()));
}

void RunFolder::keep_last(int64_t count) const {
  const auto all = steps();
  std::error_code ignored;
  for (size_t i = 0; i + static_cast<size_t>(count) < all.size(); ++i)
    std::filesystem::remove(checkpoint(all[i]), ignored);
}

void RunFolder::remove_checkpoints() const {
  keep_last(0);
  std::error_code ignored;
  std::filesystem::remove(best(), ignored);
}

void RunFolder::cut_metrics(int64_t epoch) const {
  for (const auto& format : kMetricFormats) {
    const auto path = path_ / format.file;
    if (!std::filesystem::exists(path)) continue;
    const auto text = InputFile(path).read_rest();
    // Another run's first epoch may have other columns, so the start is removed too.
    const auto pieces = epoch == 1 ? 0 : epoch - 1 + (format.start == nullptr ? 0 : 1);
    AtomicFile file(path);
    auto kept = text.substr(0, format.size(text, pieces));
    file.write(format.with_new_names == nullptr ? kept : format.with_new_names(std::move(kept)));
    file.commit();
  }
}

namespace {

void append(const std::filesystem::path& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool written =
      descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!written) throw DataError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(error)));
}

}  // namespace

void RunFolder::add_metrics(const std::string& json) const {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  for (const auto& format : kMetricFormats) {
    const auto path = path_ / format.file;
    std::error_code not_there;
    const auto size = std::filesystem::file_size(path, not_there);
    const bool begins = not_there || size == 0;
    append(path, (begins && format.start != nullptr ? format.start(json, now.count()) : std::string()) +
                     format.piece(json, now.count()));
  }
}

RunLock::RunLock(const RunFolder& folder)
    : descriptor_(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(descriptor_);
  throw DataError(fmt::format("{}: another process is training in it", folder.path().string()));
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::filesystem::path weights_of_run(const std::filesystem::path& run, WhichCheckpoint which) {
  if (which == WhichCheckpoint::kBest) {
    const auto best = run / "checkpoints" / "best.safetensors";
    if (std::filesystem::exists(best)) return best;
    throw DataError(fmt::format("{}: holds no best checkpoint: it was trained without a validation set", run.string()));
  }
  const auto steps = steps_in(run / "checkpoints");
  if (steps.empty()) throw DataError(fmt::format("{}: holds no checkpoint: is it the folder of a run?", run.string()));
  return run / "checkpoints" / fmt::format("{}{:08}{}", kPrefix, steps.back(), kSuffix);
}

}  // namespace priornet
