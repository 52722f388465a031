#pragma once

#include <cstdint>
#include <functional>

namespace priornet {

/// Calls body(begin, end) over consecutive parts of [begin, end), of at least `grain` each except for the last, on the
/// threads of LibTorch's own operators; inside such a loop it makes one part, on the calling thread. An exception in a
/// part is thrown here, the first if there are several; the other parts still run.
void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

/// body(i) for every i in [0, count); the next free thread takes each: for work of unequal size. Each i covers about
/// `elements` elements; if there are few in all, no further threads start.
void parallel_each(int64_t count, int64_t elements, const std::function<void(int64_t)>& body);

}  // namespace priornet
