#pragma once

#include <string>

// What things are called in a model file, for who writes and who reads it.

namespace priornet::model_layout {

constexpr int kVersion = 1;
constexpr const char* kVersionKey = "priornet_model";
constexpr const char* kModelKey = "model";

constexpr const char* kMean = "preprocessing.mean";
constexpr const char* kDeviation = "preprocessing.deviation";
constexpr const char* kCombined = "combined";

inline std::string member_prefix(size_t member) { return "member-" + std::to_string(member + 1) + "."; }
inline std::string reference_of(size_t watch) { return "watch-" + std::to_string(watch + 1) + ".reference"; }

}  // namespace priornet::model_layout
