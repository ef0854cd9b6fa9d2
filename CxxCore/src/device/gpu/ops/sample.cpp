// sample: one threadgroup per part of a row keeps its most likely tokens, then one per row draws among those.
#include "args/sample.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

static_assert(sizeof(Draw) == sizeof(pagoda_args::SampleRow));
static_assert(offsetof(Draw, random) == offsetof(pagoda_args::SampleRow, random));
static_assert(offsetof(Draw, temperature) == offsetof(pagoda_args::SampleRow, temperature));
static_assert(offsetof(Draw, top_k) == offsetof(pagoda_args::SampleRow, top_k));

void GpuEncoder::sample(const SampleArgs& a) noexcept {
  const int64_t rows = a.logits.shape[0], vocab = a.logits.shape[1];
  if (!check_scratch(ScratchSizes::sample(rows, vocab), "sample")) return;
  pagoda_args::Sample args{};
  args.logits_stride = a.logits.strides[0];
  args.vocab = as_uint(vocab);
  args.parts = as_uint(ceil_divide(vocab, kSamplePart));
  launch(kernels::sample_parts::kernel, {{args.parts, as_uint(rows)}, 256}, {a.logits, a.draws, scratch_.found}, args);
  launch(kernels::sample::kernel, {{as_uint(rows)}, 256}, {scratch_.found, a.draws, a.tokens}, args);
}

}  // namespace pagoda::device::gpu
