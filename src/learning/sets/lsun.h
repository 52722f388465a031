#pragma once

#include <priornet/learning/dataset.h>

#include <filesystem>

#include "learning/sets/image_folder.h"

namespace priornet {

/// LSUN (Yu et al., 2015), without labels: from the published LMDB, which holds WebP images by key, as a folder with
/// data.mdb, a folder with one NAME_lmdb or NAME_lmdb.zip in it, or the .zip itself; or from a folder or archive of
/// image files. Its images have many sizes: options.resize is needed. In the order of the keys or paths.
/// DataError as of read_flat_images and visit_lmdb, and where a folder holds several databases.
Dataset read_lsun(const std::filesystem::path& root, const ImageFolderOptions& options);

}  // namespace priornet
