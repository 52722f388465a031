#pragma once

#include <priornet/data/dataset.h>
#include <priornet/data/formats/image_collection.h>

#include <filesystem>

// Images that a user has in a folder or an archive. What is no image by its extension is passed over; an image that
// does not decode, images of several sizes without a resize, and a root without images are DataErrors.

namespace priornet {

/// One sub-folder a class, with images at any depth: inputs uint8 [N, C, H, W], class by class in the order of their
/// names, and in a class in the order of the paths. A folder that all of an archive lies in is passed through.
/// DataError also for a class folder without images, for an image that lies in no class folder, and where the folders
/// are parts of a set (train, test, ...) with the classes below.
Dataset read_image_folder(const std::filesystem::path& root, const ImageFolderOptions& options = {});

/// Images at any depth, in the order of their paths, without labels.
Dataset read_flat_images(const std::filesystem::path& root, const ImageFolderOptions& options = {});

/// The labels of rows that name their class, where all of a class stand together: fills labels and class_names.
void label_in_order(Dataset& set, const std::vector<std::string>& class_of_row);

}  // namespace priornet
