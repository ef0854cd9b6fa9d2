// causal_conv1d: a task per sequence and group of channels, which also writes its part of the tail.
#include "device/cpu/cpu_ops.h"
#include "device/cpu/ops/conv_channels.h"
#include "device/host/access.h"

#include <algorithm>
#include <cstring>

namespace pagoda::device::cpu {

using host::at;

namespace {

constexpr int64_t kChannelsPerTask = 256;

}  // namespace

ConvChannels::ConvChannels(const CausalConv1dArgs& args, int64_t sequence, int64_t first, int64_t count) noexcept
    : args_(args),
      begin_(host_data<int32_t>(args.sequences.cu_seqlens)[sequence]),
      end_(host_data<int32_t>(args.sequences.cu_seqlens)[sequence + 1]),
      position_(host_data<int32_t>(args.sequences.context_lens)[sequence] - (end_ - begin_)),
      first_(first),
      count_(count),
      tail_(at<float>(args.tail, host_data<int32_t>(args.sequences.state_slots)[sequence]) + first) {}

void ConvChannels::run(const Kernels& kernels, int64_t row, int64_t rows, float* out,
                       int64_t out_stride) const noexcept {
  // Inputs before the step's first row are in the tail, those before `row` in x.
  kernels.conv({at<float>(args_.x, row) + first_, args_.x.strides[0], tail_, args_.tail.strides[1], args_.tail.shape[1],
                row - begin_, position_ + row - begin_, host_data<float>(args_.weight) + first_,
                args_.weight.strides[0], out, out_stride, rows, count_, args_.weight.shape[0]});
}

void ConvChannels::write_tail() const noexcept {
  const int64_t ring = args_.tail.shape[1];
  for (int64_t t = std::max(begin_, end_ - ring); t < end_; ++t)
    std::memcpy(tail_ + (position_ + t - begin_) % ring * args_.tail.strides[1], at<float>(args_.x, t) + first_,
                static_cast<size_t>(count_) * sizeof(float));
}

void run(const Context& context, const CausalConv1dArgs& args) noexcept {
  const int64_t channels = args.x.shape[1], groups = (channels + kChannelsPerTask - 1) / kChannelsPerTask;
  const int64_t num_sequences = args.sequences.context_lens.shape[0];
  const int32_t* bounds = host_data<int32_t>(args.sequences.cu_seqlens);
  const int64_t rows_each = args.x.shape[0] / std::max<int64_t>(1, num_sequences) + 1;
  context.for_each(num_sequences * groups, rows_each * kChannelsPerTask * 4, [&](int64_t index, int) {
    const int64_t b = index / groups, first = index % groups * kChannelsPerTask;
    const ConvChannels conv(args, b, first, std::min(kChannelsPerTask, channels - first));
    conv.run(*context.kernels, bounds[b], bounds[b + 1] - bounds[b], at<float>(args.out, bounds[b]) + first,
             args.out.strides[0]);
    conv.write_tail();
  });
}

}  // namespace pagoda::device::cpu
