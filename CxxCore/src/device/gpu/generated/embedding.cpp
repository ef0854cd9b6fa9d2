// embedding.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/embedding.metal"
#include "device/gpu/generated/args_embedding.h"
#include "device/gpu/generated/stored.h"


template <typename T>
MSL_KERNEL void embedding(MSL_DEVICE const int* ids ,
                      MSL_DEVICE const T* table ,
                      MSL_DEVICE float* out ,
                      MSL_CONSTANT pagoda_args::Embedding& args ,
                      uint token ,
                      uint tid ,
                      uint num_threads ) {
  MSL_DEVICE const T* row = table + ulong(ids[token]) * args.padded_cols;
  MSL_DEVICE float* to = out + long(token) * args.out_stride;
  for (uint i = tid; MSL_LOOP(i < args.cols); i += num_threads) {
    to[i] = float(row[i]);
  }
}
# 26 "Shaders/embedding.metal"
template <uint BITS>

MSL_KERNEL void embedding_packed(MSL_DEVICE const int* ids ,
                             MSL_DEVICE const uint* table ,
                             MSL_DEVICE const uchar* steps ,
                             MSL_DEVICE const float* scales ,
                             MSL_DEVICE float* out ,
                             MSL_CONSTANT pagoda_args::Embedding& args ,
                             uint token ,
                             uint tid ) {
  constexpr uint PER_WORD = 32 / BITS;
  const ulong id = ulong(ids[token]);
  const float scale = scales[id];
  for (uint i = tid; MSL_LOOP(i < args.cols); i += 128) {
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
# 57 "Shaders/embedding.metal"
template <uint BITS>

MSL_KERNEL void embedding_stored(MSL_DEVICE const int* ids ,
                             MSL_DEVICE const uint* table ,
                             MSL_DEVICE const ushort* steps ,
                             MSL_DEVICE float* out ,
                             MSL_CONSTANT pagoda_args::Embedding& args ,
                             uint token ,
                             uint tid ) {
  constexpr uint SPAN = BITS > 200 ? 16 : 32;
  const ulong row = ulong(ids[token]) * args.padded_cols;
  for (uint i = tid; MSL_LOOP(i < args.cols); i += 128) {
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
# 1 "embedding.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"table", 1, BindingKind::buffer, sizeof(float), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Embedding), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding<float>((const int*)in.buffers[0], (const float*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::Embedding*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"table", 1, BindingKind::buffer, sizeof(half), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Embedding), false}};
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding<half>((const int*)in.buffers[0], (const half*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::Embedding*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup)); }
constexpr BindingInfo msl_bindings_2[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"table", 1, BindingKind::buffer, sizeof(bfloat), false}, {"out", 2, BindingKind::buffer, sizeof(float), true}, {"args", 3, BindingKind::values, sizeof(pagoda_args::Embedding), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding<bfloat>((const int*)in.buffers[0], (const bfloat*)in.buffers[1], (float*)in.buffers[2], *(const pagoda_args::Embedding*)in.buffers[3], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.threads_per_threadgroup)); }
constexpr BindingInfo msl_bindings_3[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"table", 1, BindingKind::buffer, sizeof(uint), false}, {"steps", 2, BindingKind::buffer, sizeof(uchar), false}, {"scales", 3, BindingKind::buffer, sizeof(float), false}, {"out", 4, BindingKind::buffer, sizeof(float), true}, {"args", 5, BindingKind::values, sizeof(pagoda_args::Embedding), false}};
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding_packed<8>((const int*)in.buffers[0], (const uint*)in.buffers[1], (const uchar*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::Embedding*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding_packed<4>((const int*)in.buffers[0], (const uint*)in.buffers[1], (const uchar*)in.buffers[2], (const float*)in.buffers[3], (float*)in.buffers[4], *(const pagoda_args::Embedding*)in.buffers[5], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr BindingInfo msl_bindings_4[] = {{"ids", 0, BindingKind::buffer, sizeof(int), false}, {"table", 1, BindingKind::buffer, sizeof(uint), false}, {"steps", 2, BindingKind::buffer, sizeof(ushort), false}, {"out", 3, BindingKind::buffer, sizeof(float), true}, {"args", 4, BindingKind::values, sizeof(pagoda_args::Embedding), false}};
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding_stored<kStored4>((const int*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::Embedding*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding_stored<kStored8>((const int*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::Embedding*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; embedding_stored<kFine8>((const int*)in.buffers[0], (const uint*)in.buffers[1], (const ushort*)in.buffers[2], (float*)in.buffers[3], *(const pagoda_args::Embedding*)in.buffers[4], msl_builtin<uint>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"embedding_f32", "embedding", msl_bindings_0, {}, 1024, msl_entry_0},
  {"embedding_f16", "embedding", msl_bindings_1, {}, 1024, msl_entry_1},
  {"embedding_bf16", "embedding", msl_bindings_2, {}, 1024, msl_entry_2},
  {"embedding_packed_q8", "embedding", msl_bindings_3, {}, 128, msl_entry_3},
  {"embedding_packed_q4", "embedding", msl_bindings_3, {}, 128, msl_entry_4},
  {"embedding_stored_s4", "embedding", msl_bindings_4, {}, 128, msl_entry_5},
  {"embedding_stored_s8", "embedding", msl_bindings_4, {}, 128, msl_entry_6},
  {"embedding_stored_s8f", "embedding", msl_bindings_4, {}, 128, msl_entry_7},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> embedding_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
