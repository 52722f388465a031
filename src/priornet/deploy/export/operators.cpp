#include <priornet/deploy/export/operators.h>

#include <limits>

namespace priornet::graph {
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

Value log1p(const Value& a) {
  // What rounding took from 1 + a, its logarithm lost in proportion.
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
