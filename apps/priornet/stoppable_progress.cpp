#include "stoppable_progress.h"

#include <signal.h>

#include <cstdlib>

namespace priornet::tool {
namespace {

volatile sig_atomic_t caught = 0;

void on_signal(int signal) { caught = signal; }

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = handler == SIG_DFL ? 0 : static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction older {};
    ::sigaction(signal, nullptr, &older);
    if (older.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // as nohup has it
  }
}

}  // namespace

void Stopped::end_process() {
  handle(SIG_DFL);
  ::raise(caught);
  std::_Exit(128 + caught);
}

StoppableProgress::StoppableProgress() {
  caught = 0;
  handle(on_signal);
}

StoppableProgress::~StoppableProgress() { handle(SIG_DFL); }

void StoppableProgress::report(std::string_view task, int64_t done, int64_t total) {
  if (caught != 0) throw Stopped();
  shown_.report(task, done, total);
}

}  // namespace priornet::tool
