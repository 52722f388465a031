#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "learning/data/byte_stream.h"

namespace priornet {

/// Uninitialised memory, on the CPU, for values that the next bytes of a stream are to fill.
/// DataError that opens with the stream's name, before anything is allocated, where the shape takes more bytes than can
/// follow or than fit in memory: "NAME: [60000, 28, 28] takes 47040000 bytes from byte 16, of which 100 can follow".
torch::Tensor memory_for(const ByteStream& bytes, const std::vector<int64_t>& shape, torch::ScalarType dtype);

/// The same where the shape was held against something else: "NAME: [60000, 28, 28] does not fit in memory".
torch::Tensor memory_for(const std::string& name, const std::vector<int64_t>& shape, torch::ScalarType dtype);

/// Has all of the memory's pages made now, by all threads, for values that are sure to come: to fill fresh memory costs
/// mostly that.
void touch(const torch::Tensor& memory);

}  // namespace priornet
