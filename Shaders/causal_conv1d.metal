// causal_conv1d: a short window over time per channel, then SiLU; the window's past comes from and goes to `tail`.
// tail: [slots, kernel_size - 1, channels], oldest first. weight: [kernel_size, channels], the last one is of now.
#include "common.h"
#include "args/causal_conv1d.h"

// The input of a channel at row `row` of a sequence's rows in this step; negative rows are in the tail.
METAL_FUNC float conv_input(device const float* x, device const float* tail,
                            constant pagoda_args::CausalConv1d& args, long row) {
  return row >= 0 ? x[row * args.x_stride] : tail[(row + long(args.kernel_size) - 1) * args.tail_row_stride];
}

// x, tail, weight: at the channel; x at the sequence's first row.
METAL_FUNC float conv_row(device const float* x, device const float* tail, device const float* weight,
                          constant pagoda_args::CausalConv1d& args, long row) {
  float sum = 0.0f;
  for (uint i = 0; i < args.kernel_size; ++i) {
    const float input = conv_input(x, tail, args, row + long(i) + 1 - long(args.kernel_size));
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}

// The sequence's last inputs, in ascending order: a place is read before it is written.
METAL_FUNC void move_tail(device const float* x, device float* tail, constant pagoda_args::CausalConv1d& args,
                          long rows) {
  for (uint i = 0; i + 1 < args.kernel_size; ++i) {
    tail[long(i) * args.tail_row_stride] =
        conv_input(x, (device const float*)(tail), args, rows + long(i) + 1 - long(args.kernel_size));
  }
}

// Any rows; the tail is left for causal_conv1d_tail. Grid: [channels / 128, tokens]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d(device const float* x [[buffer(0)]],
                          device const float* weight [[buffer(1)]],
                          device const float* tail [[buffer(2)]],
                          device const int* cu_seqlens [[buffer(3)]],
                          device const int* state_slots [[buffer(4)]],
                          device float* out [[buffer(5)]],
                          constant pagoda_args::CausalConv1d& args [[buffer(6)]],
                          uint2 tg [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const uint sequence = sequence_of_row(cu_seqlens, args.num_sequences, tg.y);
  const long begin = cu_seqlens[sequence];
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(x + begin * args.x_stride + channel,
               tail + long(state_slots[sequence]) * args.tail_slot_stride + channel, weight + channel, args,
               long(tg.y) - begin);
}

// Grid: [channels / 128, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d_tail(device const float* x [[buffer(0)]],
                               device float* tail [[buffer(1)]],
                               device const int* cu_seqlens [[buffer(2)]],
                               device const int* state_slots [[buffer(3)]],
                               constant pagoda_args::CausalConv1d& args [[buffer(4)]],
                               uint2 tg [[threadgroup_position_in_grid]],
                               uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const long begin = cu_seqlens[tg.y];
  move_tail(x + begin * args.x_stride + channel, tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel, args,
            cu_seqlens[tg.y + 1] - begin);
}

// Both at once where every sequence has one row. Grid: [channels / 128, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d_update(device const float* x [[buffer(0)]],
                                 device const float* weight [[buffer(1)]],
                                 device float* tail [[buffer(2)]],
                                 device const int* state_slots [[buffer(3)]],
                                 device float* out [[buffer(4)]],
                                 constant pagoda_args::CausalConv1d& args [[buffer(5)]],
                                 uint2 tg [[threadgroup_position_in_grid]],
                                 uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  device const float* row = x + long(tg.y) * args.x_stride + channel;
  device float* past = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(row, (device const float*)(past), weight + channel, args, 0);
  move_tail(row, past, args, 1);
}
