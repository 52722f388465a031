#include <priornet/deploy/export/graph.h>

#include <algorithm>

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

}  // namespace priornet::graph
