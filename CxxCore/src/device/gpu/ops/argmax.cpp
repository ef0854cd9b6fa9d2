// argmax: one threadgroup per part of a row, then one per row.
#include "args/argmax.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const ArgmaxArgs& a) noexcept {
  const int64_t rows = a.logits.shape[0], vocab = a.logits.shape[1];
  if (!check_scratch(ScratchSizes::argmax(rows, vocab), "argmax")) return;
  pagoda_args::Argmax args{};
  args.logits_stride = a.logits.strides[0];
  args.vocab = as_uint(vocab);
  args.parts = as_uint(ceil_divide(vocab, kArgmaxPart));
  args.part_size = as_uint(kArgmaxPart);
  launch(kernels::argmax_parts::kernel, {{args.parts, as_uint(rows)}, 256}, {a.logits, scratch_.found}, args);
  launch(kernels::argmax::kernel, {{as_uint(rows)}, 256}, {scratch_.found, a.tokens}, args);
}

}  // namespace pagoda::device::gpu
