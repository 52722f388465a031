#include "deploy/export/graph.h"

#include <algorithm>
#include <limits>

namespace priornet::graph {

torch::Dtype Value::type() const { return owner->entries()[index].type; }

Value Graph::input(std::string name, torch::Dtype type, std::vector<int64_t> shape) {
  input_shape_ = std::move(shape);
  entries_.push_back({Entry::Kind::kInput, type, std::move(name), 0.0, {}, {}, {}, {}});
  return {this, entries_.size() - 1};
}

Value Graph::number(double value, torch::Dtype type) {
  const auto [known, is_new] = numbers_.try_emplace({value, type}, entries_.size());
  if (is_new) entries_.push_back({Entry::Kind::kNumber, type, {}, value, {}, {}, {}, {}});
  return {this, known->second};
}

Value Graph::tensor(const std::string& name, const torch::Tensor& tensor) {
  const auto [known, is_new] = tensors_.try_emplace(name, entries_.size());
  if (is_new) {
    const auto values = tensor.detach().to(torch::kCPU).contiguous();
    entries_.push_back({Entry::Kind::kTensor, values.scalar_type(), name, 0.0, values, {}, {}, {}});
  }
  return {this, known->second};
}

Value Graph::apply(std::string operation, const std::vector<Value>& operands, Attributes attributes) {
  return apply_to_type(std::move(operation), operands.at(0).type(), operands, std::move(attributes));
}

Value Graph::apply_to_type(std::string operation, torch::Dtype type, const std::vector<Value>& operands,
                           Attributes attributes) {
  Entry entry{Entry::Kind::kResult, type, {}, 0.0, {}, std::move(operation), {}, std::move(attributes)};
  for (const auto& operand : operands) entry.operands.push_back(operand.index);
  entries_.push_back(std::move(entry));
  return {this, entries_.size() - 1};
}

void Graph::output(std::string name, const Value& value, std::vector<int64_t> shape) {
  const bool taken =
      std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& other) { return other.value == value.index; });
  // An output is a result, and has one name.
  const bool copied = taken || entries_[value.index].kind != Entry::Kind::kResult;
  const auto result = copied ? apply("Identity", {value}) : value;
  outputs_.push_back({std::move(name), result.index, std::move(shape)});
}

namespace {

Value binary(const char* operation, const Value& a, const Value& b) { return a.owner->apply(operation, {a, b}); }

Value truth(const char* operation, const Value& a, const Value& b) {
  return a.owner->apply_to_type(operation, torch::kBool, {a, b});
}

Value like(const Value& a, double number) { return a.owner->number(number, a.type()); }

Value reduced(const char* operation, const Value& a, int64_t axis, bool keep) {
  return a.owner->apply(operation, {a},
                        {{"axes", std::vector<int64_t>{axis}}, {"keepdims", static_cast<int64_t>(keep)}});
}

}  // namespace

Value operator+(const Value& a, const Value& b) { return binary("Add", a, b); }
Value operator-(const Value& a, const Value& b) { return binary("Sub", a, b); }
Value operator*(const Value& a, const Value& b) { return binary("Mul", a, b); }
Value operator/(const Value& a, const Value& b) { return binary("Div", a, b); }
Value operator+(const Value& a, double b) { return a + like(a, b); }
Value operator-(const Value& a, double b) { return a - like(a, b); }
Value operator*(const Value& a, double b) { return a * like(a, b); }
Value operator/(const Value& a, double b) { return a / like(a, b); }
Value operator+(double a, const Value& b) { return like(b, a) + b; }
Value operator-(double a, const Value& b) { return like(b, a) - b; }
Value operator*(double a, const Value& b) { return like(b, a) * b; }
Value operator/(double a, const Value& b) { return like(b, a) / b; }
Value operator-(const Value& a) { return a.owner->apply("Neg", {a}); }

Value operator<(const Value& a, const Value& b) { return truth("Less", a, b); }
Value operator<(const Value& a, double b) { return a < like(a, b); }
Value operator<=(const Value& a, const Value& b) { return truth("LessOrEqual", a, b); }
Value operator>(const Value& a, const Value& b) { return truth("Greater", a, b); }
Value operator>(const Value& a, double b) { return a > like(a, b); }
Value equal(const Value& a, const Value& b) { return truth("Equal", a, b); }
Value either(const Value& a, const Value& b) { return truth("Or", a, b); }

Value where(const Value& truth, const Value& a, const Value& b) {
  return truth.owner->apply_to_type("Where", a.type(), {truth, a, b});
}
Value where(const Value& truth, const Value& a, double b) { return where(truth, a, like(a, b)); }
Value where(const Value& truth, double a, const Value& b) { return where(truth, like(b, a), b); }

Value abs(const Value& a) { return a.owner->apply("Abs", {a}); }
Value exp(const Value& a) { return a.owner->apply("Exp", {a}); }
Value log(const Value& a) { return a.owner->apply("Log", {a}); }
Value square_root(const Value& a) { return a.owner->apply("Sqrt", {a}); }
Value matrix_product(const Value& a, const Value& b) { return binary("MatMul", a, b); }

Value log1p(const Value& a) {
  // Corrects for what rounding took from 1 + a.
  const auto whole = 1.0 + a;
  const auto seen = whole - 1.0;
  return where(seen > 0.0, log(whole) * (a / where(seen > 0.0, seen, 1.0)), a);
}

Value clamp(const Value& a, double smallest, double largest) {
  return a.owner->apply("Clip", {a, like(a, smallest), like(a, largest)});
}

Value at_least(const Value& a, double smallest) { return clamp(a, smallest, std::numeric_limits<double>::max()); }

Value cast(const Value& a, torch::Dtype type) { return a.owner->apply_to_type("Cast", type, {a}); }

Value polynomial(const Value& a, const std::vector<double>& coefficients) {
  auto value = like(a, coefficients.back());
  for (auto i = coefficients.size() - 1; i-- > 0;) value = value * a + coefficients[i];
  return value;
}

Value sum(const Value& a, int64_t axis, bool keep) { return reduced("ReduceSum", a, axis, keep); }
Value mean(const Value& a, int64_t axis, bool keep) { return reduced("ReduceMean", a, axis, keep); }
Value largest(const Value& a, int64_t axis, bool keep) { return reduced("ReduceMax", a, axis, keep); }

Value largest_index(const Value& a, int64_t axis, bool keep) {
  return a.owner->apply_to_type("ArgMax", torch::kInt64, {a},
                                {{"axis", axis}, {"keepdims", static_cast<int64_t>(keep)}});
}

Value unsqueeze(const Value& a, int64_t axis) {
  return a.owner->apply("Unsqueeze", {a}, {{"axes", std::vector<int64_t>{axis}}});
}

Value concatenate(const std::vector<Value>& values, int64_t axis) {
  return values.at(0).owner->apply("Concat", values, {{"axis", axis}});
}

}  // namespace priornet::graph
