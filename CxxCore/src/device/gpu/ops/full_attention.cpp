// full_attention: attention to all positions of a sequence, one threadgroup per 64 rows of a head.
#include "device/gpu/gpu_encoder.h"

namespace pagoda::device::gpu {
namespace {

constexpr int64_t kTileRows = 64, kMaxDim = 128;
constexpr int64_t kVector = 8;  // elements that kernels read at once

// Whether every row of the cache is aligned for vectors.
bool has_aligned_rows(const Tensor& cache) noexcept {
  return cache.offset_bytes % 16 == 0 && (cache.strides[0] | cache.strides[1] | cache.strides[2]) % kVector == 0;
}

// The released towers have heads of 64 and 72 dims.
const KernelId& kernel_of(int64_t dim) noexcept {
  namespace full = kernels::full_attention;
  return dim <= 64 ? full::bf16_8 : dim <= 72 ? full::bf16_9 : full::bf16_16;
}

}  // namespace

// False if paged_attention has to do it.
bool GpuEncoder::full_attention(const PagedAttentionArgs& a, const pagoda_args::PagedAttention& args) noexcept {
  const bool is_plain = a.softcap == 0 && !a.sinks.is_present();
  if (a.k_cache.dtype != DType::bf16 || a.q.shape[2] > kMaxDim || !is_plain || !has_aligned_rows(a.k_cache) ||
      !has_aligned_rows(a.v_cache))
    return false;
  const SequenceArgs& s = a.sequences;
  launch(kernel_of(a.q.shape[2]), {{as_uint(a.q.shape[0] / kTileRows) + args.num_sequences, args.heads}},
         {a.q, a.k_cache, a.v_cache, s.cu_seqlens, s.context_lens, s.block_tables, a.out}, args);
  return true;
}

}  // namespace pagoda::device::gpu
