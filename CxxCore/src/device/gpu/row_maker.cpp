// Which norms and gates matmul kernels can compute themselves.
#include "device/gpu/row_maker.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kMostHeads = 64, kDimStep = 16;  // limits of Shaders/row_source.h

const Tensor& out_of(const RowMaker& maker) noexcept {
  if (const auto* norm = std::get_if<RmsNormArgs>(&maker)) return norm->out;
  if (const auto* norm = std::get_if<GatedRmsNormArgs>(&maker)) return norm->out;
  return std::get<SigmoidGateArgs>(maker).out;
}

// Whether vectors of four floats can be read at any multiple of four in a row.
bool is_wide(const Tensor& t) noexcept {
  bool is_aligned = t.offset_bytes % 16 == 0;
  for (int i = 0; i + 1 < t.rank; ++i) is_aligned = is_aligned && t.strides[i] % 4 == 0;
  return is_aligned;
}

MadeRows of_heads(const Tensor& x, const Tensor& gate) noexcept {
  MadeRows rows{.x = x, .weight = x, .gate = gate};
  rows.source.x_head_stride = x.strides[1];
  rows.source.gate_stride = gate.strides[0];
  rows.source.gate_head_stride = gate.strides[1];
  rows.source.heads = static_cast<uint32_t>(x.shape[1]);
  rows.source.dim = static_cast<uint32_t>(x.shape[2]);
  return rows;
}

MadeRows rows_of(const RowMaker& maker) noexcept {
  MadeRows rows;
  if (const auto* norm = std::get_if<RmsNormArgs>(&maker)) {
    rows = {.x = norm->x, .weight = norm->weight, .gate = norm->x};
    rows.source.heads = 1;
    rows.source.dim = static_cast<uint32_t>(norm->x.shape[1]);
    rows.source.eps = norm->eps;
    rows.source.weight_offset = norm->weight_offset;
  } else if (const auto* gated = std::get_if<GatedRmsNormArgs>(&maker)) {
    rows = of_heads(gated->x, gated->z);
    rows.weight = gated->weight;
    rows.source.eps = gated->eps;
  } else {
    const auto& gate = std::get<SigmoidGateArgs>(maker);
    rows = of_heads(gate.x, gate.gate);
  }
  rows.source.kind = static_cast<uint32_t>(maker.index());
  return rows;
}

}  // namespace

int64_t extent_bytes(const Tensor& t) noexcept {
  if (t.num_elements() == 0) return 0;
  int64_t last = 0;
  for (int i = 0; i < t.rank; ++i) last += (t.shape[i] - 1) * t.strides[i];
  return (last + 1) * static_cast<int64_t>(dtype_bytes(t.dtype));
}

bool is_same_view(const Tensor& a, const Tensor& b) noexcept {
  return a.buffer == b.buffer && a.offset_bytes == b.offset_bytes && a.shape == b.shape && a.strides == b.strides;
}

bool may_overlap(const Tensor& a, const Tensor& b) noexcept {
  return a.buffer == b.buffer && a.offset_bytes < b.offset_bytes + extent_bytes(b) &&
         b.offset_bytes < a.offset_bytes + extent_bytes(a);
}

bool makes(const RowMaker& maker, const Tensor& x) noexcept {
  if (std::holds_alternative<std::monostate>(maker)) return false;
  const Tensor& out = out_of(maker);
  if (out.buffer != x.buffer || out.offset_bytes != x.offset_bytes || out.shape[0] != x.shape[0] ||
      out.strides[0] != x.strides[0])
    return false;
  return out.rank == 2 ? out.shape[1] == x.shape[1]
                       : out.strides[1] == out.shape[2] && out.shape[1] * out.shape[2] == x.shape[1];
}

std::optional<MadeRows> made_rows(const RowMaker& maker) noexcept {
  if (std::holds_alternative<std::monostate>(maker)) return std::nullopt;
  MadeRows rows = rows_of(maker);
  const bool fits = rows.source.heads <= kMostHeads && rows.source.dim % kDimStep == 0;
  if (!fits || !is_wide(rows.x) || !is_wide(rows.weight) || !is_wide(rows.gate)) return std::nullopt;
  return rows;
}

}  // namespace pagoda::device::gpu
