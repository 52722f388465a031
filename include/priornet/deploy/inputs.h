#pragma once

#include <priornet/deploy/predictor.h>

#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Inputs for a predictor one by one, from images, folders, CSV and .npy, none of them held in memory as a whole.

namespace priornet {

/// An input as the model takes it, or what is wrong with it.
struct Input {
  std::string name;                     ///< the file it comes from
  int64_t row = -1;                     ///< of it, from 0; -1 for an image file
  torch::Tensor value;                  ///< uint8 [C, H, W] or float32 [D]; undefined where there is an error
  std::string error;                    ///< without the name in front
  std::vector<std::string> notes = {};  ///< what in a row of a table was not as in training, in words
};

class InputSource {
 public:
  virtual ~InputSource() = default;

  /// The next input, or nothing at the end. An input that cannot be read is one with an error; where nothing can follow
  /// it, as in a damaged .npy, it is the last.
  virtual std::optional<Input> next() = 0;

  /// How much of it was handed over, from 0 to 1; 0 where nobody knows, as of a pipe.
  virtual double share() const { return 0; }
};

/// The inputs of a path: an image, a folder with images at any depth (in the order of their paths; hidden ones are
/// passed over), a .csv or .tsv (.gz too), an .npy.
/// A table whose first line holds names is read by those of the model where it has any, in any order and beside others;
/// else its columns are the model's in order. A model of a table takes text, dates and gaps as in its encoding.
/// An .npy holds images uint8 [N, H, W] or [N, C, H, W], or numbers [N, D].
std::unique_ptr<InputSource> open_inputs(const std::string& path, const Predictor& predictor);

/// The same of a stream, known by its first bytes: an image, .npy, or else CSV where the model takes rows. The stream
/// outlives it.
std::unique_ptr<InputSource> stream_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

/// Inputs out of the lines of a CSV. DataError, opened by `name`: no line at all, or a first line of names among which
/// the model does not find its features. The stream outlives it.
std::unique_ptr<InputSource> csv_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

/// Inputs out of an .npy, one at a time. DataError, opened by `name`, for a header that is none, or describes what the
/// model does not take.
std::unique_ptr<InputSource> npy_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

}  // namespace priornet
