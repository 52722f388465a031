#pragma once

#include <priornet/learning/dataset.h>
#include <priornet/learning/load_set.h>

#include <filesystem>

#include "learning/data/byte_stream.h"
#include "learning/sets/image_folder.h"

// Sets that are named by a path, and the files they are read from.

namespace priornet {

/// The set at the name's path, with its modifiers applied:
/// - a folder or an archive of images, one sub-folder per class or all in one; prepared copies are kept of these;
/// - an LMDB of images, as LSUN has them (a folder with data.mdb);
/// - .csv, .tsv (also .gz): a table; .npy, .npz: numbers or images;
/// - an IDX file of images (its labels beside it, with "labels" and "idx1" in their name);
/// - .mat: images as in SVHN.
Dataset load_path_set(const SetName& name, const LoadOptions& options);

/// load_set() for a network with inputs of that shape, [C, H, W] or [D]. Images of several sizes, for which the name
/// gives no size, become H x W; LoadOptions::notes is told so.
Dataset load_set_for_shape(const std::string& name, torch::IntArrayRef shape, const LoadOptions& options);

/// Whether a path is that of a text table, by its name: .csv or .tsv, with or without .gz.
bool is_table_path(const std::string& path);

/// Whether the data root has a folder of images of that name, or a prepared copy of one: a set of the user's own, which
/// is not in the catalogue.
bool is_own_set(const std::string& name, const LoadOptions& options);

/// The images of that folder, with the name's modifiers applied. The set must exist.
Dataset load_own_set(const SetName& name, const LoadOptions& options);

/// The rows of another set that a part of the catalogue consists of (SetPart::chosen_from). AbsentSet if that set is
/// missing; DataError if it does not have the rows that the files at the location name.
Dataset read_chosen_rows(const SetPart& part, const std::filesystem::path& location, const LoadOptions& options);

/// The set with the name's modifiers applied in their order; the first `size` is skipped if the images were already
/// resized while they were read. DataError that names the modifier that the set cannot take.
Dataset modified(Dataset set, const SetName& name, bool is_resized, const LoadOptions& options);

/// A set in NumPy's formats: an .npz with an array `inputs` or `images`, and `labels` if there are any, or the inputs
/// alone as an .npy. Inputs are images, uint8 [N, C, H, W] or [N, H, W], or finite numbers, float32 or float64 [N, D]
/// (kept as float32); labels are integers [N], 0 to 65,535, and each class is named by its number. DataError that names
/// file, array and row for anything else.
Dataset read_array_set(const std::filesystem::path& path);

/// SVHN's cropped digits as published, train_32x32.mat and so on: a MATLAB 5 file of X, uint8 [32, 32, 3, N], and y,
/// [N, 1], where 10 stands for the digit 0. Images uint8 [N, 3, 32, 32], classes "0" to "9". DataError that names file,
/// variable and row for anything else.
Dataset read_svhn(const std::filesystem::path& mat_file);

/// The same from a stream.
Dataset read_svhn(ByteStream& bytes);

/// LSUN (Yu et al., 2015), without labels: from the published LMDB, which holds WebP images by key, as a folder with
/// data.mdb, a folder with one NAME_lmdb or NAME_lmdb.zip in it, or the .zip itself; or from a folder or archive of
/// image files. Its images have many sizes: options.resize is needed. In the order of the keys or paths.
/// DataError as for read_flat_images and visit_lmdb, and if a folder holds several databases.
Dataset read_lsun(const std::filesystem::path& root, const ImageFolderOptions& options);

/// How images of many sizes are resized as they are read: to the first size of the name, else as in `otherwise`.
std::optional<ResizeOptions> resize_on_reading(const SetName& name, const std::optional<ResizeOptions>& otherwise);

}  // namespace priornet
