#pragma once

#include <priornet/learning/network.h>
#include <priornet/learning/networks.h>
#include <priornet/uncertainty/errors.h>

#include <algorithm>

namespace priornet {

/// A network of the table with few channels and units, if it has options for them; its input and classes are not set.
inline ModelOptions small_network(const std::string& name) {
  const auto& table = model_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const auto& info) { return info.name == name; });
  const auto has = [&](const char* option) {
    return std::find(row->options.begin(), row->options.end(), option) != row->options.end();
  };
  ModelOptions options;
  options.name = name;
  if (has("blocks")) options.blocks = {{4}, {8}};
  if (has("channels")) options.channels = {4, 8};
  if (has("dense")) options.dense = {8};
  if (has("keep_dense")) options.keep_dense = 0.9;
  return options;
}

/// Whether the network takes small images; otherwise it takes rows of numbers.
inline bool takes_images(ModelOptions options) {
  options.input = {1, 8, 8};
  options.classes = 3;
  try {
    plan_model(options);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace priornet
