// OpCost: the minimum bytes and operations of an op, from its arguments; profiles, counters and benchmarks divide by
// it.
#pragma once

#include "device/device.h"
#include "device/op_list.h"

namespace pagoda::device {

struct OpCost {
  double bytes = 0;       // each tensor and weight once; of caches and pools, the part of the step's sequences
  double operations = 0;  // multiplications and additions, of ops that can be bound by them
};

double tensor_bytes(const Tensor& t) noexcept;                                   // 0 if absent
double slots_bytes(const Tensor& pool, const SequenceArgs& sequences) noexcept;  // of one slot for each sequence

// An upper bound where the host does not see what decides: the lengths of sequences, which rows have an adapter, which
// share an expert.
OpCost op_cost(OpRef op) noexcept;
OpCost op_cost(const ExpertMatmulArgs& a, int64_t num_used) noexcept;  // num_used: experts that have rows

}  // namespace pagoda::device
