#pragma once

#include <cstdint>
#include <functional>

namespace priornet {

/// Calls body(begin, end) over consecutive parts of [begin, end), of at least `grain` each except for the last, from
/// the threads of LibTorch's own operators; one part, on the calling thread, inside of such a loop. What a part throws
/// is thrown here, the first if several do; the other parts are still done.
void parallel_for(int64_t begin, int64_t end, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

/// body(i) for every i in [0, count), each taken by the next thread that is free: for work of unequal size. Each looks
/// at about `elements`; few in all are not worth a thread.
void parallel_each(int64_t count, int64_t elements, const std::function<void(int64_t)>& body);

}  // namespace priornet
