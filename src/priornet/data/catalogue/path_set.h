#pragma once

#include <priornet/data/catalogue/load.h>

namespace priornet {

/// What the name's path leads to, with its modifiers applied:
/// - a folder or an archive of images, a sub-folder a class or all in one; prepared copies are kept of these;
/// - an LMDB of images, as LSUN has them (a folder with data.mdb);
/// - .csv, .npy, .npz: numbers or images;
/// - an IDX file of images (its labels beside it, with "labels" and "idx1" in their name);
/// - .mat: images as SVHN has them.
Dataset load_path_set(const SetName& name, const LoadOptions& options);

/// Whether the data root has a folder of images of that name, or a prepared copy of one: a set of the user's own that
/// the catalogue need not have.
bool is_own_set(const std::string& name, const LoadOptions& options);

/// The images of that folder, with the name's modifiers applied. There is such a set.
Dataset load_own_set(const SetName& name, const LoadOptions& options);

}  // namespace priornet
