// The text of kda.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
KernelSource kda_source() noexcept {
  return {"kda",
R"msl(#include "args/kda.h"
#include "gdn.h"
template <typename S, uint D>
[[max_total_threads_per_threadgroup(128)]]
kernel void kda(device const float* q [[buffer(0)]],
                device const float* k [[buffer(1)]],
                device const float* v [[buffer(2)]],
                device const float* a [[buffer(3)]],
                device const float* b [[buffer(4)]],
                device const float* a_log [[buffer(5)]],
                device const float* dt_bias [[buffer(6)]],
                device const int* cu_seqlens [[buffer(7)]],
                device const int* context_lens [[buffer(8)]],
                device const int* state_slots [[buffer(9)]],
                device S* state [[buffer(10)]],
                device float* k_rows [[buffer(11)]],
                device float* u_rows [[buffer(12)]],
                device float* g_rows [[buffer(13)]],
                device float* out [[buffer(14)]],
                constant pagoda_args::Kda& args [[buffer(15)]],
                uint3 tg [[threadgroup_position_in_grid]],
                uint tid [[thread_index_in_threadgroup]],
                uint sg [[simdgroup_index_in_threadgroup]],
                uint lane [[thread_index_in_simdgroup]]) {
  constexpr uint N = D / 32;
  MSL_SHARED float kn[D];
  MSL_SHARED float decays[D];
  MSL_SHARED float fk[D];
  MSL_SHARED float fq[D];
  MSL_SHARED float coef[2 * kBlock];
  MSL_SHARED float sums[2 * kGroups * kPanel];
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
  device S* s_head = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv;
  device float* k_old = k_rows + slot * args.k_rows_slot_stride + long(head) * kBlock * args.dk;
  device float* g_old = g_rows + slot * args.g_rows_slot_stride + long(head) * kBlock * args.dk;
  device float* u_head = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv;
  const float rate = precise::exp(a_log[head]);
  for (int t = begin; t < end; ++t) {
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
    #pragma unroll
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
    for (uint i = 0; i < row; ++i) {
      const uint s = row - 1 - i;
      float kr[N];
      float gr[N];
      load_row<N>((device const float*)(k_old + s * args.dk), args.dk, lane, kr);
      load_row<N>((device const float*)(g_old + s * args.dk), args.dk, lane, gr);
      if (s % kGroups == sg) {
        #pragma unroll
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
      #pragma unroll
      for (uint j = 0; j < N; ++j) {
        product[j] = product[j] * gr[j];
      }
    }
    if (sg == 0) {
      #pragma unroll
      for (uint i = 0; i < N; ++i) {
        fk[lane + 32 * i] = kx[i] * product[i];
        fq[lane + 32 * i] = qx[i] * product[i];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float beta = sigmoid(b[token * args.b_stride + head]);
    for (uint panel = first_panel; panel < end_panel; ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      device const S* s_at = s_head + first * args.dk + min(lane, width - 1);
      float yk = 0.0f;
      float yq = 0.0f;
      for (uint d = sg; d < args.dk; d += kGroups) {
        const float s = float(s_at[d * width]);
        yk = fma(s, fk[d], yk);
        yq = fma(s, fq[d], yq);
      }
      sums[sg * kPanel + lane] = yk;
      sums[(kGroups + sg) * kPanel + lane] = yq;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (sg == 0 && lane < width) {
        device float* u_at = u_head + first + lane;
        float u = v[token * args.v_stride + head * args.v_head_stride + first + lane];
        float o = 0.0f;
        #pragma unroll
        for (uint i = 0; i < kGroups; ++i) {
          u = u - sums[i * kPanel + lane];
          o = o + sums[(kGroups + i) * kPanel + lane];
        }
        for (uint s = 0; s < row; ++s) {
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
      for (uint d = tid; d < args.dk; d += 128) {
        k_old[row * args.dk + d] = kn[d];
        g_old[row * args.dk + d] = decays[d];
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (row < kBlock - 1) {
      continue;
    }
    for (uint panel = first_panel; panel < end_panel; ++panel) {
      const uint first = panel * kPanel;
      const uint width = min(kPanel, args.dv - first);
      const uint column = min(lane, width - 1);
      float u[kBlock];
      #pragma unroll
      for (uint s = 0; s < kBlock; ++s) {
        u[s] = u_head[s * args.dv + first + column];
      }
      for (uint d = sg; d < args.dk; d += kGroups) {
        float faded = decays[d];
        float sum = kn[d] * u[kBlock - 1];
        #pragma unroll
        for (uint i = 1; i < kBlock; ++i) {
          const uint s = kBlock - 1 - i;
          sum = fma(k_old[s * args.dk + d] * faded, u[s], sum);
          faded = faded * g_old[s * args.dk + d];
        }
        if (lane < width) {
          device S* at = s_head + first * args.dk + d * width + lane;
          *at = S(fma(float(*at), faded, sum));
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  }
}
MSL_INSTANCE(kda_f32_128, kda, float, 128)
MSL_INSTANCE(kda_f32_256, kda, float, 256)
MSL_INSTANCE(kda_bf16_128, kda, bfloat, 128)
MSL_INSTANCE(kda_bf16_256, kda, bfloat, 256)
)msl",
R"msl(#define MSL_KERNEL_kda(BOUNDS, S, D) MSL_GLOBAL(BOUNDS)(const float* q, const float* k, const float* v, const float* a, const float* b, const float* a_log, const float* dt_bias, const int* cu_seqlens, const int* context_lens, const int* state_slots, S* state, float* k_rows, float* u_rows, float* g_rows, float* out, const pagoda_args::Kda args) { msl_let_dependents_begin(); msl_wait_for_inputs(); kda<S, D>(q, k, v, a, b, a_log, dt_bias, cu_seqlens, context_lens, state_slots, state, k_rows, u_rows, g_rows, out, args, msl_builtin<uint3>(msl_threadgroup_position_in_grid()), msl_builtin<uint>(msl_thread_index_in_threadgroup()), msl_builtin<uint>(msl_simdgroup_index_in_threadgroup()), msl_builtin<uint>(msl_thread_index_in_simdgroup())); }
#define MSL_ENTRY_kda_f32_128 MSL_KERNEL_kda((128), float, 128)
#define MSL_ENTRY_kda_f32_256 MSL_KERNEL_kda((128), float, 256)
#define MSL_ENTRY_kda_bf16_128 MSL_KERNEL_kda((128), bfloat, 128)
#define MSL_ENTRY_kda_bf16_256 MSL_KERNEL_kda((128), bfloat, 256)
)msl"};
}
}  // namespace pagoda::device::gpu::generated
