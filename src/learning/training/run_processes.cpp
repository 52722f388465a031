#include "learning/training/run_processes.h"

#include <fmt/format.h>

namespace priornet {

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
  group_->agree("configuration", facts.config, "its configuration is not that of process 0");
  group_->agree("training set", fmt::format("{} {}", facts.inputs, facts.classes),
                "its training set is not that of process 0");
  group_->agree(
      "step", std::to_string(facts.step),
      fmt::format("it found step {} in {}, process 0 another: all must see the same folder", facts.step, facts.folder));
  group_->broadcast(parameters.values);
}

void RunProcesses::finish(const Classifier& network) const {
  if (group_ == nullptr) return;
  const torch::NoGradGuard no_gradient;
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
