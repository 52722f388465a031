#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/progress.h>
#include <priornet/uncertainty/errors.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "operator_support.h"

// Long work as objects. Python calls run() on a thread of its own, which PyTorch runs without the interpreter's lock,
// and asks from another thread how far it is.

namespace priornet::python {

using Strings = std::vector<std::string>;

/// A set from arrays; ArgumentError or DataError if they do not make one (check_dataset).
inline Dataset dataset_of(std::string name, const Tensor& inputs, const MaybeTensor& labels, const Strings& class_names,
                          const Strings& feature_names) {
  Dataset set;
  set.name = std::move(name);
  set.inputs = inputs.detach().to(torch::kCPU).contiguous();
  if (labels) set.labels = labels->to(torch::kCPU).contiguous();
  set.class_names = class_names;
  set.feature_names = feature_names;
  check_dataset(set);
  return set;
}

/// Thrown if the work is asked to stop and has no checkpoint to go on from.
class StoppedEarly final : public Error {
 public:
  StoppedEarly() : Error("stopped") {}
};

class Job : public torch::CustomClassHolder, protected Progress {
 public:
  // From other threads, while it runs.

  void stop() { stop_ = true; }

  /// Task, units done, units in all, a detail such as the loss.
  std::tuple<std::string, int64_t, int64_t, std::string> progress() const {
    const std::lock_guard lock(mutex_);
    return {task_, done_, total_, detail_};
  }

  /// Notes for the user, from the given number on.
  Strings messages(int64_t first) const { return from(messages_, first); }

 protected:
  bool asked_to_stop() const { return stop_; }

  /// From then on the work itself calls stop(), and ends in order.
  void stops_by_itself() { stops_by_itself_ = true; }

  void report(std::string_view task, int64_t done, int64_t total) override {
    if (stop_ && !stops_by_itself_) throw StoppedEarly();
    const std::lock_guard lock(mutex_);
    task_ = task;
    done_ = done;
    total_ = total;
  }

  void detail(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    detail_ = text;
  }

  void say(std::string message) { add(messages_, std::move(message)); }

  void add(Strings& lines, std::string line) {
    const std::lock_guard lock(mutex_);
    lines.push_back(std::move(line));
  }

  Strings from(const Strings& lines, int64_t first) const {
    const std::lock_guard lock(mutex_);
    const auto begin = std::min(static_cast<size_t>(std::max<int64_t>(first, 0)), lines.size());
    return {lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end()};
  }

 private:
  std::atomic<bool> stop_ = false;
  bool stops_by_itself_ = false;

  mutable std::mutex mutex_;  ///< for what follows, and for lines that add() appends
  std::string task_;
  int64_t done_ = 0;
  int64_t total_ = 0;
  std::string detail_;
  Strings messages_;
};

/// What Python can ask every job.
template <class Work>
torch::class_<Work>& with_job(torch::class_<Work>& job) {
  using Self = c10::intrusive_ptr<Work>;
  return job.def("stop", [](const Self& self) { self->stop(); })
      .def("progress", [](const Self& self) { return self->progress(); })
      .def("messages", [](const Self& self, int64_t first) { return self->messages(first); });
}

}  // namespace priornet::python
