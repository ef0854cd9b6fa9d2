// causal_conv1d.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 1 "Shaders/causal_conv1d.metal"
# 1 "Shaders/causal_conv1d.metal"


# 1 "Shaders/conv.h"



# 1 "Shaders/args/causal_conv1d.h"



# 1 "Shaders/args/types.h"
# 5 "Shaders/args/causal_conv1d.h"

namespace pagoda_args {

struct CausalConv1d {
  long x_stride, out_stride, weight_stride;
  long tail_slot_stride, tail_row_stride;
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");

}
# 5 "Shaders/conv.h"
# 1 "Shaders/common.h"




# 6 "Shaders/common.h"
# 7 "Shaders/common.h"
# 8 "Shaders/common.h"




MSL_CONSTANT constexpr float kNegBig = -1.0e30f;

METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

METAL_FUNC float silu(float x) { return x * sigmoid(x); }


template <uint N>
METAL_FUNC void load_ahead(MSL_DEVICE const float* from, uint first, uint stride, uint end, MSL_THREAD float (&v)[N]) {

  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}



METAL_FUNC float threadgroup_sum(float v, MSL_THREADGROUP float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < num_simdgroups); ++i) {
    sum += partial[i];
  }
  return sum;
}


METAL_FUNC uint sequence_of_row(MSL_DEVICE const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (MSL_LOOP(hi - lo > 1)) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}



METAL_FUNC void rotate(MSL_THREADGROUP float* tile, uint block, uint tid, uint num_threads) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = 1; MSL_LOOP(stride < block); stride *= 2) {
    for (uint i = tid; MSL_LOOP(i < block / 2); i += num_threads) {
      const uint at = i / stride * 2 * stride + i % stride;
      const float a = tile[at];
      const float b = tile[at + stride];
      tile[at] = a + b;
      tile[at + stride] = a - b;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}


METAL_FUNC float signed_byte(uint word, uint index) { return float(int(word << (24 - 8 * index)) >> 24); }

METAL_FUNC float stepped_nibble(uint word, uint index, uint step, uint offset) {
  return float(int(step * (word >> (4 * index) & 15u) + offset) - 128);
}


template <typename T, uint R, uint C>
METAL_FUNC void tile_multiply_accumulate(MSL_THREAD simdgroup_matrix<float, 8, 8> (&acc)[R][C],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&a)[R],
                                         MSL_THREAD simdgroup_matrix<T, 8, 8> (&b)[C]) {

  for (uint j = 0; j < C; ++j) {








    for (uint i = 0; i < R; ++i) {
      simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }

  }
}
# 6 "Shaders/conv.h"


METAL_FUNC long tail_place(MSL_CONSTANT pagoda_args::CausalConv1d& args, int position) {
  return long(uint(position + int(args.tail_rows)) % args.tail_rows) * args.tail_row_stride;
}



METAL_FUNC float conv_row(MSL_DEVICE const float* x, MSL_DEVICE const float* tail, MSL_DEVICE const float* weight,
                          MSL_CONSTANT pagoda_args::CausalConv1d& args, int position, int row) {
  float sum = 0.0f;
  for (uint i = 0; MSL_LOOP(i < args.kernel_size); ++i) {
    const int at = row + int(i) + 1 - int(args.kernel_size);
    const float input = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_place(args, position + at)];
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}
# 4 "Shaders/causal_conv1d.metal"



MSL_KERNEL void causal_conv1d(MSL_DEVICE const float* x ,
                          MSL_DEVICE const float* weight ,
                          MSL_DEVICE const float* tail ,
                          MSL_DEVICE const int* cu_seqlens ,
                          MSL_DEVICE const int* context_lens ,
                          MSL_DEVICE const int* state_slots ,
                          MSL_DEVICE float* out ,
                          MSL_CONSTANT pagoda_args::CausalConv1d& args ,
                          uint2 tg ,
                          uint tid ) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const uint sequence = sequence_of_row(cu_seqlens, args.num_sequences, tg.y);
  const int begin = cu_seqlens[sequence];
  const int position = context_lens[sequence] - (cu_seqlens[sequence + 1] - begin);
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(x + long(begin) * args.x_stride + channel,
               tail + long(state_slots[sequence]) * args.tail_slot_stride + channel, weight + channel, args, position,
               int(tg.y) - begin);
}



