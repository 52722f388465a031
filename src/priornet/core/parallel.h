#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>

namespace priornet {

/// Calls body(begin, end) over [0, rows) from all of LibTorch's threads, in pieces of at least ~16k elements: less is
/// not worth a thread.
template <class Body>
void parallel_rows(int64_t rows, int64_t elements_per_row, const Body& body) {
  constexpr int64_t kElements = 16384;
  at::parallel_for(0, rows, std::max<int64_t>(1, kElements / std::max<int64_t>(1, elements_per_row)), body);
}

}  // namespace priornet
