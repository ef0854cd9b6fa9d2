// Which sequence a row of a step belongs to, for ops with a task per row.
#pragma once

#include <algorithm>

#include "device/op_args.h"

namespace pagoda::device::cpu {

struct SequenceRow {
  int64_t sequence = 0, index = 0;  // index: among the step's rows of the sequence
  int64_t position = 0;
};

inline SequenceRow find_row(const SequenceArgs& s, int64_t row) noexcept {
  const int32_t* bounds = host_data<int32_t>(s.cu_seqlens);
  const int64_t num_sequences = s.context_lens.shape[0];
  const int64_t b = std::upper_bound(bounds, bounds + num_sequences + 1, row) - bounds - 1;
  return {b, row - bounds[b], host_data<int32_t>(s.context_lens)[b] - (bounds[b + 1] - row)};
}

}  // namespace pagoda::device::cpu
