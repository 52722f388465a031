#include "tool/commands/terminal.h"

#include <fmt/format.h>
#include <priornet/uncertainty/errors.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "learning/base/names.h"

namespace priornet::tool {

void print(std::string_view given) {
  const auto text = printable(given, "\n\t");
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  throw DataError("cannot write to standard output: " + std::generic_category().message(errno));
}

namespace {
bool quiet = false;
}  // namespace

void be_quiet() { quiet = true; }

void note(std::string_view line) {
  if (!quiet) fmt::print(stderr, "{}\n", printable(line, "\n\t"));
}

void warn(std::string_view line) { fmt::print(stderr, "priornet: warning: {}\n", printable(line, "\n\t")); }

void complain(std::string_view line) { fmt::print(stderr, "priornet: {}\n", printable(line)); }

TerminalProgress::TerminalProgress() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() {
  if (line_open_) std::fputc('\n', stderr);
}

void TerminalProgress::report(std::string_view given, int64_t done, int64_t total) {
  if (quiet) return;
  const auto task = printable(given);
  constexpr int64_t kWidth = 30;
  constexpr auto kPause = std::chrono::milliseconds(50);
  const auto now = Clock::now();
  if (task != task_) {
    task_ = task;
    started_ = now;
    drawn_ = {};
  }
  const bool finished = done >= total;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const auto text = detail_.empty() ? std::string() : "  " + printable(detail_);
  if (!on_terminal_) {
    if (finished) fmt::print(stderr, "{:<16} {:6.1f} s{}\n", task, seconds, text);
  } else if (finished || now - drawn_ >= kPause) {
    const auto filled = kWidth * std::clamp<int64_t>(done, 0, total) / std::max<int64_t>(total, 1);
    fmt::print(stderr, "\r{:<16} ", task);
    for (int64_t i = 0; i < kWidth; ++i) std::fputs(i < filled ? "━" : "╌", stderr);
    fmt::print(stderr, " {:3} %  {:.1f} s{}\x1b[K{}", 100 * done / std::max<int64_t>(total, 1), seconds, text,
               finished ? "\n" : "");
    line_open_ = !finished;
    drawn_ = now;
  }
  if (finished) detail_.clear();
  std::fflush(stderr);
}

namespace {

volatile sig_atomic_t caught_signal = 0;

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction older {};
    ::sigaction(signal, nullptr, &older);
    if (older.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // as nohup has it
  }
}

void on_signal(int signal) {
  caught_signal = signal;
  handle(SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  caught_signal = 0;
  handle(on_signal);
}

StopSignal::~StopSignal() { handle(SIG_DFL); }

bool StopSignal::caught() const { return caught_signal != 0; }

void Stopped::end_process() {
  handle(SIG_DFL);
  ::raise(caught_signal);
  std::_Exit(128 + caught_signal);
}

}  // namespace priornet::tool
