// gdn_decode.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.
#include "device/gpu/shim/software/msl.h"
namespace metal {
namespace {
# 2 "Shaders/gdn_decode.metal"
#include "device/gpu/generated/conv.h"
#include "device/gpu/generated/gdn.h"
# 9 "Shaders/gdn_decode.metal"
template <typename S, uint D, bool CONV>

MSL_KERNEL void gdn_decode(MSL_DEVICE const float* q ,
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
                       MSL_DEVICE const float* conv_x ,
                       MSL_DEVICE const float* conv_weight ,
                       MSL_DEVICE float* conv_tail ,
                       MSL_CONSTANT pagoda_args::Gdn& args ,
                       uint3 tg ,
                       uint tid ,
                       uint sg ,
                       uint lane ) {
  constexpr uint PER = D / kSplit;
  constexpr uint N = D / 32;
  constexpr uint EACH = kBlock / kGroups;
  MSL_TG_VAR(1, kn, [D], float)
  MSL_TG_VAR(2, qn, [D], float)
  MSL_TG_VAR(3, coef, [2*kBlock], float)
  MSL_TG_VAR(4, raw, [CONV?2*D:1], float)

  const uint head = tg.y;
  const long token = cu_seqlens[tg.z];
  if (cu_seqlens[tg.z + 1] - int(token) != 1) {
    return;
  }
  const long slot = state_slots[tg.z];
  const uint row = uint(context_lens[tg.z] - 1) % kBlock;
  const uint group = args.v_heads / args.k_heads;
  const uint k_head = head / group;
  const uint part = lane % kSplit;
  const uint kind = part / 4;
  const uint first = tg.x * kPanel;
  const uint width = min(kPanel, args.dv - first);
  const uint mine = part / 2 % 2;
  const uint pair = sg * 8 + lane / kSplit * 2;
  const uint column = first + min(pair + mine, width - 1);
  const bool is_inside = pair + mine < width;

  MSL_DEVICE S* s_at = state + slot * args.state_slot_stride + long(head) * args.dk * args.dv + first * args.dk;
  float s[2][PER];
  if (args.is_wide != 0) {

    for (uint i = 0; i < PER; ++i) {
      const float2 both = load_pair((MSL_DEVICE const S*)(s_at + dim_of(part, i) * kPanel + pair));
      s[0][i] = both.x;
      s[1][i] = both.y;
    }
  } else {
    load_state<S, PER>((MSL_DEVICE const S*)(s_at + pair), width, pair < width ? args.dk : 0, part, s[0]);
    load_state<S, PER>((MSL_DEVICE const S*)(s_at + pair + 1), width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
  const int position = context_lens[tg.z] - 1;
  MSL_DEVICE const float* inputs = conv_x + token * args.conv.x_stride;
  MSL_DEVICE float* past = conv_tail + slot * args.conv.tail_slot_stride;
  if (CONV) {
    const bool is_first = tg.x == 0 && head % group == 0;
    for (uint d = tid; MSL_LOOP(d < args.dk); d += 128) {

      for (uint i = 0; i < 2; ++i) {
        const uint channel = (i == 0 ? args.k_channel : args.q_channel) + k_head * args.dk + d;
        raw[i * D + d] = conv_row(inputs + channel, (MSL_DEVICE const float*)(past + channel), conv_weight + channel,
                                  args.conv, position, 0);
        if (is_first) {
          past[tail_offset(args.conv, position) + channel] = inputs[channel];
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  float kx[N];
  float qx[N];
  if (CONV) {

    for (uint i = 0; i < N; ++i) {
      const uint d = lane + 32 * i;
      kx[i] = 0.0f;
      qx[i] = 0.0f;
      if (d < args.dk) {
        kx[i] = raw[d];
        qx[i] = raw[D + d];
      }
    }
  } else {
    load_row<N>(k + token * args.k_stride + k_head * args.k_head_stride, args.dk, lane, kx);
    load_row<N>(q + token * args.q_stride + k_head * args.q_head_stride, args.dk, lane, qx);
  }
  MSL_DEVICE float* k_old = k_rows + slot * args.k_rows_slot_stride + long(k_head) * kBlock * args.dk;
  MSL_DEVICE float* g_old = g_rows + slot * args.g_rows_slot_stride + head * kBlock;
  MSL_DEVICE float* u_at = u_rows + slot * args.u_rows_slot_stride + long(head) * kBlock * args.dv + column;
  float kr[EACH][N];
  float u_old[kBlock];

  for (uint i = 0; i < EACH; ++i) {

    for (uint j = 0; j < N; ++j) {
      kr[i][j] = 0.0f;
    }
    if (sg * EACH + i < row) {
      load_row<N>((MSL_DEVICE const float*)(k_old + (sg * EACH + i) * args.dk), args.dk, lane, kr[i]);
    }
  }

  for (uint r = 0; r < kBlock; ++r) {
    u_old[r] = 0.0f;
    if (r < row) {
      u_old[r] = u_at[r * args.dv];
    }
  }
  const uint dot_row = sg * EACH + lane / 4 % EACH;
  const float g_row = dot_row < row ? g_old[dot_row] : 0.0f;
  const float g_before = row > 0 ? g_old[row - 1] : 0.0f;
  const uint v_channel = args.v_channel + head * args.dv + column;
  const float v_in = CONV ? conv_row(inputs + v_channel, (MSL_DEVICE const float*)(past + v_channel),
                                     conv_weight + v_channel, args.conv, position, 0)
                          : v[token * args.v_stride + head * args.v_head_stride + column];
  const float a_in = a[token * args.a_stride + head];
  const float b_in = b[token * args.b_stride + head];
  const float rate_log = a_log[head];
  const float bias = dt_bias[head];

  const float g = next_g(g_before, precise::exp(rate_log), softplus(a_in + bias));
  const float decay = precise::exp(g);
  const float beta = sigmoid(b_in) * args.beta_scale;
  const float k_inv = inverse_norm<N>(kx, lane);
  const float q_inv = inverse_norm<N>(qx, lane) * args.q_scale;

  for (uint i = 0; i < N; ++i) {
    kx[i] = kx[i] * k_inv;
    qx[i] = qx[i] * q_inv;
    if (sg == 0) {
      kn[lane + 32 * i] = kx[i];
      qn[lane + 32 * i] = qx[i];
    }
  }
  float dots[2 * EACH];

  for (uint i = 0; i < EACH; ++i) {
    const uint is_own = 0u - uint(sg * EACH + i == row);

    for (uint j = 0; j < N; ++j) {
      kr[i][j] = pick(is_own, kx[j], kr[i][j]);
    }
    dots[i] = lane_dot<N>(kr[i], kx);
    dots[EACH + i] = lane_dot<N>(kr[i], qx);
  }
  const float dot = fold<2 * EACH, 32>(dots, lane);
  if (lane % 4 == 0) {
    const float g_s = dot_row < row ? g_row : g;
    coef[lane / 16 * kBlock + dot_row] = lane < 16 ? u_coefficient(dot, g, g_s) : o_coefficient(dot, g, g_s);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float k_part[PER];
  float q_part[PER];
  load_part<PER>((MSL_THREADGROUP const float*)(kn), part, k_part);
  load_part<PER>((MSL_THREADGROUP const float*)(qn), part, q_part);
  const float y = state_times<2, PER>(s, k_part, q_part, lane);
  float acc = begin_row(kind, decay, y, v_in);

  for (uint r = 0; r < kBlock; ++r) {

    if (r < row) {
      acc = fma(coef[kind * kBlock + r], u_old[r], acc);
    }
  }
  const float u = from_first_half(acc * beta, lane);
  if (part % 2 == 0 && is_inside) {
    if (kind == 1) {
      out[token * args.out_stride + head * args.out_head_stride + column] = fma(coef[kBlock + row], u, acc);
    } else {
      u_at[row * args.dv] = u;
      if (CONV) {
        past[tail_offset(args.conv, position) + v_channel] = inputs[v_channel];
      }
    }
  }
  if (tg.x == 0) {
    if (head % group == 0) {
      for (uint d = tid; MSL_LOOP(d < args.dk); d += 128) {
        k_old[row * args.dk + d] = kn[d];
      }
    }
    if (tid == 0) {
      g_old[row] = g;
    }
  }
  if (row < kBlock - 1) {
    return;
  }


  scale_state<PER>(s[0], decay);
  scale_state<PER>(s[1], decay);

  for (uint r = 0; r < kBlock; ++r) {
    float weighted = u;
    if (r < row) {
      weighted = precise::exp(g - g_old[r]) * u_at[r * args.dv];
      if (args.is_wide != 0) {

        for (uint i = 0; i < PER; i += 4) {
          const float4 f = *(MSL_DEVICE const float4*)(k_old + r * args.dk + dim_of(part, i));
          k_part[i] = f.x;
          k_part[i + 1] = f.y;
          k_part[i + 2] = f.z;
          k_part[i + 3] = f.w;
        }
      } else {
        load_state<float, PER>((MSL_DEVICE const float*)(k_old + r * args.dk), 1, args.dk, part, k_part);
      }
    } else {
      load_part<PER>((MSL_THREADGROUP const float*)(kn), part, k_part);
    }
    const float other = simd_shuffle_xor(weighted, ushort(2));
    add_row<PER>(s[0], k_part, mine == 0 ? weighted : other);
    add_row<PER>(s[1], k_part, mine == 0 ? other : weighted);
  }
  if (args.is_wide != 0) {

    for (uint i = 0; i < PER; ++i) {
      store_pair(s_at + dim_of(part, i) * kPanel + pair, float2(s[0][i], s[1][i]));
    }
  } else {
    store_state<S, PER>(s_at + pair, width, pair < width ? args.dk : 0, part, s[0]);
    store_state<S, PER>(s_at + pair + 1, width, pair + 1 < width ? args.dk : 0, part, s[1]);
  }
}
# 1 "gdn_decode.entries"
using namespace ::pagoda::device::gpu;
constexpr BindingInfo msl_bindings_0[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"a", 3, BindingKind::buffer, sizeof(float), false}, {"b", 4, BindingKind::buffer, sizeof(float), false}, {"a_log", 5, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 6, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 7, BindingKind::buffer, sizeof(int), false}, {"context_lens", 8, BindingKind::buffer, sizeof(int), false}, {"state_slots", 9, BindingKind::buffer, sizeof(int), false}, {"state", 10, BindingKind::buffer, sizeof(float), true}, {"k_rows", 11, BindingKind::buffer, sizeof(float), true}, {"u_rows", 12, BindingKind::buffer, sizeof(float), true}, {"g_rows", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"conv_x", 15, BindingKind::buffer, sizeof(float), false}, {"conv_weight", 16, BindingKind::buffer, sizeof(float), false}, {"conv_tail", 17, BindingKind::buffer, sizeof(float), true}, {"args", 18, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
void msl_entry_0(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<float, 128, false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_1(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<float, 256, false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr BindingInfo msl_bindings_1[] = {{"q", 0, BindingKind::buffer, sizeof(float), false}, {"k", 1, BindingKind::buffer, sizeof(float), false}, {"v", 2, BindingKind::buffer, sizeof(float), false}, {"a", 3, BindingKind::buffer, sizeof(float), false}, {"b", 4, BindingKind::buffer, sizeof(float), false}, {"a_log", 5, BindingKind::buffer, sizeof(float), false}, {"dt_bias", 6, BindingKind::buffer, sizeof(float), false}, {"cu_seqlens", 7, BindingKind::buffer, sizeof(int), false}, {"context_lens", 8, BindingKind::buffer, sizeof(int), false}, {"state_slots", 9, BindingKind::buffer, sizeof(int), false}, {"state", 10, BindingKind::buffer, sizeof(bfloat), true}, {"k_rows", 11, BindingKind::buffer, sizeof(float), true}, {"u_rows", 12, BindingKind::buffer, sizeof(float), true}, {"g_rows", 13, BindingKind::buffer, sizeof(float), true}, {"out", 14, BindingKind::buffer, sizeof(float), true}, {"conv_x", 15, BindingKind::buffer, sizeof(float), false}, {"conv_weight", 16, BindingKind::buffer, sizeof(float), false}, {"conv_tail", 17, BindingKind::buffer, sizeof(float), true}, {"args", 18, BindingKind::values, sizeof(pagoda_args::Gdn), false}};
void msl_entry_2(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<bfloat, 128, false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (bfloat*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_3(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<bfloat, 256, false>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (bfloat*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_4(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<float, 128, true>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_5(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<float, 256, true>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (float*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_6(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<bfloat, 128, true>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (bfloat*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
void msl_entry_7(const KernelInputs& in, const Builtins& b) { (void)in, (void)b; gdn_decode<bfloat, 256, true>((const float*)in.buffers[0], (const float*)in.buffers[1], (const float*)in.buffers[2], (const float*)in.buffers[3], (const float*)in.buffers[4], (const float*)in.buffers[5], (const float*)in.buffers[6], (const int*)in.buffers[7], (const int*)in.buffers[8], (const int*)in.buffers[9], (bfloat*)in.buffers[10], (float*)in.buffers[11], (float*)in.buffers[12], (float*)in.buffers[13], (float*)in.buffers[14], (const float*)in.buffers[15], (const float*)in.buffers[16], (float*)in.buffers[17], *(const pagoda_args::Gdn*)in.buffers[18], msl_builtin<uint3>(b.threadgroup_position_in_grid), msl_builtin<uint>(b.thread_index_in_threadgroup), msl_builtin<uint>(b.simdgroup_index_in_threadgroup), msl_builtin<uint>(b.thread_index_in_simdgroup)); }
constexpr KernelInfo msl_kernels[] = {
  {"gdn_decode_f32_128", "gdn_decode", msl_bindings_0, {}, 128, msl_entry_0},
  {"gdn_decode_f32_256", "gdn_decode", msl_bindings_0, {}, 128, msl_entry_1},
  {"gdn_decode_bf16_128", "gdn_decode", msl_bindings_1, {}, 128, msl_entry_2},
  {"gdn_decode_bf16_256", "gdn_decode", msl_bindings_1, {}, 128, msl_entry_3},
  {"gdn_decode_conv_f32_128", "gdn_decode", msl_bindings_0, {}, 128, msl_entry_4},
  {"gdn_decode_conv_f32_256", "gdn_decode", msl_bindings_0, {}, 128, msl_entry_5},
  {"gdn_decode_conv_bf16_128", "gdn_decode", msl_bindings_1, {}, 128, msl_entry_6},
  {"gdn_decode_conv_bf16_256", "gdn_decode", msl_bindings_1, {}, 128, msl_entry_7},
};
}  // namespace
}  // namespace metal
namespace pagoda::device::gpu::generated {
std::span<const KernelInfo> gdn_decode_kernels() noexcept { return metal::msl_kernels; }
}  // namespace pagoda::device::gpu::generated
