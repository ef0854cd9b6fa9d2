// gdn_prepare.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 3 "Shaders/gdn_prepare.metal"
#include "device/gpu/generated/gdn.h"
# 8 "Shaders/gdn_prepare.metal"
template <uint D>

MSL_KERNEL void gdn_prepare(MSL_DEVICE const float* q ,
                        MSL_DEVICE const float* k ,
                        MSL_DEVICE const float* a ,
                        MSL_DEVICE const float* b ,
                        MSL_DEVICE const float* a_log ,
                        MSL_DEVICE const float* dt_bias ,
                        MSL_DEVICE const int* cu_seqlens ,
                        MSL_DEVICE const int* context_lens ,
                        MSL_DEVICE const int* state_slots ,
                        MSL_DEVICE const float* k_rows ,
                        MSL_DEVICE const float* g_rows ,
                        MSL_DEVICE float* rows ,
                        MSL_DEVICE float* gates ,
                        MSL_CONSTANT pagoda_args::Gdn& args ,
                        uint2 tg ,
                        uint tid ,
                        uint sg ,
                        uint lane ) {
  constexpr uint N = D / 32;
  constexpr uint EACH = kBlock / kGroups;
  MSL_TG_VAR(1, k_tile, [kBlock*D], float)
  MSL_TG_VAR(2, dots, [2*kBlock*kBlock], float)

  uint seq = 0;
  uint end = args.num_sequences;
  while (MSL_LOOP(end - seq > 1)) {
    const uint middle = (seq + end) / 2;
    if (first_block(cu_seqlens, middle) <= tg.x) {
      seq = middle;
    } else {
      end = middle;
    }
  }
  const int begin = cu_seqlens[seq];
  const int tokens = cu_seqlens[seq + 1] - begin;
  const int start = (context_lens[seq] - tokens) % int(kBlock);
  const int row0 = int((tg.x - first_block(cu_seqlens, seq)) * kBlock) - start;
  if (tokens == 1 || row0 >= tokens) {
    return;
  }
  const long slot = state_slots[seq];
  const uint lo = uint(max(0, -row0));
  const uint hi = uint(min(int(kBlock), tokens - row0));
  MSL_DEVICE float* kn = rows + (long(tg.x) * args.k_heads + tg.y) * 2 * kBlock * D;
  MSL_DEVICE float* qn = kn + kBlock * D;
  MSL_DEVICE const float* k_old = k_rows + slot * args.k_rows_slot_stride + long(tg.y) * kBlock * args.dk;

  float kx[EACH][N];
  float qx[EACH][N];

  for (uint j = 0; j < EACH; ++j) {
    const uint t = sg * EACH + j;

    for (uint i = 0; i < N; ++i) {
      kx[j][i] = 0.0f;
      qx[j][i] = 0.0f;
    }
    if (t < lo) {
      load_row<N>(k_old + t * args.dk, args.dk, lane, kx[j]);
    } else if (t < hi) {
      const long token = begin + row0 + int(t);
      load_row<N>(k + token * args.k_stride + tg.y * args.k_head_stride, args.dk, lane, kx[j]);
      load_row<N>(q + token * args.q_stride + tg.y * args.q_head_stride, args.dk, lane, qx[j]);
    }
  }

  for (uint j = 0; j < EACH; ++j) {
    const uint t = sg * EACH + j;
    const bool is_new = t >= lo && t < hi;
    const float k_inv = inverse_norm<N>(kx[j], lane);
    const float q_inv = inverse_norm<N>(qx[j], lane) * args.q_scale;

    for (uint i = 0; i < N; ++i) {
      kx[j][i] = is_new ? kx[j][i] * k_inv : kx[j][i];
      qx[j][i] = qx[j][i] * q_inv;
      k_tile[t * D + lane + 32 * i] = kx[j][i];
      kn[t * D + lane + 32 * i] = kx[j][i];
      qn[t * D + lane + 32 * i] = qx[j][i];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
# 94 "Shaders/gdn_prepare.metal"
  for (uint j = 0; j < EACH; ++j) {
    float x[2 * kBlock];

    for (uint s = 0; s < kBlock; ++s) {
      float ks[N];

      for (uint i = 0; i < N; ++i) {
        ks[i] = k_tile[s * D + lane + 32 * i];
      }
      x[s] = lane_dot<N>(ks, kx[j]);
      x[kBlock + s] = lane_dot<N>(ks, qx[j]);
    }
    dots[lane * kBlock + sg * EACH + j] = fold<2 * kBlock, 32>(x, lane);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint group = args.v_heads / args.k_heads;
  const uint t = lane % kBlock;
  for (uint j = 0; MSL_LOOP(j < group); ++j) {
    const uint head = tg.y * group + j;
    MSL_DEVICE float* to = gates + (long(tg.x) * args.v_heads + head) * kGateFloats;
    const bool is_new = t >= lo && t < hi;
    const float g_old = t < lo ? g_rows[slot * args.g_rows_slot_stride + head * kBlock + t] : 0.0f;
    float log_decay = 0.0f;
    float beta = 0.0f;
    if (is_new) {
      const long token = begin + row0 + int(t);
      log_decay = softplus(a[token * args.a_stride + head] + dt_bias[head]);
      beta = sigmoid(b[token * args.b_stride + head]) * args.beta_scale;
    }
    const float rate = precise::exp(a_log[head]);
    float running = 0.0f;
    float g = 0.0f;
    for (uint r = 0; MSL_LOOP(r < kBlock); ++r) {
      const float x = simd_shuffle(log_decay, ushort(r));
      const float old = simd_shuffle(g_old, ushort(r));
      running = r < lo ? old : next_g(running, rate, x);
      g = r == t ? running : g;
    }
    const float g_last = simd_shuffle(g, ushort(kBlock - 1));
    if (tid < kBlock) {
      to[t] = g;
      to[kBetas + t] = beta;
      to[kWeights + t] = precise::exp(g_last - g);
      to[kDecays + t] = precise::exp(g);
    }

    for (uint i = tid; i < kBlock * kBlock; i += 128) {
      const uint s = i / kBlock;
      const float g_s = simd_shuffle(g, ushort(s));
      float c_u = 0.0f;
      float c_o = 0.0f;

      if (s <= t && is_new) {
        c_u = u_coefficient(dots[i], g, g_s);
        c_o = o_coefficient(dots[kBlock * kBlock + i], g, g_s);
      }
      to[kCoefficients + i] = c_u;
      to[kCoefficients + kBlock * kBlock + i] = c_o;
    }
  }
}
# 1 "gdn_prepare.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"a", 2, BindingKind::buffer, sizeof(float), false}, {"b", 3, BindingKind::buffer, sizeof(float), false}, {"a_log", 4, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 5, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 6, BindingKind::buffer, sizeof(int), false}, {"context_lens", 7, BindingKind::buffer, sizeof(int), false}, {"state_slots", 8, BindingKind::buffer, sizeof(int), false}, {"k_rows", 9, BindingKind::buffer, sizeof(float), false}, {"g_rows", 10, BindingKind::buffer, sizeof(float), false}, {"rows", 11, BindingKind::buffer, sizeof(float), true}, {"gates", 12, BindingKind::buffer, sizeof(float), true}, {"args", 13, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prepare<128>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const int*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const float*)in.buffers[9], (const float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], *(const pagoda_args::Gdn*)in.buffers[13], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_prepare<256>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const int*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const float*)in.buffers[9], (const float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], *(const pagoda_args::Gdn*)in.buffers[13], msl_builtin<uint2>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"gdn_prepare_128", "gdn_prepare", msl_bindings_0, {}, 128, msl_entry_0},
  {"gdn_prepare_256", "gdn_prepare", msl_bindings_0, {}, 128, msl_entry_1},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gdn_prepare_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
