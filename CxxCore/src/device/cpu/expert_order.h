// Products of experts on the CPU device, and the order in which it multiplies their rows.
#pragma once

#include <vector>

#include "device/cpu/context.h"
#include "device/expert_ops.h"

namespace pagoda::device::cpu {

// Expert rows grouped by expert. Keeps its capacity between steps.
struct ExpertOrder {
  std::vector<int32_t> rows;   // [T * k]: sorted by expert, then by token
  std::vector<int32_t> first;  // [E + 1]: start of each expert in `rows`
  std::vector<int32_t> used;   // experts with at least one row
  void sort(const Tensor& ids, int64_t num_experts);
};

// Lets experts that are in files be read while other ops run.
void prefetch_experts(const Weight* weight, const ExpertOrder& order, bool is_guess) noexcept;

// Fails if an expert cannot be read from its file.
Status run(const Context& context, const ExpertMatmulArgs& args, const ExpertOrder& order) noexcept;

}  // namespace pagoda::device::cpu
