#pragma once

#include <string_view>

namespace priornet {

/// How a camera was held, as the EXIF tag 0x0112 of a JPEG, PNG, WebP or TIFF file has it: 1 (or no tag that can be
/// read) for a picture that is stored upright, up to 8 for one that is turned or mirrored.
int exif_orientation(std::string_view image);

}  // namespace priornet
