#include <priornet/uncertainty/errors.h>

#include "learning/processes/collectives.h"

namespace priornet {

c10::intrusive_ptr<Collectives> make_gloo(const c10::intrusive_ptr<c10d::Store>&, const ProcessPlace&) {
  throw Error("this build has no Gloo: several processes cannot train on a CPU");
}

}  // namespace priornet