MSL_KERNEL void causal_conv1d_tail(MSL_DEVICE const float* x ,
                               MSL_DEVICE float* tail ,
                               MSL_DEVICE const int* cu_seqlens ,
                               MSL_DEVICE const int* context_lens ,
                               MSL_DEVICE const int* state_slots ,
                               MSL_CONSTANT pagoda_args::CausalConv1d& args ,
                               uint2 tg ,
                               uint tid ) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const int begin = cu_seqlens[tg.y];
  const int rows = cu_seqlens[tg.y + 1] - begin;
  const int position = context_lens[tg.y] - rows;
  MSL_DEVICE const float* from = x + long(begin) * args.x_stride + channel;
  MSL_DEVICE float* to = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;

  const int first = rows > int(args.tail_rows) ? rows - int(args.tail_rows) : 0;
  for (int row = first; MSL_LOOP(row < rows); ++row) {
    to[tail_place(args, position + row)] = from[long(row) * args.x_stride];
  }
}



MSL_KERNEL void causal_conv1d_update(MSL_DEVICE const float* x ,
                                 MSL_DEVICE const float* weight ,
                                 MSL_DEVICE float* tail ,
                                 MSL_DEVICE const int* context_lens ,
                                 MSL_DEVICE const int* state_slots ,
                                 MSL_DEVICE float* out ,
                                 MSL_CONSTANT pagoda_args::CausalConv1d& args ,
                                 uint2 tg ,
                                 uint tid ) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  MSL_DEVICE const float* row = x + long(tg.y) * args.x_stride + channel;
  MSL_DEVICE float* past = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;
  const int position = context_lens[tg.y] - 1;
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(row, (MSL_DEVICE const float*)(past), weight + channel, args, position, 0);
  past[tail_place(args, position)] = row[0];
}


# 1 "causal_conv1d.entries"
using namespace ::pagoda::device::gpu;
void msl_entry_0(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  causal_conv1d((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::CausalConv1d*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"tail", 2, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"state_slots", 5, BindingKind::buffer, sizeof(int), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::CausalConv1d), false}};
constexpr uint32_t msl_limit_0 = 128;
void msl_entry_1(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  causal_conv1d_tail((const float*)in.buffers[0], (float*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], *(const pagoda_args::CausalConv1d*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"tail", 1, BindingKind::buffer, sizeof(float), true}, {"cu_seqlens", 2, BindingKind::buffer, sizeof(int), false}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"state_slots", 4, BindingKind::buffer, sizeof(int), false}, {"args", 5, BindingKind::values, sizeof(pagoda_args::CausalConv1d), false}};
constexpr uint32_t msl_limit_1 = 128;
void msl_entry_2(const KernelInputs& in, const Builtins& b) {
  (void)in;
  (void)b;
  causal_conv1d_update((const float*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (float*)in.buffers[5], *(const pagoda_args::CausalConv1d*)in.buffers[6], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup));
}
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"tail", 2, BindingKind::buffer, sizeof(float), true}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"state_slots", 4, BindingKind::buffer, sizeof(int), false}, {"out", 5, BindingKind::buffer, sizeof(float), true}, {"args", 6, BindingKind::values, sizeof(pagoda_args::CausalConv1d), false}};
constexpr uint32_t msl_limit_2 = 128;
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> causal_conv1d_kernels() noexcept {
  static constexpr KernelInfo kKernels[] = {
    {"causal_conv1d", "causal_conv1d", metal::msl_bindings_0, {}, metal::msl_limit_0, metal::msl_entry_0},
    {"causal_conv1d_tail", "causal_conv1d", metal::msl_bindings_1, {}, metal::msl_limit_1, metal::msl_entry_1},
    {"causal_conv1d_update", "causal_conv1d", metal::msl_bindings_2, {}, metal::msl_limit_2, metal::msl_entry_2},
  };
  return kKernels;
}
}  // namespace pagoda::device::gpu::generated
