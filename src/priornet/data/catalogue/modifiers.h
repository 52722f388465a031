#pragma once

#include <priornet/data/catalogue/load.h>

namespace priornet {

/// The set with the name's modifiers applied in their order; the first `size` is passed over where it was applied as
/// the images were read. DataError that names the modifier which the set cannot take.
Dataset modified(Dataset set, const SetName& name, bool is_resized, const LoadOptions& options);

/// How images of many sizes are resized as they are read: to the first size of the name, else as in `otherwise`.
std::optional<ResizeOptions> resize_on_reading(const SetName& name, const std::optional<ResizeOptions>& otherwise);

}  // namespace priornet
