#include "stop_signal.h"

#include <signal.h>

#include <cstdlib>

namespace priornet::tool {
namespace {

volatile sig_atomic_t caught_signal = 0;

void on_signal(int signal) { caught_signal = signal; }

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
