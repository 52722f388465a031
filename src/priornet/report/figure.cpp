#include <priornet/report/figure.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/core/input_file.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace priornet {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto name = (fs::temp_directory_path() / "priornet-figure-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw DataError(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw DataError(fmt::format("{}: cannot be written", (path_ / name).string()));
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string find_gnuplot() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto candidate = fs::path(folder.empty() ? "." : folder) / "gnuplot";
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
      return fs::absolute(candidate).string();
  }
  return {};
}

/// Runs gnuplot on plot.gp in the folder, what it says going to `log` there, and returns its exit status.
int run_gnuplot(const std::string& program, const fs::path& folder) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // -d: the user's own start-up file must not change the picture.
  const char* arguments[] = {"gnuplot", "-d", "plot.gp", nullptr};
  pid_t child = 0;
  const int error =
      ::posix_spawn(&child, program.c_str(), &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw DataError(fmt::format("{}: cannot be started: {}", program, std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw DataError(fmt::format("{}: was lost: {}", program, std::strerror(errno)));
  return status;
}

std::string terminal_of(const Figure& figure, FigureFormat format) {
  if (format == FigureFormat::kSvg)
    return fmt::format(
        "set terminal svg size {},{} dynamic enhanced standalone font 'Helvetica, Arial, sans-serif,13' butt\n",
        figure.width, figure.height);
  // Cairo counts fonts in points of 4/3 pixel: 1.5 times the number is twice the CSS pixels.
  return fmt::format(
      "set terminal pngcairo size {},{} enhanced font 'Helvetica,13' fontscale 1.5 linewidth 2 pointscale 2 butt\n",
      2 * figure.width, 2 * figure.height);
}

}  // namespace

bool can_render() { return !find_gnuplot().empty(); }

std::string gnuplot_string(std::string_view text) {
  std::string result = "'";
  for (const char character : text) {
    if (character == '\'') result += '\'';  // doubled, as in SQL
    result += character == '\n' ? ' ' : character;
  }
  return result + "'";
}

std::string render(const Figure& figure, FigureFormat format) {
  const auto program = find_gnuplot();
  if (program.empty()) throw DataError(std::string(kNoGnuplot));
  const TemporaryFolder folder;
  for (const auto& [name, bytes] : figure.files) folder.write(name, bytes);
  folder.write("plot.gp", "set encoding utf8\n" + terminal_of(figure, format) + "set output 'picture'\n" +
                              figure.script + "\nunset output\n");
  const int status = run_gnuplot(program, folder.path());
  if (status != 0) {
    auto said = InputFile(folder.path() / "log").read_rest();
    said.erase(said.find_last_not_of(" \n") + 1);
    throw DataError(fmt::format("gnuplot failed: {}", said.substr(said.rfind('\n') + 1)));
  }
  return InputFile(folder.path() / "picture").read_rest();
}

}  // namespace priornet
