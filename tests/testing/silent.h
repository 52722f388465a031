#pragma once

#include <priornet/core/progress.h>

namespace priornet {

/// For work whose progress nobody watches.
inline NoProgress silent;

}  // namespace priornet
