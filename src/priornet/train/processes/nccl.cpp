#include <priornet/train/processes/collectives.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace priornet {

c10::intrusive_ptr<Collectives> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place) {
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, place.rank, place.processes,
                                                     c10d::ProcessGroupNCCL::Options::create());
}

}  // namespace priornet
