#include "learning/training/row_stream.h"

#include <priornet/uncertainty/errors.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "learning/data/byte_stream.h"
#include "uncertainty/core/checks.h"
#if defined(PRIORNET_CUDA)
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <array>
#include <map>
#endif

namespace priornet {
namespace {

#if defined(PRIORNET_CUDA)

c10::DeviceIndex index_of(const torch::Device& device) {
  return static_cast<c10::DeviceIndex>(device.has_index() ? device.index() : c10::cuda::current_device());
}

template <class Numbers>  // its namespace differs between versions of LibTorch; the first is the sum of all kinds
int64_t bytes_in(const Numbers& numbers) {
  return numbers[0].current;
}

// The GPU memory that LibTorch may take. Ask before anything large lies there.
int64_t memory_of(c10::DeviceIndex index) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, int64_t> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(index); found != known.end()) return found->second;
  const c10::cuda::CUDAGuard guard(index);
  size_t free = 0, total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index);
  auto bytes = static_cast<int64_t>(free) + bytes_in(stats.reserved_bytes);
  if (const auto given = memory_size("PRIORNET_DEVICE_MEMORY")) {
    bytes = std::min(bytes, *given);
    c10::cuda::CUDACachingAllocator::setMemoryFraction(
        std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total)), index);
  }
  return known[index] = bytes;
}

#endif

// Tells the system how some pages will be used.
void advise(const void* bytes, size_t size, int how) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes) & ~(page - 1);
  ::madvise(reinterpret_cast<void*>(begin), reinterpret_cast<uintptr_t>(bytes) + size - begin, how);
}

bool is_large(const torch::Tensor& set) { return set.nbytes() > size_t{1} << 30; }

constexpr int64_t kHostSlots = 4;
constexpr int64_t kDeviceSlots = 2;

}  // namespace

bool fits_on(const torch::Device& device, int64_t bytes) {
#if defined(PRIORNET_CUDA)
  if (device.is_cuda()) {
    const auto index = index_of(device);
    const auto room = memory_of(index) / 2;
    return bytes <= room - bytes_in(c10::cuda::CUDACachingAllocator::getDeviceStats(index).allocated_bytes);
  }
#endif
  static_cast<void>(device);
  return bytes <= room_for_values();
}

// A slot of the host is copied into the ring's slot while the GPU works on the step before, and is free after that
// copy. Only the thread that prepares steps calls CUDA: while a graph is recorded no other thread may.
#if defined(PRIORNET_CUDA)
namespace {

// Waiting for an event that was never recorded returns at once.
class Event {
 public:
  Event() = default;
  ~Event() {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) {
    if (event_ == nullptr) C10_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    C10_CUDA_CHECK(cudaEventRecord(event_, stream));
  }
  void hold_back(cudaStream_t stream) const {
    if (event_ != nullptr) C10_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
  }
  void wait() const {
    if (event_ != nullptr) C10_CUDA_CHECK(cudaEventSynchronize(event_));
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

class RowStream::Copies {
 public:
  explicit Copies(const torch::Device& device) : stream_(c10::cuda::getStreamFromPool(false, index_of(device))) {}

  ~Copies() { static_cast<void>(cudaStreamSynchronize(stream_.stream())); }

  void copy(const torch::Tensor& from, const torch::Tensor& to, size_t bytes, int64_t step) {
    const c10::cuda::CUDAGuard guard(stream_.device_index());
    const auto work = c10::cuda::getCurrentCUDAStream(stream_.device_index()).stream();
    // Everything that reads the rows of the step before is already in the stream. Before the first step, the stream may
    // still use the ring's memory for what lay there before.
    if (last_ >= 0)
      read_[static_cast<size_t>(last_ % kDeviceSlots)].record(work);
    else
      for (auto& slot : read_) slot.record(work);
    last_ = step;
    read_[static_cast<size_t>(step % kDeviceSlots)].hold_back(stream_.stream());
    C10_CUDA_CHECK(cudaMemcpyAsync(to.data_ptr(), from.data_ptr(), bytes, cudaMemcpyHostToDevice, stream_.stream()));
    auto& copied = copied_[static_cast<size_t>(step % kHostSlots)];
    copied.record(stream_.stream());
    copied.hold_back(work);
  }

  void wait_for(int64_t host_slot) { copied_[static_cast<size_t>(host_slot)].wait(); }

 private:
  c10::cuda::CUDAStream stream_;
  int64_t last_ = -1;
  std::array<Event, kDeviceSlots> read_;
  std::array<Event, kHostSlots> copied_;
};
#else
class RowStream::Copies {
 public:
  explicit Copies(const torch::Device&) {}
  void copy(const torch::Tensor&, const torch::Tensor&, size_t, int64_t) {}
  void wait_for(int64_t) {}
};
#endif

RowStream::RowStream(Options options) : options_(std::move(options)), slots_(kHostSlots) {
  const auto& set = options_.set;
  const bool gpu = !options_.device.is_cpu();
  check_range("RowStream", "the set", set.is_cpu() && set.is_contiguous(), "on the CPU and in one piece", 0);
  row_bytes_ = static_cast<int64_t>(set.nbytes()) / std::max<int64_t>(1, set.size(0));
  auto shape = set.sizes().vec();
  shape[0] = options_.count;
  shape.insert(shape.begin(), kHostSlots);
  host_ = torch::empty(shape, torch::TensorOptions(set.scalar_type()).pinned_memory(gpu));
  ring_ = host_;
  if (gpu) {
    shape[0] = kDeviceSlots;
    ring_ = torch::empty(shape, torch::TensorOptions(set.scalar_type()).device(options_.device));
    copies_ = std::make_unique<Copies>(options_.device);
  }
  // Otherwise the system reads megabytes around each page that it has to fetch.
  if (is_large(set)) advise(set.data_ptr(), set.nbytes(), MADV_RANDOM);
  // On a CPU the network needs the cores; there a thread mostly waits for pages.
  const auto threads = gpu ? std::clamp(std::thread::hardware_concurrency() / 4, 1u, 3u) : 1u;
  try {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    end_threads();
    throw;
  }
}

RowStream::~RowStream() { end_threads(); }

void RowStream::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void RowStream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] {
      const bool has_slot = next_ >= 0 && next_ < options_.steps && next_ < first_ + kHostSlots;
      return stopping_ || (has_slot && !waiting_ && !error_);
    });
    if (stopping_) return;
    const auto step = next_++;
    ++busy_;
    auto& slot = slots_[static_cast<size_t>(step % kHostSlots)];
    try {
      const auto rows = options_.rows_of(step);
      lock.unlock();
      gather(rows, step % kHostSlots);
      lock.lock();
      slot = {step, rows.size(0)};
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      error_ = std::current_exception();
    }
    --busy_;
    done_.notify_all();
  }
}

