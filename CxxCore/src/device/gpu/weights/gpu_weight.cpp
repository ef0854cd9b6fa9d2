// Sizes and offsets of the parts of a weight.
#include "device/gpu/weights/gpu_weight.h"

#include "device/host/quantise.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kRowTile = 64;     // rows per threadgroup of matmul_tiles
constexpr int64_t kColumnTile = 64;  // columns that it processes at a time

int64_t round_up(int64_t n, int64_t to) noexcept { return (n + to - 1) / to * to; }

int64_t bits_of(WeightFormat format) noexcept {
  switch (format) {
    case WeightFormat::f32: return 32;
    case WeightFormat::f16:
    case WeightFormat::bf16: return 16;
    case WeightFormat::q8: return 8;
    case WeightFormat::q4: return 4;
    default: return stored_form(quant_format(format))->bits;
  }
}

}  // namespace

KernelFormat kernel_format(WeightFormat format) noexcept {
  if (!pagoda::is_stored(format)) return static_cast<KernelFormat>(format);
  static_assert(static_cast<int>(WeightFormat::q4) == static_cast<int>(KernelFormat::q4));
  const StoredForm form = *stored_form(quant_format(format));
  return form.bits == 4 ? KernelFormat::s4 : form.span == 32 ? KernelFormat::s8 : KernelFormat::s8f;
}

WeightLayout weight_layout(int64_t rows, int64_t cols, WeightFormat format) noexcept {
  WeightLayout layout;
  layout.padded_rows = round_up(rows, kRowTile);
  layout.padded_cols = round_up(cols, kColumnTile);
  layout.row_bytes = layout.padded_cols * bits_of(format) / 8;
  const int64_t per_group = format == WeightFormat::q4 ? int64_t{sizeof(host::Steps)} : format == WeightFormat::q8;
  layout.step_bytes = pagoda::is_stored(format) ? stored_form(quant_format(format))->record_bytes(layout.padded_cols)
                                                : layout.padded_cols / host::kStepGroup * per_group;
  layout.scale_bytes = format == WeightFormat::q8 || format == WeightFormat::q4 ? int64_t{sizeof(float)} : 0;
  layout.steps_offset = layout.padded_rows * layout.row_bytes;
  layout.scales_offset = layout.steps_offset + layout.padded_rows * layout.step_bytes;
  layout.size_bytes = layout.scales_offset + layout.padded_rows * layout.scale_bytes;
  return layout;
}

}  // namespace pagoda::device::gpu
