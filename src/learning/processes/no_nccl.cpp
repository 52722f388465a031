#include <priornet/uncertainty/errors.h>

#include "learning/processes/collectives.h"

namespace priornet {

c10::intrusive_ptr<Collectives> make_nccl(const c10::intrusive_ptr<c10d::Store>&, const ProcessPlace&) {
  throw Error("this build has no NCCL: several processes cannot train on GPUs");
}

}  // namespace priornet
