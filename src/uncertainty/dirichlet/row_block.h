#pragma once

#include <limits>

#include "uncertainty/dirichlet/lanes.h"

// Rows of a matrix in memory as lanes: column c of a block of rows is one vector.

namespace priornet {

/// At most kLanes neighbouring rows, [count, classes], read column by column.
template <int kLanes, class T>
class RowBlock {
 public:
  RowBlock(const T* rows, int64_t classes, int count) : rows_(rows), classes_(classes), count_(count) {
    kept_[0] = read(0);
    if (classes <= kKept)
      for (int64_t c = 1; c < classes; ++c) kept_[c] = read(c);
  }

  Lanes<kLanes> operator()(int64_t c) const { return classes_ <= kKept ? kept_[c] : read(c); }

 private:
  static constexpr int64_t kKept = 64;  // rows this short are transposed once, for all passes

  Lanes<kLanes> read(int64_t c) const {
    if (count_ == kLanes) return gather<kLanes>(rows_ + c, classes_);
    Lanes<kLanes> values = Lanes<kLanes>{} + static_cast<double>(rows_[c]);
    for (int i = 1; i < count_; ++i) values[i] = rows_[i * classes_ + c];
    return values;
  }

  const T* rows_;
  int64_t classes_;
  int count_;
  Lanes<kLanes> kept_[kKept];
};

/// Writes the first `count` lanes to out[0], out[stride], ..., with values beyond the range of T as its largest finite
/// number.
template <int kLanes, class T>
inline void scatter(Lanes<kLanes> values, T* out, int64_t stride, int count) {
  const Lanes<kLanes> largest = Lanes<kLanes>{} + static_cast<double>(std::numeric_limits<T>::max());
  const Lanes<kLanes> bounded = values > largest ? largest : (values < -largest ? -largest : values);
  for (int i = 0; i < count; ++i) out[i * stride] = static_cast<T>(bounded[i]);
}

/// Calls body(first_row, count) for blocks of kLanes rows that cover [begin, end).
template <int kLanes, class Body>
inline void for_each_block(int64_t begin, int64_t end, const Body& body) {
  for (int64_t row = begin; row < end; row += kLanes)
    body(row, static_cast<int>(end - row < kLanes ? end - row : kLanes));
}

}  // namespace priornet
