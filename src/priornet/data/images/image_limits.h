#pragma once

#include <cstdint>
#include <string>

namespace priornet {

constexpr int64_t kLargestImageSide = 16'384;
constexpr int64_t kLargestImage = int64_t{1} << 28;  ///< in pixels
/// An image of so many pixels is taken however few bytes it comes in.
constexpr int64_t kHarmlessImage = int64_t{1} << 22;

/// To be asked before memory is taken for what a header claims: DataError, opened by `name`, for a side of 0, a size
/// above those limits, or more pixels than `bytes` bytes can describe (1-bit pixels, deflated as well as can be).
void check_image_size(const std::string& name, int64_t height, int64_t width, int64_t bytes);

}  // namespace priornet
