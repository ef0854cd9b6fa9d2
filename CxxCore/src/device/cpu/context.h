// Context: shared by all CPU ops: the selected kernels, the threads, and scratch memory.
#pragma once

#include <cstdint>

#include "base/threads/thread_pool.h"
#include "device/cpu/kernels.h"

namespace pagoda::device::cpu {

constexpr int64_t kGdnScratch = kGdnHeadScratch + kGdnBlock * kMaxHeadDim;  // of one V head, and the queries
constexpr int64_t kMaxConvVHeads = 4;  // per K head; with more, convolution is not fused into gdn
constexpr int64_t kConvScratch = (2 + kMaxConvVHeads) * kGdnBlock * kMaxHeadDim;  // convolved q, k, v of a block
constexpr int64_t kTaskScratch =
    kAttentionScratch > kGdnScratch + kConvScratch ? kAttentionScratch : kGdnScratch + kConvScratch;  // floats
constexpr int64_t kPartialsScratch = 512 << 10;  // floats per thread, pooled by all threads: see paged_attention
constexpr int64_t kThreadScratch = kTaskScratch + kPartialsScratch;

constexpr int64_t kGatedChannels = 64;  // outputs per task of a matmul with silu_mul

// Memory of matmuls, sized by reserve() for the largest step. Packed activation rows (packed once per matmul) are
// shared by all threads; the rest is per thread.
struct MatmulMemory {
  int64_t max_rows = 0, max_groups = 0;  // groups of 128 columns
  size_t values_bytes = 0;
  std::byte* values = nullptr;   // [values_bytes]: rows, rounded up to 16, of row_bytes() of the matmul
  float* scales = nullptr;       // [max_rows]
  int32_t* sums = nullptr;       // [max_rows]
  float* rotated = nullptr;      // [threads][max_groups * 128]
  std::byte* scratch = nullptr;  // [threads][kMatmulScratch]
  float* halves = nullptr;       // [threads][max_rows][2 * kGatedChannels + 16]: both halves of a silu_mul

  float* rotated_of(int thread) const noexcept { return rotated + thread * max_groups * kPackedColumns; }
  // 16 extra rows: an expert's rows may start anywhere, and are also read up to a multiple of 16.
  bool fits(int64_t rows, int64_t groups) const noexcept {
    return rows <= max_rows && groups <= max_groups &&
           static_cast<size_t>(((rows + 15) / 16 + 1) * 16 * row_bytes(groups, kPackedBf16)) <= values_bytes;
  }
  // Row stride in bytes. 64 bytes of padding keep rows from mapping to the same cache sets.
  static constexpr int64_t row_bytes(int64_t groups, PackedFormat format) noexcept {
    return groups * kPackedColumns * (format == kPackedBf16 ? 2 : 1) + 64;
  }
  // The same for rows of weights in the formats of files: less than for bf16.
  static constexpr int64_t grouped_stride(int64_t padded) noexcept { return grouped_row_bytes(padded) + 64; }
};

struct Context {
  const Kernels* kernels = nullptr;
  ThreadPool* pool = nullptr;
  float* scratch = nullptr;  // [num_threads][kTaskScratch], then num_threads * kPartialsScratch
  MatmulMemory matmul;

  float* scratch_of(int thread) const noexcept { return scratch + thread * kTaskScratch; }
  float* partials() const noexcept { return scratch + pool->num_threads() * kTaskScratch; }
  int64_t partials_size() const noexcept { return pool->num_threads() * kPartialsScratch; }

  // Runs body(index, thread) for every index. Small workloads (cost is about one per float touched) stay on this
  // thread: handing them to a spinning one costs about as much as 4,000 floats.
  template <class F>
  void for_each(int64_t count, int64_t cost, F&& body) const noexcept {
    if (count * cost < 4000)
      for (int64_t i = 0; i < count; ++i) body(i, 0);
    else pool->parallel_for(count, body);
  }
};

}  // namespace pagoda::device::cpu
