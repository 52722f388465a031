#pragma once

#include <torch/types.h>

#include <string_view>

// A small vocabulary of argument checks. Each throws ArgumentError with a message of the form
// "function: name should be ..., found ...".

namespace priornet {

/// float32 or float64.
void check_floating(std::string_view function, std::string_view name, const torch::Tensor& tensor);

void check_rank(std::string_view function, std::string_view name, const torch::Tensor& tensor, int64_t rank);

/// Logits [N, K] with K >= 2 classes, float32 or float64.
void check_logits(std::string_view function, std::string_view name, const torch::Tensor& logits);

/// Logits of an ensemble [M, N, K] with M >= 1 members and K >= 2 classes, float32 or float64.
void check_ensemble(std::string_view function, std::string_view name, const torch::Tensor& logits);

void check_same_shape(std::string_view function, std::string_view name, const torch::Tensor& tensor,
                      std::string_view other_name, const torch::Tensor& other);

void check_same_dtype(std::string_view function, std::string_view name, const torch::Tensor& tensor,
                      std::string_view other_name, const torch::Tensor& other);

/// On the same device: kernels read memory where the first of their tensors lies.
void check_same_device(std::string_view function, std::string_view name, const torch::Tensor& tensor,
                       std::string_view other_name, const torch::Tensor& other);

/// int64 [N] with every label in [0, num_classes).
void check_labels(std::string_view function, std::string_view name, const torch::Tensor& labels, int64_t rows,
                  int64_t num_classes);

/// Throws unless condition holds: "function: name should be `wanted`, found `found`".
void check_range(std::string_view function, std::string_view name, bool condition, std::string_view wanted,
                 double found);

/// Whether a tensor is on a GPU. Throws unless it is there in a build that has CUDA kernels, or on the CPU.
bool is_on_cuda(std::string_view function, const torch::Tensor& tensor);

}  // namespace priornet
