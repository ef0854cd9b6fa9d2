// Context: what every CPU op needs: the kernels in use, the threads, and scratch memory for each thread.
#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "device/cpu/kernels.h"

namespace pagoda::device::cpu {

constexpr int64_t kGdnScratch = kGdnHeadScratch + kGdnBlock * kMaxHeadDim;  // of one V head, and the queries
constexpr int64_t kTaskScratch = kAttentionScratch > kGdnScratch ? kAttentionScratch : kGdnScratch;  // floats
constexpr int64_t kPartialsScratch = 512 << 10;  // floats per thread, used by all threads together: see paged_attention
constexpr int64_t kThreadScratch = kTaskScratch + kPartialsScratch;

struct Context {
  const Kernels* kernels = nullptr;
  ThreadPool* pool = nullptr;
  float* scratch = nullptr;  // [num_threads][kTaskScratch], then num_threads * kPartialsScratch

  float* scratch_of(int thread) const noexcept { return scratch + thread * kTaskScratch; }
  float* partials() const noexcept { return scratch + pool->num_threads() * kTaskScratch; }
  int64_t partials_size() const noexcept { return pool->num_threads() * kPartialsScratch; }

  // body(index, thread) for every index. Too little work (cost = about one per float touched) stays on this thread:
  // waking the others takes about as long as 50,000 floats.
  template <class F>
  void for_each(int64_t count, int64_t cost, F&& body) const noexcept {
    if (count * cost < 50000)
      for (int64_t i = 0; i < count; ++i) body(i, 0);
    else pool->parallel_for(count, body);
  }
};

}  // namespace pagoda::device::cpu
