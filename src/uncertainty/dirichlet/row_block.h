#pragma once

#include <limits>

#include "uncertainty/dirichlet/lanes.h"

// Rows of a matrix in memory as lanes: column c of a block of rows is one vector.

namespace priornet {

/// At most kLanes neighbouring rows, [count, classes], read column by column. Short rows are transposed once, for all
/// passes. If there are fewer than kLanes, the first row fills the other lanes.
template <int kLanes, class T>
class RowBlock {
 public:
  RowBlock(const T* rows, int64_t classes, int count) : rows_(rows), classes_(classes) {
    if (count < kLanes) {
      filled_ = new T[kLanes * classes];
      for (int64_t i = 0; i < kLanes; ++i)
        for (int64_t c = 0; c < classes; ++c) filled_[i * classes + c] = rows[(i < count ? i * classes : 0) + c];
      rows_ = filled_;
    }
    if (classes <= kKept)
      for (int64_t c = 0; c < classes; ++c) kept_[c] = gather<kLanes>(rows_ + c, classes);
  }

  ~RowBlock() { delete[] filled_; }
  RowBlock(const RowBlock&) = delete;
  RowBlock& operator=(const RowBlock&) = delete;

  Lanes<kLanes> operator()(int64_t c) const {
    return classes_ <= kKept ? kept_[c] : gather<kLanes>(rows_ + c, classes_);
  }

 private:
  static constexpr int64_t kKept = 64;

  const T* rows_;
  int64_t classes_;
  T* filled_ = nullptr;  // a std::unique_ptr is code that other files share: see measure_kernels_lanes.cpp
  Lanes<kLanes> kept_[kKept];
};

/// Writes the first `count` lanes to out[0], out[stride], ...
template <int kLanes, class T>
inline void store_lanes(Lanes<kLanes, T> values, T* out, int64_t stride, int count) {
  if (count == kLanes && stride == 1) {
    __builtin_memcpy(out, &values, sizeof(values));
  } else if (count == kLanes) {  // a fixed number: without a loop
    for (int i = 0; i < kLanes; ++i) out[i * stride] = values[i];
  } else {
    for (int i = 0; i < count; ++i) out[i * stride] = values[i];
  }
}

/// The same as T, with values beyond its range as its largest finite number.
template <int kLanes, class T>
inline void scatter(Lanes<kLanes> values, T* out, int64_t stride, int count) {
  const Lanes<kLanes> largest = Lanes<kLanes>{} + static_cast<double>(std::numeric_limits<T>::max());
  const Lanes<kLanes> bounded = values > largest ? largest : (values < -largest ? -largest : values);
  store_lanes<kLanes, T>(__builtin_convertvector(bounded, Lanes<kLanes, T>), out, stride, count);
}

/// Calls body(first_row, count) for blocks of kLanes rows that cover [begin, end).
template <int kLanes, class Body>
inline void for_each_block(int64_t begin, int64_t end, const Body& body) {
  for (int64_t row = begin; row < end; row += kLanes)
    body(row, static_cast<int>(end - row < kLanes ? end - row : kLanes));
}

}  // namespace priornet
