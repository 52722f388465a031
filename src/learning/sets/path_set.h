#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/load_set.h>

#include <filesystem>

#include "learning/data/byte_stream.h"
#include "learning/sets/image_folder.h"

// Sets that are named by a path, and the files they are read from.

namespace priornet {

/// What the name's path leads to, with its modifiers applied:
/// - a folder or an archive of images, one sub-folder per class or all in one; prepared copies are kept of these;
/// - an LMDB of images, as LSUN has them (a folder with data.mdb);
/// - .csv, .tsv (also .gz): a table; .npy, .npz: numbers or images;
/// - an IDX file of images (its labels beside it, with "labels" and "idx1" in their name);
/// - .mat: images as in SVHN.
Dataset load_path_set(const SetName& name, const LoadOptions& options);

/// Whether a path leads to a text table, by its name: .csv or .tsv, .gz behind it or not.
bool is_table_path(const std::string& path);

/// Whether the data root has a folder of images of that name, or a prepared copy of one: a set of the user's own that
/// the catalogue need not have.
bool is_own_set(const std::string& name, const LoadOptions& options);

/// The images of that folder, with the name's modifiers applied. There is such a set.
Dataset load_own_set(const SetName& name, const LoadOptions& options);

/// The rows of another set that a part of the catalogue is (SetPart::chosen_from). AbsentSet if that set is not
/// there; DataError if it has not the rows that the files at the location ask for.
Dataset read_chosen_rows(const SetPart& part, const std::filesystem::path& location, const LoadOptions& options);

/// The set with the name's modifiers applied in their order; the first `size` is passed over where it was applied as
/// the images were read. DataError that names the modifier which the set cannot take.
Dataset modified(Dataset set, const SetName& name, bool is_resized, const LoadOptions& options);

/// A set in NumPy's formats: an .npz with an array `inputs` or `images`, and `labels` where there are any, or the
/// inputs alone as an .npy. Inputs are images, uint8 [N, C, H, W] or [N, H, W], or finite numbers, float32 or float64
/// [N, D] (kept as float32); labels are integers [N], 0 to 65,535, and the classes are called by their numbers.
/// DataError that names file, array and row where it is not that.
Dataset read_array_set(const std::filesystem::path& path);

/// SVHN's cropped digits as published, train_32x32.mat and the like: a MATLAB 5 file of X, uint8 [32, 32, 3, N], and
/// y, [N, 1], where 10 stands for the digit 0. Images uint8 [N, 3, 32, 32], classes "0" to "9".
/// DataError that names file, variable and row where it is not that.
Dataset read_svhn(const std::filesystem::path& mat_file);

/// The same from a stream.
Dataset read_svhn(ByteStream& bytes);

/// LSUN (Yu et al., 2015), without labels: from the published LMDB, which holds WebP images by key, as a folder with
/// data.mdb, a folder with one NAME_lmdb or NAME_lmdb.zip in it, or the .zip itself; or from a folder or archive of
/// image files. Its images have many sizes: options.resize is needed. In the order of the keys or paths.
/// DataError as of read_flat_images and visit_lmdb, and where a folder holds several databases.
Dataset read_lsun(const std::filesystem::path& root, const ImageFolderOptions& options);

/// How images of many sizes are resized as they are read: to the first size of the name, else as in `otherwise`.
std::optional<ResizeOptions> resize_on_reading(const SetName& name, const std::optional<ResizeOptions>& otherwise);

}  // namespace priornet
