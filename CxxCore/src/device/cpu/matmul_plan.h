// MatmulPlan: memory layout of matmul scratch for steps within given limits, in one buffer.
#pragma once

#include <algorithm>

#include "device/cpu/context.h"
#include "device/device.h"

namespace pagoda::device::cpu {

struct MatmulPlan {
  MatmulMemory memory;  // sizes only
  size_t values_bytes, scales_bytes, rotated_bytes, scratch_bytes, halves_bytes, size_bytes;

  MatmulMemory place(std::byte* at) const noexcept {
    MatmulMemory placed = memory;
    placed.values = at;
    placed.scales = reinterpret_cast<float*>(at += values_bytes);
    placed.sums = reinterpret_cast<int32_t*>(at += scales_bytes);
    placed.rotated = reinterpret_cast<float*>(at += scales_bytes);
    placed.scratch = at += rotated_bytes;
    placed.halves = reinterpret_cast<float*>(at += scratch_bytes);
    return placed;
  }
};

inline MatmulPlan plan_matmul(const StepLimits& limits, int num_threads) noexcept {
  const auto rounded = [](int64_t n, int64_t to) { return (n + to - 1) / to * to; };
  const auto rows_of = [&](int64_t tokens) { return rounded(tokens, 16) + 16; };  // see MatmulMemory::fits()
  const auto groups_of = [&](int64_t cols) { return rounded(cols, kPackedColumns) / kPackedColumns; };
  const auto bytes_of = [&](int64_t tokens, int64_t cols) {
    return static_cast<size_t>(rows_of(tokens) * MatmulMemory::row_bytes(groups_of(cols), kPackedBf16));
  };
  const int64_t rows = rows_of(std::max(limits.tokens, limits.rows_by_head)), groups = groups_of(limits.cols);
  MatmulPlan plan{};
  plan.memory.max_rows = rows;
  plan.memory.max_groups = groups;
  plan.values_bytes = std::max(bytes_of(limits.tokens, limits.cols), bytes_of(limits.rows_by_head, limits.head_cols));
  plan.memory.values_bytes = plan.values_bytes;
  plan.scales_bytes = static_cast<size_t>(rounded(rows * 4, 64));
  plan.rotated_bytes = static_cast<size_t>(num_threads * groups * kPackedColumns * 4);
  plan.scratch_bytes = static_cast<size_t>(num_threads * kMatmulScratch);
  plan.halves_bytes = static_cast<size_t>(num_threads * rows * (2 * kGatedChannels + kBlockChannels) * 4);
  plan.size_bytes =
      plan.values_bytes + 2 * plan.scales_bytes + plan.rotated_bytes + plan.scratch_bytes + plan.halves_bytes;
  return plan;
}

}  // namespace pagoda::device::cpu
