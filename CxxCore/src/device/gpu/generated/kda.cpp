// kda.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 7 "Shaders/kda.metal"
#include "device/gpu/generated/args_kda.h"
#include "device/gpu/generated/gdn.h"
# 12 "Shaders/kda.metal"
template <typename S, uint D>

MSL_KERNEL void kda(MSL_DEVICE const float* q ,
                MSL_DEVICE const float* k ,
                MSL_DEVICE const float* v ,
                MSL_DEVICE const float* a ,
                MSL_DEVICE const float* b ,
                MSL_DEVICE const float* a_log ,
                MSL_DEVICE const float* dt_bias ,
                MSL_DEVICE const int* cu_seqlens ,
                MSL_DEVICE const int* context_lens ,
                MSL_DEVICE const int* state_slots ,
                MSL_DEVICE S* state ,
                MSL_DEVICE float* k_rows ,
                MSL_DEVICE float* u_rows ,
                MSL_DEVICE float* g_rows ,
                MSL_DEVICE float* out ,
                MSL_CONSTANT pagoda_args::Kda& args ,
                uint3 tg ,
                uint tid ,
                uint sg ,
                uint lane ) {
  constexpr uint N = D / 32;
  MSL_TG_VAR(1, kn, [D], float)
  MSL_TG_VAR(2, decays, [D], float)
  MSL_TG_VAR(3, fk, [D], float)
  MSL_TG_VAR(4, fq, [D], float)
  MSL_TG_VAR(5, coef, [2*kBlock], float)
  MSL_TG_VAR(6, sums, [2*kGroups*kPanel], float)

  const uint head = tg.y;
  const int begin = cu_seqlens[tg.z];
  const int end = cu_seqlens[tg.z + 1];
  const bool is_one = end - begin == 1;
  if (!is_one && tg.x > 0) {
    return;
  }
  const uint first_panel = is_one ? tg.x : 0;
  const uint end_panel = is_one ? tg.x + 1 : (args.dv + kPanel - 1) / kPanel;
  const long slot = state_slots[tg.z];
  MSL_DEVICE S* s_head = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv;
  MSL_DEVICE float* k_old = k_rows + slot * args.k_rows_slot_stride + long(head) * kBlock * args.dk;
  MSL_DEVICE float* g_old = g_rows + slot * args.g_rows_slot_stride + long(head) * kBlock * args.dk;
  MSL_DEVICE float* u_head = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv;
  const float rate = precise::exp(a_log[head]);

  for (int t = begin; MSL_LOOP(t < end); ++t) {
    const long token = t;
    const uint row = uint(context_lens[tg.z] - end + t) % kBlock;
    float kx[N];
    float qx[N];
    float product[N];
    load_row<N>(k + token * args.k_stride + head * args.k_head_stride, args.dk, lane, kx);
    load_row<N>(q + token * args.q_stride + head * args.q_head_stride, args.dk, lane, qx);
    load_row<N>(a + token * args.a_stride + head * args.a_head_stride, args.dk, lane, product);
    const float k_inv = inverse_norm<N>(kx, lane);
    const float q_inv = inverse_norm<N>(qx, lane) * args.q_scale;

    for (uint i = 0; i < N; ++i) {
      const uint d = lane + 32 * i;
      kx[i] = kx[i] * k_inv;
      qx[i] = qx[i] * q_inv;
      if (d < args.dk) {
        product[i] = precise::exp(-rate * softplus(product[i] + dt_bias[head * args.dk + d]));
      }
      if (sg == 0) {
        kn[d] = kx[i];
        decays[d] = product[i];
      }
    }
    float own[1];
    own[0] = lane_dot<N>(kx, qx);
    const float own_dot = fold<1, 32>(own, lane);
    if (tid == 0) {
      coef[kBlock + row] = own_dot;
    }
    for (uint i = 0; MSL_LOOP(i < row); ++i) {
      const uint s = row - 1 - i;
      float kr[N];
      float gr[N];
      load_row<N>((MSL_DEVICE const float*)(k_old + s * args.dk), args.dk, lane, kr);
      load_row<N>((MSL_DEVICE const float*)(g_old + s * args.dk), args.dk, lane, gr);
      if (s % kGroups == sg) {

        for (uint j = 0; j < N; ++j) {
          kr[j] = kr[j] * product[j];
        }
        float both[2];
        both[0] = lane_dot<N>(kr, kx);
        both[1] = lane_dot<N>(kr, qx);
        const float dot = fold<2, 32>(both, lane);
        if (lane == 0) {
          coef[s] = -dot;
        }
        if (lane == 16) {
          coef[kBlock + s] = dot;
        }
      }

      for (uint j = 0; j < N; ++j) {
        product[j] = product[j] * gr[j];
      }
    }
    if (sg == 0) {

      for (uint i = 0; i < N; ++i) {
        fk[lane + 32 * i] = kx[i] * product[i];
        fq[lane + 32 * i] = qx[i] * product[i];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    const float beta = sigmoid(b[token * args.b_stride + head]);
    for (uint panel = first_panel; MSL_LOOP(panel < end_panel); ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      MSL_DEVICE const S* s_at = s_head + first * args.dk + min(lane, width - 1);
      float yk = 0.0f;
      float yq = 0.0f;
      for (uint d = sg; MSL_LOOP(d < args.dk); d += kGroups) {
        const float s = float(s_at[d * width]);
        yk = fma(s, fk[d], yk);
        yq = fma(s, fq[d], yq);
      }
      sums[sg * kPanel + lane] = yk;
      sums[(kGroups + sg) * kPanel + lane] = yq;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (sg == 0 && lane < width) {
        MSL_DEVICE float* u_at = u_head + first + lane;
        float u = v[token * args.v_stride + head * args.v_head_stride + first + lane];
        float o = 0.0f;

        for (uint i = 0; i < kGroups; ++i) {
          u = u - sums[i * kPanel + lane];
          o = o + sums[(kGroups + i) * kPanel + lane];
        }
        for (uint s = 0; MSL_LOOP(s < row); ++s) {
          const float u_s = u_at[s * args.dv];
          u = fma(coef[s], u_s, u);
          o = fma(coef[kBlock + s], u_s, o);
        }
        u = u * beta;
        u_at[row * args.dv] = u;
        out[token * args.out_stride + head * args.out_head_stride + first + lane] = fma(coef[kBlock + row], u, o);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (tg.x == 0) {
      for (uint d = tid; MSL_LOOP(d < args.dk); d += 128) {
        k_old[row * args.dk + d] = kn[d];
        g_old[row * args.dk + d] = decays[d];
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (row < kBlock - 1) {
      continue;
    }


    for (uint panel = first_panel; MSL_LOOP(panel < end_panel); ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      const uint column = min(lane, width - 1);
      float u[kBlock];

      for (uint s = 0; s < kBlock; ++s) {
        u[s] = u_head[s * args.dv + first + column];
      }
      for (uint d = sg; MSL_LOOP(d < args.dk); d += kGroups) {
        float faded = decays[d];
        float sum = kn[d] * u[kBlock - 1];

        for (uint i = 1; i < kBlock; ++i) {
          const uint s = kBlock - 1 - i;
          sum = fma(k_old[s * args.dk + d] * faded, u[s], sum);
          faded = faded * g_old[s * args.dk + d];
        }
        if (lane < width) {
          MSL_DEVICE S* at = s_head + first * args.dk + d * width + lane;
          *at = S(fma(float(*at), faded, sum));
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  }
}
# 1 "kda.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"a", 3, BindingKind::buffer, sizeof(float), false}, {"b", 4, BindingKind::buffer, sizeof(float), false}, {"a_log", 5, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 6, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 7, BindingKind::buffer, sizeof(int), false}, {"context_lens", 8, BindingKind::buffer, sizeof(int), false}, {"state_slots", 9, BindingKind::buffer, sizeof(int), false}, {"state", 10, BindingKind::buffer, sizeof(float), true}, {"k_rows", 11, BindingKind::buffer, sizeof(float), true}, {"u_rows", 12, BindingKind::buffer, sizeof(float), true}, {"g_rows", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::Kda), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; kda<float, 128>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::Kda*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; kda<float, 256>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::Kda*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"a", 3, BindingKind::buffer, sizeof(float), false}, {"b", 4, BindingKind::buffer, sizeof(float), false}, {"a_log", 5, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 6, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 7, BindingKind::buffer, sizeof(int), false}, {"context_lens", 8, BindingKind::buffer, sizeof(int), false}, {"state_slots", 9, BindingKind::buffer, sizeof(int), false}, {"state", 10, BindingKind::buffer, sizeof(bfloat), true}, {"k_rows", 11, BindingKind::buffer, sizeof(float), true}, {"u_rows", 12, BindingKind::buffer, sizeof(float), true}, {"g_rows", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"args", 15, BindingKind::values, sizeof(pagoda_args::Kda), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; kda<bfloat, 128>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (bfloat*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::Kda*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; kda<bfloat, 256>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (bfloat*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], *(const pagoda_args::Kda*)in.buffers[15], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"kda_f32_128", "kda", msl_bindings_0, {}, 128, msl_entry_0},
  {"kda_f32_256", "kda", msl_bindings_0, {}, 128, msl_entry_1},
  {"kda_bf16_128", "kda", msl_bindings_1, {}, 128, msl_entry_2},
  {"kda_bf16_256", "kda", msl_bindings_1, {}, 128, msl_entry_3},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> kda_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
