#pragma once

#include <priornet/deploy/predictor.h>

#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Inputs for a predictor, one by one, from images, folders, CSV and .npy. No file is held in memory as a whole. The
// predictor must outlive a source.

namespace priornet {

/// An input as the model takes it, or what is wrong with it.
struct Input {
  std::string name;                     ///< the file it comes from
  int64_t row = -1;                     ///< row in that file, counted from 0; -1 for an image file
  torch::Tensor value;                  ///< uint8 [C, H, W] or float32 [D]; undefined if there is an error
  std::string error;                    ///< without the name in front
  std::vector<std::string> notes = {};  ///< what in a row of a table differs from training, in words
  size_t table_notes = 0;               ///< how many of them, the first ones, hold for every row of the table
};

class InputSource {
 public:
  virtual ~InputSource() = default;

  /// The next input, or nothing at the end. An input that cannot be read has an error. If nothing can follow it, as in
  /// a damaged .npy, it is the last input.
  virtual std::optional<Input> next() = 0;

  /// The share that was read so far, from 0 to 1; 0 if it is unknown, as for a pipe.
  virtual double share() const { return 0; }
};

/// The inputs of a path: an image, a folder with images at any depth (in the order of their paths; hidden ones are
/// skipped), a .csv or .tsv (.gz too), an .npy.
/// If the first line of a table holds names and the model has names, columns are found by name, in any order; other
/// columns are ignored. Otherwise the columns must stand in the model's order. A table model takes text, dates and gaps
/// by its encoding.
/// An .npy holds images uint8 [N, H, W] or [N, C, H, W], or numbers [N, D].
std::unique_ptr<InputSource> open_inputs(const std::string& path, const Predictor& predictor);

/// The same for a stream. Its first bytes say what it is: an image, .npy, or else CSV if the model takes rows. The
/// stream must outlive the source.
std::unique_ptr<InputSource> stream_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

/// Inputs from the lines of a CSV. Throws DataError, which begins with `name`, if there is no line, or if the first
/// line has names but not those of the model's features. The stream must outlive the source.
std::unique_ptr<InputSource> csv_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

/// Inputs from an .npy, one at a time. Throws DataError, which begins with `name`, if the header is invalid or
/// describes inputs that the model does not take.
std::unique_ptr<InputSource> npy_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

}  // namespace priornet
