#pragma once

#include <torch/types.h>

#include <map>
#include <string>
#include <variant>
#include <vector>

// A computation on tensors, written down to be saved for another runtime (onnx_file.h, torchscript_file.h). Operators
// have ONNX's names and meaning (operator set 13); the ones in use are listed below.

namespace priornet::graph {

class Graph;

/// A tensor of the computation. Its arithmetic adds operators to the graph; shapes broadcast.
struct Value {
  Graph* owner = nullptr;
  size_t index = 0;

  torch::Dtype type() const;
};

using Attribute = std::variant<int64_t, double, std::vector<int64_t>>;
using Attributes = std::map<std::string, Attribute>;

class Graph {
 public:
  struct Entry {
    enum class Kind { kInput, kNumber, kTensor, kResult };
    Kind kind;
    torch::Dtype type;
    std::string name;       ///< of an input or a tensor
    double number = 0.0;    ///< of a kNumber
    torch::Tensor tensor;   ///< of a kTensor: contiguous, on the CPU
    std::string operation;  ///< of a kResult
    std::vector<size_t> operands;
    Attributes attributes;
  };
  struct Output {
    std::string name;
    size_t value;
    std::vector<int64_t> shape;  ///< -1: the number of inputs
  };

  Graph() = default;
  Graph(const Graph&) = delete;  // values point to their graph
  Graph& operator=(const Graph&) = delete;

  /// The one input, [-1, shape...].
  Value input(std::string name, torch::Dtype type, std::vector<int64_t> shape);
  Value number(double value, torch::Dtype type);
  /// If a tensor of that name exists, returns it.
  Value tensor(const std::string& name, const torch::Tensor& tensor);
  /// The result has the type of the first operand, or that given.
  Value apply(std::string operation, const std::vector<Value>& operands, Attributes attributes = {});
  Value apply_to_type(std::string operation, torch::Dtype type, const std::vector<Value>& operands,
                      Attributes attributes = {});
  void output(std::string name, const Value& value, std::vector<int64_t> shape);

  /// In an order in which they can be computed.
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<int64_t>& input_shape() const { return input_shape_; }
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  std::vector<Entry> entries_;
  std::vector<int64_t> input_shape_;
  std::vector<Output> outputs_;
  std::map<std::pair<double, torch::Dtype>, size_t> numbers_;
  std::map<std::string, size_t> tensors_;
};

// The operators that graphs are made of, as functions of values.

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator+(const Value& a, double b);
Value operator-(const Value& a, double b);
Value operator*(const Value& a, double b);
Value operator/(const Value& a, double b);
Value operator+(double a, const Value& b);
Value operator-(double a, const Value& b);
Value operator*(double a, const Value& b);
Value operator/(double a, const Value& b);
Value operator-(const Value& a);

/// Truth values: bool tensors.
Value operator<(const Value& a, const Value& b);
Value operator<(const Value& a, double b);
Value operator<=(const Value& a, const Value& b);
Value operator>(const Value& a, const Value& b);
Value operator>(const Value& a, double b);
Value equal(const Value& a, const Value& b);
Value either(const Value& a, const Value& b);

/// `truth` ? a : b. At least one of a and b is a tensor; a number takes its shape.
Value where(const Value& truth, const Value& a, const Value& b);
Value where(const Value& truth, const Value& a, double b);
Value where(const Value& truth, double a, const Value& b);

Value abs(const Value& a);
Value exp(const Value& a);
Value log(const Value& a);
Value square_root(const Value& a);
/// [N, D] times [D, E].
Value matrix_product(const Value& a, const Value& b);
/// ln(1 + a) for a >= 0, exact also where a is tiny.
Value log1p(const Value& a);
Value clamp(const Value& a, double smallest, double largest);
Value at_least(const Value& a, double smallest);
Value cast(const Value& a, torch::Dtype type);
/// Coefficients from the constant on.
Value polynomial(const Value& a, const std::vector<double>& coefficients);

/// Over one axis, which is kept with size 1 if asked for.
Value sum(const Value& a, int64_t axis, bool keep = false);
Value mean(const Value& a, int64_t axis, bool keep = false);
Value largest(const Value& a, int64_t axis, bool keep = false);
/// The first of the largest, int64.
Value largest_index(const Value& a, int64_t axis, bool keep = false);

Value unsqueeze(const Value& a, int64_t axis);
Value concatenate(const std::vector<Value>& values, int64_t axis);

}  // namespace priornet::graph
