// RowMaker: a norm or a gate whose rows the next matmul makes itself, as it reads them.
#pragma once

#include <optional>
#include <variant>

#include "args/row_source.h"
#include "device/op_args.h"

namespace pagoda::device::gpu {

// Nothing, or the op as it came. The index is the kind of pagoda_args::RowSource.
using RowMaker = std::variant<std::monostate, RmsNormArgs, GatedRmsNormArgs, SigmoidGateArgs>;

// Arguments of a kernel that makes the rows.
struct MadeRows {
  Tensor x, weight, gate;
  pagoda_args::RowSource source{};
};

// Whether `x`, the rows of a matmul, are what `maker` makes.
bool makes(const RowMaker& maker, const Tensor& x) noexcept;

// None where kernels cannot make them: an alignment or a size they do not take, or no maker at all.
std::optional<MadeRows> made_rows(const RowMaker& maker) noexcept;

bool same_place(const Tensor& a, const Tensor& b) noexcept;

// Whether two tensors may have bytes in common.
bool may_overlap(const Tensor& a, const Tensor& b) noexcept;

}  // namespace pagoda::device::gpu
