#pragma once

#include <priornet/deploy/input_source.h>

namespace priornet {

/// Inputs out of the lines of a CSV. DataError, opened by `name`: no line at all, or a first line of names among which
/// the model does not find its features. The stream outlives it.
std::unique_ptr<InputSource> csv_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

/// Inputs out of an .npy, one at a time. DataError, opened by `name`, for a header that is none, or describes what the
/// model does not take.
std::unique_ptr<InputSource> npy_inputs(std::istream& bytes, const std::string& name, const Predictor& predictor);

}  // namespace priornet