void RowStream::gather(const torch::Tensor& rows, int64_t slot) {
  const auto* row = rows.data_ptr<int64_t>();
  const auto count = rows.size(0);
  const auto* from = static_cast<const char*>(options_.set.data_ptr());
  auto* to = static_cast<char*>(host_.select(0, slot).data_ptr());
  const auto bytes = static_cast<size_t>(row_bytes_);
  // For a set in a file, all pages that the step needs are requested at once.
  if (is_large(options_.set))
    for (int64_t i = 0; i < count; ++i) advise(from + row[i] * row_bytes_, bytes, MADV_WILLNEED);
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * row_bytes_, from + row[i] * row_bytes_, bytes);
}

void RowStream::jump_to(int64_t step, std::unique_lock<std::mutex>& lock) {
  waiting_ = true;
  done_.wait(lock, [&] { return busy_ == 0; });
  for (int64_t slot = 0; copies_ && slot < kHostSlots; ++slot) copies_->wait_for(slot);
  std::fill(slots_.begin(), slots_.end(), Slot{});
  first_ = next_ = step;
  waiting_ = false;
}

void RowStream::prepare(int64_t step) {
  auto& slot = slots_[static_cast<size_t>(step % kHostSlots)];
  {
    std::unique_lock lock(mutex_);
    // Copies for the step before may still be running.
    const auto needed = copies_ ? std::max(first_, step - 1) : step;
    if (step < first_ || step > next_) {
      jump_to(step, lock);
    } else if (needed > first_) {
      for (auto done = first_; copies_ && done < needed; ++done) copies_->wait_for(done % kHostSlots);
      first_ = needed;
    }
    wake_.notify_all();
    done_.wait(lock, [&] { return slot.step == step || error_; });
    if (error_) std::rethrow_exception(error_);
  }
  if (!copies_) return;
  copies_->copy(host_.select(0, step % kHostSlots), ring_.select(0, step % kDeviceSlots),
                static_cast<size_t>(slot.count * row_bytes_), step);
}

torch::Tensor RowStream::rows(int64_t step) {
  prepare(step);
  const auto count = slots_[static_cast<size_t>(step % kHostSlots)].count;
  return ring_.select(0, step % ring_.size(0)).narrow(0, 0, count);
}

}  // namespace priornet
