// embedding: a row of the table per token.
#include "args/embedding.h"

#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {

void GpuEncoder::record(const EmbeddingArgs& a) noexcept {
  if (!accept(a, a.ids)) return;
  const auto& table = static_cast<const GpuWeight&>(*a.table);
  const WeightLayout& layout = table.layout();
  pagoda_args::Embedding args{};
  args.out_stride = a.out.strides[0];
  args.cols = as_uint(table.cols());
  args.padded_cols = as_uint(layout.padded_cols);
  namespace plain = kernels::embedding;
  namespace packed = kernels::embedding_packed;
  namespace stored = kernels::embedding_stored;
  static constexpr KernelId kByFormat[] = {plain::f32, plain::f16, plain::bf16, packed::q8,
                                           packed::q4, stored::s4, stored::s8,  stored::s8f};
  args.scales = table.scales();
  const KernelId& kernel = kByFormat[static_cast<size_t>(table.kernel_format())];
  const uint32_t tokens = as_uint(a.out.shape[0]);
  if (is_stored(table.kernel_format()))
    launch(kernel, {{tokens}}, {a.ids, {table.buffer(), 0}, {table.buffer(), layout.steps_offset}, a.out}, args);
  else if (is_quantised(table.format()))
    launch(kernel, {{tokens}},
           {a.ids,
            {table.buffer(), 0},
            {table.buffer(), layout.steps_offset},
            {table.buffer(), layout.scales_offset},
            a.out},
           args);
  else launch(kernel, {{tokens}}, {a.ids, {table.buffer(), 0}, a.out}, args);
}

}  // namespace pagoda::device::gpu
