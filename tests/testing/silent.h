#pragma once

#include <priornet/learning/progress.h>

namespace priornet {

/// For work whose progress nobody watches.
inline NoProgress silent;

}  // namespace priornet
