#pragma once

#include <priornet/models/network.h>

namespace priornet {

/// While it lives a network is in evaluation mode, with its dropout at work or not; afterwards it is as it was.
class Evaluating {
 public:
  explicit Evaluating(Network& network, bool dropout = false);
  ~Evaluating() { network_.train(was_training_); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  Network& network_;
  bool was_training_;
};

}  // namespace priornet
