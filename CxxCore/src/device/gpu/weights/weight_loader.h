// WeightLoader: makes weights on a backend. Several threads read and convert rows, straight to their place if the host
// sees the device's memory, and otherwise into staging memory, of which one half is copied to the device while the
// other is filled.
// State: threads and staging memory, made when first needed. Thread rule: Device's.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/threads/thread_pool.h"
#include "device/gpu/backend.h"
#include "device/gpu/weights/row_packer.h"

namespace pagoda::device::gpu {

struct LoaderOptions {
  int num_threads = 0;                      // 0: as many as the machine has cores, at most 16
  int64_t round_bytes = int64_t{32} << 20;  // of the device's memory, or a row: twice in staging memory
  int64_t task_bytes = int64_t{512} << 10;  // of the source, or a row
};

class WeightLoader {
 public:
  explicit WeightLoader(Backend& backend, const LoaderOptions& options = {}) noexcept
      : backend_(backend), options_(options) {}
  Result<std::unique_ptr<Weight>> make(const WeightSource& source, WeightFormat format);
  // A weight of the bytes that make() gave another one; they are copied before this returns, unless the backend shares
  // their memory.
  Result<std::unique_ptr<Weight>> adopt(WeightFormat format, int64_t rows, int64_t cols, std::unique_ptr<Buffer> bytes);
  // Waits for the copies and frees threads and staging memory.
  Status finish() noexcept;

 private:
  Status fill(Buffer& buffer, const RowPacker& packer, const WeightSource& source, const WeightLayout& layout);
  Status pack(const RowPacker& packer, int64_t begin, int64_t count, const RowPlace& to, const WeightLayout& layout);
  // Copies to `to` on all threads.
  Status copy(std::span<const std::byte> from, std::byte* to);
  Result<Staging*> next_half(size_t size_bytes);
  Status start_threads();

  Backend& backend_;
  LoaderOptions options_;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<RowPacker::Scratch> scratch_;  // one per thread
  std::unique_ptr<Staging> halves_[2];
  size_t half_bytes_ = 0;
  int half_ = 0;
};

}  // namespace pagoda::device::gpu
