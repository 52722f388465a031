#include "tool/commands/command.h"

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <priornet/uncertainty/errors.h>
#include <priornet/version.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <thread>

#include "tool/commands/terminal.h"

namespace priornet::tool {
namespace {

int fail(int status, std::string_view message, std::string_view hint = "") {
  complain(fmt::format("{}{}", message, hint));
  return status;
}

// LibTorch counts the cores of some virtual machines as one. OMP_NUM_THREADS in the environment is left alone.
void use_threads(const std::optional<int64_t>& wanted) {
  if (wanted)
    at::set_num_threads(static_cast<int>(*wanted));
  else if (std::getenv("OMP_NUM_THREADS") == nullptr)
    at::set_num_threads(std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

// A thread of OpenMP that waits for work spins for milliseconds before it sleeps. On a busy machine it takes the
// processor from threads that have work, this program's own among them. Some ten microseconds of spinning are as fast
// on an idle machine (docs/training.md). libgomp reads the environment before main() begins, so the program starts
// itself again. The linker calls this function before the constructors of any library; LibTorch's take most of the time
// of a start, so the second start costs 0.15 CPU-seconds, not 0.43. libc is not initialised yet either, nor a
// sanitizer: this function may only make system calls.
#define PRIORNET_BEFORE_LIBRARIES __attribute__((no_sanitize("address", "undefined")))

constexpr const char* kShortWaits = "GOMP_SPINCOUNT=10000";

PRIORNET_BEFORE_LIBRARIES constexpr bool begins_with(const char* text, const char* start) {
  while (*start != '\0' && *text == *start) ++text, ++start;
  return *start == '\0';
}

PRIORNET_BEFORE_LIBRARIES void begin_again_with_short_waits(int argc, char** argv, char** environment) {
  constexpr size_t kMost = 4096;
  static const char* longer[kMost + 2];
  int options = 1;
  while (options < argc && begins_with(argv[options], "-")) ++options;
  if (options == argc) return;  // it is asked for its version or for help
  size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count == kMost || begins_with(environment[count], "OMP_WAIT_POLICY=") ||
        begins_with(environment[count], "GOMP_SPINCOUNT="))
      return;
    longer[count] = environment[count];
  }
  longer[count] = kShortWaits;
  static char program[PATH_MAX + 1];  // the name that other programs see
  if (::syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, PATH_MAX) > 0)
    ::syscall(SYS_execve, program, argv, longer);  // if that fails, it goes on as it is
}

[[gnu::used, gnu::section(".preinit_array")]] void (*const kBeforeLibraries)(int, char**,
                                                                             char**) = begin_again_with_short_waits;

// The next batch needs the memory of a layer's output again. If it went back to the system in between, its pages would
// be cleared and mapped again each time, which takes as long as a small network's convolutions: with these limits VGG-6
// with 16 to 32 channels answers 1.4 times as many images per second. Beyond them memory goes back as before.
void keep_freed_memory() {
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
  constexpr int kFreeBytes = 128 << 20, kLargestKept = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, kFreeBytes);
  mallopt(M_MMAP_THRESHOLD, kLargestKept);
#endif
}

}  // namespace

std::string words_of(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  const auto* of_libtorch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = of_libtorch == nullptr ? error.what() : of_libtorch->what_without_backtrace();
  return text.substr(0, text.find('\n'));  // libraries add where they were called from
}

int run_tool(std::vector<Command> subcommands, const std::vector<std::string>& arguments) {
  keep_freed_memory();
  Command tool{"priornet", "priornet tells how sure a classifier is and why."};
  std::optional<int64_t> threads;
  bool quiet = false;
  tool.options = {
      {.name = "--version",
       .to = [] { return std::string("priornet " PRIORNET_VERSION "\n"); },
       .help = "Print the version and exit"},
      {.name = "--help-json",
       .to = [&tool] { return listing_of(tool); },
       .help = "Print every subcommand and option as JSON and exit"},
      {.name = "--threads",
       .to = &threads,
       .help = "CPU threads; by default all cores",
       .range = whole_range(1, 4096),
       .anywhere = true},
      {.name = "--quiet",
       .to = &quiet,
       .help = "Print only results, warnings and errors: no progress, no remarks",
       .anywhere = true},
  };
  tool.notes =
      "priornet help SUBCOMMAND is priornet SUBCOMMAND --help. --threads and --quiet may stand after a subcommand too.";
  tool.subcommands = std::move(subcommands);
  try {
    const auto invocation = parse(tool, arguments);
    if (invocation.answer) {
      print(*invocation.answer);
      return 0;
    }
    if (quiet) be_quiet();
    use_threads(threads);
    invocation.run();
    return 0;
  } catch (const Misuse& misuse) {
    const auto& name = misuse.subcommand;
    return fail(2, misuse.what(), fmt::format(" (see priornet {}{}--help)", name, name.empty() ? "" : " "));
  } catch (const Stopped&) {
    Stopped::end_process();
  } catch (const std::exception& error) {
    return fail(1, words_of(error));
  }
}

}  // namespace priornet::tool
