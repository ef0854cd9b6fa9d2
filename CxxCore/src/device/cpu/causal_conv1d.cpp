// causal_conv1d: a task per sequence and group of channels, which also moves its part of the tail on.
#include "device/cpu/cpu_ops.h"
#include "device/host/access.h"

#include <algorithm>
#include <cstring>

namespace pagoda::device::cpu {

using host::at;

namespace {

// The last kernel - 1 inputs become the tail; with fewer rows than that, what was there moves up.
void move_tail(const ConvTile& tile, float* tail) noexcept {
  const int64_t length = tile.kernel - 1, kept = std::max<int64_t>(0, length - tile.rows);
  const size_t bytes = static_cast<size_t>(tile.channels) * sizeof(float);
  for (int64_t i = 0; i < kept; ++i)
    std::memcpy(tail + i * tile.tail_stride, tail + (i + tile.rows) * tile.tail_stride, bytes);
  for (int64_t i = kept; i < length; ++i)
    std::memcpy(tail + i * tile.tail_stride, tile.x + (tile.rows - length + i) * tile.x_stride, bytes);
}

}  // namespace

void causal_conv1d(const Context& context, const CausalConv1dArgs& args) noexcept {
  const int64_t channels = args.x.shape[1], kernel = args.weight.shape[1],
                groups = (channels + kConvChannels - 1) / kConvChannels;
  const int64_t num_sequences = args.sequences.context_lens.shape[0];
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens);
  const int64_t rows_each = args.x.shape[0] / std::max<int64_t>(1, num_sequences) + 1;
  context.for_each(num_sequences * groups, rows_each * kConvChannels * 4, [&](int64_t index, int) {
    const int64_t b = index / groups, first = index % groups * kConvChannels;
    float* tail = at<float>(args.tail, host_data<int32_t>(args.sequences.state_slots)[b]) + first;
    const ConvTile tile{at<float>(args.x, bounds[b]) + first,
                        args.x.strides[0],
                        tail,
                        args.tail.strides[1],
                        host_data<float>(args.weight) + first * kernel,
                        at<float>(args.out, bounds[b]) + first,
                        args.out.strides[0],
                        bounds[b + 1] - bounds[b],
                        std::min(kConvChannels, channels - first),
                        kernel};
    context.kernels->conv(tile);
    move_tail(tile, tail);
  });
}

}  // namespace pagoda::device::cpu
