#include "learning/training/run_processes.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <functional>
#include <utility>

namespace priornet {
namespace {

using torch::autograd::Node;
using torch::autograd::variable_list;

class AfterGradient final : public torch::autograd::FunctionPostHook {
 public:
  explicit AfterGradient(std::function<void()> then) : then_(std::move(then)) {}
  variable_list operator()(const variable_list& outputs, const variable_list&) override {
    then_();
    return outputs;
  }

 private:
  std::function<void()> then_;
};

}  // namespace

struct GradientExchange::State {
  struct Bucket {
    torch::Tensor gradients;
    int64_t parameters = 0;
    int64_t missing = 0;  ///< gradients that are still missing in this step
  };

  FlatParameters& parameters;
  ProcessGroup& processes;
  std::vector<Bucket> buckets;  ///< in the order in which they fill
  size_t started = 0;
  std::vector<std::unique_ptr<ProcessGroup::Pending>> pending;
  /// Each parameter's accumulator, with its hook. A parameter keeps its accumulator only while somebody holds it.
  std::vector<std::pair<std::shared_ptr<Node>, uintptr_t>> accumulators;

  void cut(int64_t bucket_bytes);
  void start(bool whether_full);
};

// From the last parameter to the first, whole parameters only.
void GradientExchange::State::cut(int64_t bucket_bytes) {
  const auto least = std::max<int64_t>(1, bucket_bytes / parameters.gradients.element_size());
  auto end = parameters.gradients.numel();
  int64_t held = 0;
  for (auto i = parameters.views.size(); i-- > 0;) {
    ++held;
    auto accumulator = torch::autograd::impl::grad_accumulator(parameters.views[i]);
    const auto hook = accumulator->add_post_hook(std::make_unique<AfterGradient>([this, bucket = buckets.size()] {
      --buckets[bucket].missing;
      start(false);
    }));
    accumulators.emplace_back(std::move(accumulator), hook);
    const auto begin = parameters.offsets[i];
    if (end - begin < least && i > 0) continue;
    buckets.push_back({parameters.gradients.narrow(0, begin, end - begin), held, held});
    end = begin;
    held = 0;
  }
}

// All processes must start the sums in the same order, whatever order the gradients come in.
void GradientExchange::State::start(bool whether_full) {
  for (; started < buckets.size() && (whether_full || buckets[started].missing <= 0); ++started)
    pending.push_back(processes.start_sum(buckets[started].gradients));
}

GradientExchange::GradientExchange(FlatParameters& parameters, ProcessGroup& processes, int64_t bucket_bytes)
    : state_(std::make_unique<State>(State{parameters, processes, {}, 0, {}, {}})) {
  state_->cut(bucket_bytes);
}

GradientExchange::~GradientExchange() {
  for (const auto& [accumulator, hook] : state_->accumulators) accumulator->del_post_hook(hook);
}

void GradientExchange::wait() {
  auto& state = *state_;
  state.start(true);
  for (const auto& sum : state.pending) sum->wait();
  state.pending.clear();
  state.started = 0;
  for (auto& bucket : state.buckets) bucket.missing = bucket.parameters;
  const torch::NoGradGuard no_gradient;
  state.parameters.gradients.div_(state.processes.processes());
}

int64_t GradientExchange::buckets() const { return static_cast<int64_t>(state_->buckets.size()); }

BatchShare RunProcesses::share() const {
  if (group_ == nullptr) return {};
  return {group_->rank(), group_->processes()};
}

std::string RunProcesses::own(const std::string& stream) const {
  return is_first() ? stream : fmt::format("{} of process {}", stream, group_->rank());
}

std::function<void()> RunProcesses::exchange_gradients(FlatParameters& parameters) {
  if (group_ == nullptr) return {};
  exchange_ = std::make_unique<GradientExchange>(parameters, *group_);
  return [this] { exchange_->wait(); };
}

std::function<void(torch::Tensor)> RunProcesses::broadcast() const {
  if (group_ == nullptr) return {};
  return [this](const torch::Tensor& tensor) { group_->broadcast(tensor); };
}

void RunProcesses::average(const torch::Tensor& tensor) const {
  if (group_ != nullptr) group_->average(tensor);
}

void RunProcesses::barrier() const {
  if (group_ != nullptr) group_->barrier();
}

bool RunProcesses::any(bool mine) const { return group_ == nullptr ? mine : group_->any(mine); }

void RunProcesses::begin(const Facts& facts, const FlatParameters& parameters) const {
  if (group_ == nullptr) return;
  group_->agree("configuration", facts.config, "its configuration differs from that of process 0");
  group_->agree("training set", fmt::format("{} {}", facts.inputs, facts.classes),
                "its training set differs from that of process 0");
  group_->agree(
      "step", std::to_string(facts.step),
      fmt::format("it found step {} in {}, but process 0 found another step: all processes must see the same folder",
                  facts.step, facts.folder));
  group_->broadcast(parameters.values);
}

void RunProcesses::finish(const Classifier& network) const {
  if (group_ == nullptr) return;
  const torch::NoGradGuard no_gradient;
  // Process 0 alone may have gone back to its best epoch.
  for (const auto& parameter : network.parameters()) group_->broadcast(parameter);
  for (const auto& buffer : network.buffers()) group_->broadcast(buffer);
  group_->barrier();
}

RunFolder open_run_folder(const std::filesystem::path& path, RunFolder::Start start, ProcessGroup* processes) {
  if (processes == nullptr) return RunFolder(path, start);
  if (!processes->is_first()) {
    processes->barrier();
    return RunFolder(path, start == RunFolder::Start::kNew ? RunFolder::Start::kResume : start);
  }
  try {
    RunFolder folder(path, start);
    processes->barrier();
    return folder;
  } catch (const DataError& error) {
    processes->leave(error.what());
    throw;
  }
}

}  // namespace priornet
