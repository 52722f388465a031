#pragma once

#include <priornet/deploy/export/graph.h>

// The operators that graphs are made of, as functions of values.

namespace priornet::graph {

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

/// Truths: bool tensors.
Value operator<(const Value& a, const Value& b);
Value operator<(const Value& a, double b);
Value operator<=(const Value& a, const Value& b);
Value operator>(const Value& a, const Value& b);
Value operator>(const Value& a, double b);
Value equal(const Value& a, const Value& b);
Value either(const Value& a, const Value& b);

/// `truth` ? a : b. One of a and b is no number of its own: numbers take its shape.
Value where(const Value& truth, const Value& a, const Value& b);
Value where(const Value& truth, const Value& a, double b);
Value where(const Value& truth, double a, const Value& b);

Value abs(const Value& a);
Value exp(const Value& a);
Value log(const Value& a);
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
