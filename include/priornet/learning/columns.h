#pragma once

#include <priornet/uncertainty/named_tensor.h>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace priornet {

enum class FileFormat { kCsv, kJson, kNpy, kNpz };

/// The format that the extension of a path names, in either case. DataError, which lists the supported extensions, for
/// any other.
FileFormat format_of(const std::filesystem::path& path, std::initializer_list<FileFormat> supported);

// Columns of numbers with names: the scores of a set of inputs, one column per measure, one row per input.

/// The columns of a .csv, the one-dimensional arrays of an .npz, or the array of an .npy; [N] each, on the CPU. A
/// single column without a name has the empty name; several without names are called "0", "1", ... With `only`, reads
/// just that column, whatever the others hold; DataError, which lists the columns, if it is not there. DataError also
/// for two columns of one name and for an array of another rank. With `texts`, named columns of a .csv whose first
/// value is not a number are left out, and `texts` gets their names.
std::vector<NamedTensor> read_columns(const std::filesystem::path& path, const std::string& only = {},
                                      std::vector<std::string>* texts = nullptr);

/// Writes columns of the same length (float32, float64, int32, int64) by extension: .csv, .json (an object with one
/// array per column; NaN and infinities, which JSON lacks, are null) or .npz. Numbers in text are the shortest that
/// read back as the same value. The file appears whole or not at all.
void write_columns(const std::filesystem::path& path, const std::vector<NamedTensor>& columns);

/// Takes text in pieces.
using TextSink = std::function<void(std::string_view)>;

void write_columns_csv(const TextSink& sink, const std::vector<NamedTensor>& columns);
void write_columns_json(const TextSink& sink, const std::vector<NamedTensor>& columns);

}  // namespace priornet
