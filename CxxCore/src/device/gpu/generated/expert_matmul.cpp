// expert_matmul.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 9 "Shaders/expert_matmul.metal"
#include "device/gpu/generated/common.h"
#include "device/gpu/generated/args_experts.h"

MSL_CONSTANT constexpr uint kRows = 8;


struct F32 {};
struct F16 {};


METAL_FUNC float4 load_four(F32 format, MSL_DEVICE const uint* w, ulong at) {
  return *(MSL_DEVICE const float4*)(w + at);
}

METAL_FUNC float half_of(uint word, uint shift) { return float(as_type<half>(ushort(word >> shift & 0xffffu))); }

METAL_FUNC float4 load_four(F16 format, MSL_DEVICE const uint* w, ulong at) {
  const uint2 words = *(MSL_DEVICE const uint2*)(w + at / 2);
  return float4(half_of(words.x, 0), half_of(words.x, 16), half_of(words.y, 0), half_of(words.y, 16));
}

METAL_FUNC float x_at(MSL_DEVICE const float* row, uint k, uint cols) { return k < cols ? row[k] : 0.0f; }


METAL_FUNC float add_four(MSL_DEVICE const float* row, uint k, uint cols, float4 four, float sum) {
  sum = fma(x_at(row, k, cols), four.x, sum);
  sum = fma(x_at(row, k + 1, cols), four.y, sum);
  sum = fma(x_at(row, k + 2, cols), four.z, sum);
  return fma(x_at(row, k + 3, cols), four.w, sum);
}


template <typename FORMAT>
METAL_FUNC void multiply_rows(MSL_DEVICE const uint* w, ulong w_at, MSL_DEVICE const float* x, MSL_THREAD const ulong (&rows)[kRows],
                              uint count, uint cols, uint lane, MSL_THREAD float (&sums)[kRows]) {

  for (uint r = 0; r < kRows; ++r) {
    sums[r] = 0.0f;
  }
  for (uint k = lane * 4; MSL_LOOP(k < cols); k += 128) {
    const float4 four = load_four(FORMAT(), w, w_at + k);

    for (uint r = 0; r < kRows; ++r) {
      sums[r] = r < count ? add_four(x + rows[r], k, cols, four, sums[r]) : 0.0f;
    }
  }

  for (uint r = 0; r < kRows; ++r) {
    sums[r] = simd_sum(sums[r]);
  }
}


template <typename FORMAT>

MSL_KERNEL void expert_matmul(MSL_DEVICE const float* x ,
                          MSL_DEVICE const uint* w ,
                          MSL_DEVICE const uint* order ,
                          MSL_DEVICE const uint* tiles ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::ExpertMatmul& args ,
                          uint2 tg ,
                          uint sg ,
                          uint lane ) {
  const uint count = tiles[tg.y * 4 + 2];
  const uint n = tg.x * 4 + sg;
  if (count == 0 || n >= args.out_cols) {
    return;
  }
  MSL_DEVICE const uint* slots = order + tiles[tg.y * 4 + 1];
  ulong rows[kRows];

  for (uint r = 0; r < kRows; ++r) {
    rows[r] = ulong(slots[r < count ? r : 0] / args.x_share) * ulong(args.x_stride);
  }
  const uint w_row = tiles[tg.y * 4] * args.expert_rows + n;
  float sums[kRows];
  float others[kRows];
  multiply_rows<FORMAT>(w, ulong(w_row) * args.padded_cols, x, rows, count, args.cols, lane, sums);
  if (args.silu_mul != 0) {
    const ulong at = ulong(w_row + args.out_cols) * args.padded_cols;
    multiply_rows<FORMAT>(w, at, x, rows, count, args.cols, lane, others);
  }

  for (uint r = 0; r < kRows; ++r) {
    if (lane == r && r < count) {
      out[long(slots[r]) * args.out_stride + n] = args.silu_mul != 0 ? silu(sums[r]) * others[r] : sums[r];
    }
  }
}
# 1 "expert_matmul.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"w", 1, BindingKind::buffer, sizeof(uint), false}, {"order", 2, BindingKind::buffer, sizeof(uint), false}, {"tiles", 3, BindingKind::buffer, sizeof(uint), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::ExpertMatmul), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_matmul<F32>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const uint*)in.buffers[2], (const uint*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::ExpertMatmul*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; expert_matmul<F16>((const float*)in.buffers[0], (const uint*)in.buffers[1], (const uint*)in.buffers[2], (const uint*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::ExpertMatmul*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"expert_matmul_f32", "expert_matmul", msl_bindings_0, {}, 128, msl_entry_0},
  {"expert_matmul_f16", "expert_matmul", msl_bindings_0, {}, 128, msl_entry_1},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> expert_matmul_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
