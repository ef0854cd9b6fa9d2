// causal_conv1d.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 4 "Shaders/causal_conv1d.metal"
#include "device/gpu/generated/conv.h"

MSL_CONSTANT constexpr uint kConvRows = 4;
# 10 "Shaders/causal_conv1d.metal"
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
  const int tokens = cu_seqlens[args.num_sequences];
  const int end = tokens < int((tg.y + 1) * kConvRows) ? tokens : int((tg.y + 1) * kConvRows);
  int token = int(tg.y * kConvRows);

  while (MSL_LOOP(token < end)) {
    const uint sequence = sequence_of_row(cu_seqlens, args.num_sequences, uint(token));
    const int begin = cu_seqlens[sequence];
    const int next = cu_seqlens[sequence + 1];
    const int position = context_lens[sequence] - (next - begin);
    MSL_DEVICE const float* from = x + long(begin) * args.x_stride + channel;
    MSL_DEVICE const float* past = tail + long(state_slots[sequence]) * args.tail_slot_stride + channel;
    const int row = token - begin;
    const bool has_past = row >= int(kUsualTaps) - 1 && args.kernel_size == kUsualTaps;
    const int window_end = token + int(kConvRows);

    if (has_past && window_end <= next && window_end <= end) {
      conv_rows<kConvRows>(from, weight + channel, args, row, out + long(token) * args.out_stride + channel);
      token = window_end;
    }
    for (; MSL_LOOP(token < next && token < end); ++token) {
      out[long(token) * args.out_stride + channel] = conv_row(from, past, weight + channel, args, position, token - begin);
    }
  }
}
# 51 "Shaders/causal_conv1d.metal"
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
    to[tail_offset(args, position + row)] = from[long(row) * args.x_stride];
  }
}
# 77 "Shaders/causal_conv1d.metal"
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
  past[tail_offset(args, position)] = row[0];
}
# 1 "causal_conv1d.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"tail", 2, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 3, BindingKind::buffer, sizeof(int), false}, {"context_lens", 4, BindingKind::buffer, sizeof(int), false}, {"state_slots", 5, BindingKind::buffer, sizeof(int), false}, {"out", 6, BindingKind::buffer, sizeof(float), true}, {"args", 7, BindingKind::values, sizeof(pagoda_args::CausalConv1d), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; causal_conv1d((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (const int*)in.buffers[5], (float*)in.buffers[6], *(const pagoda_args::CausalConv1d*)in.buffers[7], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"tail", 1, BindingKind::buffer, sizeof(float), true}, {"cu_seqlens", 2, BindingKind::buffer, sizeof(int), false}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"state_slots", 4, BindingKind::buffer, sizeof(int), false}, {"args", 5, BindingKind::values, sizeof(pagoda_args::CausalConv1d), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; causal_conv1d_tail((const float*)in.buffers[0], (float*)in.buffers[1], (const int*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], *(const pagoda_args::CausalConv1d*)in.buffers[5], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"x", 0, BindingKind::buffer, sizeof(float), false}, {"weight", 1, BindingKind::buffer, sizeof(float), false}, {"tail", 2, BindingKind::buffer, sizeof(float), true}, {"context_lens", 3, BindingKind::buffer, sizeof(int), false}, {"state_slots", 4, BindingKind::buffer, sizeof(int), false}, {"out", 5, BindingKind::buffer, sizeof(float), true}, {"args", 6, BindingKind::values, sizeof(pagoda_args::CausalConv1d), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; causal_conv1d_update((const float*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], (const int*)in.buffers[3], (const int*)in.buffers[4], (float*)in.buffers[5], *(const pagoda_args::CausalConv1d*)in.buffers[6], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"causal_conv1d", "causal_conv1d", msl_bindings_0, {}, 128, msl_entry_0},
  {"causal_conv1d_tail", "causal_conv1d", msl_bindings_1, {}, 128, msl_entry_1},
  {"causal_conv1d_update", "causal_conv1d", msl_bindings_2, {}, 128, msl_entry_2},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> causal_conv1d_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
