// The text of embedding.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource embedding_source() noexcept {
  return {"embedding",
R"msl(#include "args/embedding.h"
#include "stored.h"
template <typename T>
kernel void embedding(device const int* ids [[buffer(0)]],
                      device const T* table [[buffer(1)]],
                      device float* out [[buffer(2)]],
                      constant pagoda_args::Embedding& args [[buffer(3)]],
                      uint token [[threadgroup_position_in_grid]],
                      uint tid [[thread_index_in_threadgroup]],
                      uint num_threads [[threads_per_threadgroup]]) {
  device const T* row = table + ulong(ids[token]) * args.padded_cols;
  device float* to = out + long(token) * args.out_stride;
  for (uint i = tid; i < args.cols; i += num_threads) {
    to[i] = float(row[i]);
  }
}
MSL_INSTANCE(embedding_f32, embedding, float)
MSL_INSTANCE(embedding_f16, embedding, half)
MSL_INSTANCE(embedding_bf16, embedding, bfloat)
template <uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void embedding_packed(device const int* ids [[buffer(0)]],
                             device const uint* table [[buffer(1)]],
                             device const uchar* steps [[buffer(2)]],
                             device const float* scales [[buffer(3)]],
                             device float* out [[buffer(4)]],
                             constant pagoda_args::Embedding& args [[buffer(5)]],
                             uint token [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint PER_WORD = 32 / BITS;
  const ulong id = ulong(ids[token]);
  const float scale = scales[id];
  for (uint i = tid; i < args.cols; i += 128) {
    const ulong at = id * args.padded_cols + i;
    const uint word = table[at / PER_WORD];
    const uint pair = i % PER_WORD / 2;
    float value;
    if (BITS == 8) {
      value = shifted_byte(word >> (16 * (i % 2) + 8 * pair) & 255u, steps[at / 32]);
    } else {
      value = stepped_nibble(word >> (16 * (i % 2) + 4 * pair) & 15u, steps[at / 32 * 2], steps[at / 32 * 2 + 1]);
    }
    out[long(token) * args.out_stride + i] = value * scale;
  }
}
MSL_INSTANCE(embedding_packed_q8, embedding_packed, 8)
MSL_INSTANCE(embedding_packed_q4, embedding_packed, 4)
template <uint BITS>
[[max_total_threads_per_threadgroup(128)]]
kernel void embedding_stored(device const int* ids [[buffer(0)]],
                             device const uint* table [[buffer(1)]],
                             device const ushort* steps [[buffer(2)]],
                             device float* out [[buffer(3)]],
                             constant pagoda_args::Embedding& args [[buffer(4)]],
                             uint token [[threadgroup_position_in_grid]],
                             uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint SPAN = BITS > 200 ? 16 : 32;
  const ulong row = ulong(ids[token]) * args.padded_cols;
  for (uint i = tid; i < args.cols; i += 128) {
    const uint quarter = i % SPAN / (SPAN / 4);
    const ulong at = row + i / kChunk * kChunk + quarter * 16;
    uint code = i % kChunk / SPAN * (SPAN / 4) + i % (SPAN / 4);
    if ((args.scales.kind & kFloatCodes) != 0) {
      code = (code & 12u) + code % 2 * 2 + code % 4 / 2;
    }
    uint word;
    if (BITS == kStored4) {
      word = table[at / 8 + code / 8] >> (16 * (code % 2) + code % 8 / 2 * 4) & 15u;
    } else {
      word = table[at / 4 + code / 4] >> (8 * (code % 4)) & 255u;
    }
    Share<BITS> share;
    float terms[BITS > 200 ? 8 : 4];
    load_share(table, steps, args.scales, at, 0, share);
    share_terms(share, args.scales, terms);
    const uint group = i % kChunk / SPAN;
    const float product = terms[group] * stored_number(word, args.scales);
    out[long(token) * args.out_stride + i] =
        (args.scales.kind & kHasMins) != 0 ? product + terms[kChunk / SPAN + group] : product;
  }
}
MSL_INSTANCE(embedding_stored_s4, embedding_stored, kStored4)
MSL_INSTANCE(embedding_stored_s8, embedding_stored, kStored8)
MSL_INSTANCE(embedding_stored_s8f, embedding_stored, kFine8)
)msl",
R"msl(#define MSL_KERNEL_embedding(BOUNDS, T) MSL_GLOBAL(BOUNDS)(const int* ids, const T* table, float* out, const pagoda_args::Embedding args) { msl_let_dependents_begin(); msl_wait_for_inputs(); embedding<T>(ids, table, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_threads_per_threadgroup())); }
#define MSL_KERNEL_embedding_packed(BOUNDS, BITS) MSL_GLOBAL(BOUNDS)(const int* ids, const uint* table, const uchar* steps, const float* scales, float* out, const pagoda_args::Embedding args) { msl_let_dependents_begin(); msl_wait_for_inputs(); embedding_packed<BITS>(ids, table, steps, scales, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_KERNEL_embedding_stored(BOUNDS, BITS) MSL_GLOBAL(BOUNDS)(const int* ids, const uint* table, const ushort* steps, float* out, const pagoda_args::Embedding args) { msl_let_dependents_begin(); msl_wait_for_inputs(); embedding_stored<BITS>(ids, table, steps, out, args, msl_builtin<uint>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup())); }
#define MSL_ENTRY_embedding_f32 MSL_KERNEL_embedding((1024), float)
#define MSL_ENTRY_embedding_f16 MSL_KERNEL_embedding((1024), half)
#define MSL_ENTRY_embedding_bf16 MSL_KERNEL_embedding((1024), bfloat)
#define MSL_ENTRY_embedding_packed_q8 MSL_KERNEL_embedding_packed((128), 8)
#define MSL_ENTRY_embedding_packed_q4 MSL_KERNEL_embedding_packed((128), 4)
#define MSL_ENTRY_embedding_stored_s4 MSL_KERNEL_embedding_stored((128), kStored4)
#define MSL_ENTRY_embedding_stored_s8 MSL_KERNEL_embedding_stored((128), kStored8)
#define MSL_ENTRY_embedding_stored_s8f MSL_KERNEL_embedding_stored((128), kFine8)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
