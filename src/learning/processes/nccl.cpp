#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "learning/processes/collectives.h"

namespace priornet {
namespace {

class Nccl final : public c10d::ProcessGroupNCCL {
 public:
  using ProcessGroupNCCL::ProcessGroupNCCL;
  ~Nccl() override { shutdown(); }  // else it warns
};

}  // namespace

c10::intrusive_ptr<Collectives> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const ProcessPlace& place) {
  return c10::make_intrusive<Nccl>(store, place.rank, place.processes, c10d::ProcessGroupNCCL::Options::create());
}

}  // namespace priornet
