#pragma once

#include <priornet/data/files/byte_stream.h>
#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

// MATLAB's MAT-file of level 5, little-endian: full real matrices of numbers, plain or compressed.

namespace priornet {

/// A matrix whose values are still to be read. They lie in MATLAB's order: the first dimension runs fastest.
class MatMatrix {
 public:
  MatMatrix(std::string name, std::vector<int64_t> shape, ByteStream& bytes)
      : name_(std::move(name)), shape_(std::move(shape)), bytes_(bytes) {}

  const std::string& name() const { return name_; }
  const std::vector<int64_t>& shape() const { return shape_; }

  /// Flat, in the type they are stored in, which may be narrower than the matrix's own: uint8, int8, int16, int32,
  /// float32 or float64. Straight into the tensor's memory.
  torch::Tensor read_values();

  bool was_read() const { return was_read_; }

 private:
  std::string name_;
  std::vector<int64_t> shape_;
  ByteStream& bytes_;
  bool was_read_ = false;
};

using MatVisitor = std::function<void(MatMatrix& matrix)>;

/// Visits the matrices of numbers in the order of the file; what the visitor does not read is passed over, and so are
/// variables of other kinds: text, cells, structures, sparse or complex.
/// DataError that names the stream, the variable and the byte where the file is not as its headers say.
void visit_mat5(ByteStream& bytes, const MatVisitor& visitor);

}  // namespace priornet
