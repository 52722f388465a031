#include "terminal_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace priornet::tool {

TerminalProgress::TerminalProgress() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

TerminalProgress::~TerminalProgress() {
  if (line_open_) std::fputc('\n', stderr);
}

void TerminalProgress::report(std::string_view task, int64_t done, int64_t total) {
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
  const auto text = detail_.empty() ? std::string() : "  " + detail_;
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

}  // namespace priornet::tool
