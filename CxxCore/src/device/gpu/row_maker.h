// RowMaker: a norm or a gate whose rows the next matmul computes itself, as it reads them.
#pragma once

#include <optional>
#include <variant>

#include "args/row_source.h"
#include "device/op_args.h"

namespace pagoda::device::gpu {

// Nothing, or the recorded op. The index is the kind of pagoda_args::RowSource.
using RowMaker = std::variant<std::monostate, RmsNormArgs, GatedRmsNormArgs, SigmoidGateArgs>;

// Arguments of a kernel that computes the rows.
struct MadeRows {
  Tensor x, weight, gate;
  pagoda_args::RowSource source{};
};

// Whether `x`, the rows of a matmul, are the output of `maker`.
bool makes(const RowMaker& maker, const Tensor& x) noexcept;

// None if kernels cannot compute them: an unsupported alignment or size, or no maker at all.
std::optional<MadeRows> made_rows(const RowMaker& maker) noexcept;

// The bytes from a tensor's first element to the end of its last.
int64_t extent_bytes(const Tensor& t) noexcept;

// Whether two tensors are the same view of the same memory.
bool is_same_view(const Tensor& a, const Tensor& b) noexcept;

// Whether two tensors may have bytes in common.
bool may_overlap(const Tensor& a, const Tensor& b) noexcept;

}  // namespace pagoda::device::gpu
