#include <priornet/learning/processes.h>

// What stands in for the group where LibTorch brings neither of its libraries.

namespace priornet {

struct ProcessGroup::Connections {};

ProcessGroup::ProcessGroup(const ProcessPlace& place, const torch::Device& device, const ProcessPatience&)
    : place_(place), device_(device) {
  throw Error("this build has neither Gloo nor NCCL: several processes cannot train together");
}

ProcessGroup::~ProcessGroup() = default;
std::unique_ptr<ProcessGroup::Pending> ProcessGroup::start_sum(torch::Tensor) { return nullptr; }
void ProcessGroup::average(torch::Tensor) {}
void ProcessGroup::broadcast(torch::Tensor) {}
void ProcessGroup::barrier() {}
bool ProcessGroup::any(bool mine) { return mine; }
void ProcessGroup::agree(const std::string&, const std::string&, const std::string&) {}
void ProcessGroup::leave(const std::string&) {}

}  // namespace priornet
