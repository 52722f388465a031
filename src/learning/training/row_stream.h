#pragma once

#include <torch/types.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace priornet {

/// Whether a set of this many bytes may lie on the device that works on it, beside what already lies there. On a GPU
/// sets may take half of its memory, or of PRIORNET_DEVICE_MEMORY ("4GB"), which then also limits LibTorch. On a CPU
/// they may take room_for_values(): larger ones lie in files, whose pages have to be fetched first. ArgumentError if
/// PRIORNET_DEVICE_MEMORY is not a size.
bool fits_on(const torch::Device& device, int64_t bytes);

/// Copies rows of a set that stays on the host to the device before they are needed: threads gather the rows of the
/// next steps, in memory that a GPU copies from by itself, while it works on the step before.
class RowStream {
 public:
  struct Options {
    torch::Tensor set;  ///< [N, ...] on the CPU, each row in one piece
    int64_t count;      ///< rows per step
    torch::Device device = torch::kCPU;
    /// Which rows a step has: int64 on the CPU, at most `count`, in [0, N). Called by one thread at a time.
    std::function<torch::Tensor(int64_t step)> rows_of;
    int64_t steps = std::numeric_limits<int64_t>::max();  ///< steps from here on are never asked for
  };
  explicit RowStream(Options options);
  ~RowStream();
  RowStream(const RowStream&) = delete;
  RowStream& operator=(const RowStream&) = delete;

  /// [slots, count, ...] on the device, always in the same memory: step s has slot s % slots.
  const torch::Tensor& ring() const { return ring_; }

  /// Makes the ring hold the rows of this step, for what the current CUDA stream gets from now on, until the next call.
  /// Steps may be asked for in any order; one after the other is fast.
  void prepare(int64_t step);

  /// prepare(), then the place of the rows in the ring.
  torch::Tensor rows(int64_t step);

 private:
  struct Slot {
    int64_t step = -1;  ///< whose rows it holds; -1 for none
    int64_t count = 0;  ///< of rows
  };
  class Copies;  ///< from the host's slots into the ring of a GPU

  void work();
  void end_threads();
  void gather(const torch::Tensor& rows, int64_t slot);
  /// Makes the threads start again with this step.
  void jump_to(int64_t step, std::unique_lock<std::mutex>& lock);

  Options options_;
  int64_t row_bytes_;
  torch::Tensor host_;  ///< [slots, count, ...]
  torch::Tensor ring_;  ///< on a CPU the same memory
  std::unique_ptr<Copies> copies_;

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Slot> slots_;  ///< of host_
  int64_t first_ = -1;       ///< no earlier step is needed any more
  int64_t next_ = -1;        ///< the step that the next free thread gathers; -1: no step was asked for yet
  int64_t busy_ = 0;         ///< threads at work
  bool waiting_ = false;     ///< signals that all threads are done
  bool stopping_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace priornet
