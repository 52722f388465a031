#pragma once

#include <testing/temporary_folder.h>

#include <cstdint>
#include <fstream>
#include <string>

// Data sets of the catalogue with made-up contents, as large as the real ones since the catalogue counts them.

namespace priornet {

/// semeion/semeion.data: row n is the digit n % 10, and all white except for pixel n % 256.
inline void make_up_semeion(const std::filesystem::path& root, int rows = 1593) {
  std::filesystem::create_directories(root / "semeion");
  std::ofstream file(root / "semeion" / "semeion.data");
  for (int n = 0; n < rows; ++n) {
    std::string line;
    for (int pixel = 0; pixel < 256; ++pixel) line += pixel == n % 256 ? "0 " : "1 ";
    for (int digit = 0; digit < 10; ++digit) line += digit == n % 10 ? "1 " : "0 ";
    file << line << "\n";
  }
}

/// The four files of mnist/: black images, image n of a file with label n % 10.
inline void make_up_mnist(const std::filesystem::path& root) {
  const auto folder = root / "mnist";
  std::filesystem::create_directories(folder);
  const auto big_endian = [](uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
    return bytes;
  };
  for (const auto& [prefix, count] : {std::pair{"train", 60'000u}, std::pair{"t10k", 10'000u}}) {
    const auto images = folder / (std::string(prefix) + "-images-idx3-ubyte");
    std::ofstream(images, std::ios::binary) << big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28);
    std::filesystem::resize_file(images, 16 + uintmax_t{count} * 784);  // zeros that take no room
    std::string labels = big_endian(0x801) + big_endian(count);
    for (uint32_t n = 0; n < count; ++n) labels.push_back(static_cast<char>(n % 10));
    std::ofstream(folder / (std::string(prefix) + "-labels-idx1-ubyte"), std::ios::binary) << labels;
  }
}

}  // namespace priornet
