#pragma once

#include <priornet/learning/networks.h>

namespace priornet {

/// How many weights a network of these options has at least, from the products of neighbouring layers alone: to be
/// asked before a description that nobody vouches for is turned into memory. Infinite for sizes below 1.
double least_weights(const ModelOptions& options);

}  // namespace priornet
