#pragma once

#include <priornet/learning/load_set.h>

namespace priornet {

/// What the name's path leads to, with its modifiers applied:
/// - a folder or an archive of images, a sub-folder a class or all in one; prepared copies are kept of these;
/// - an LMDB of images, as in LSUN (a folder with data.mdb);
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

/// How images of many sizes are resized as they are read: to the first size of the name, else as in `otherwise`.
std::optional<ResizeOptions> resize_on_reading(const SetName& name, const std::optional<ResizeOptions>& otherwise);

}  // namespace priornet
