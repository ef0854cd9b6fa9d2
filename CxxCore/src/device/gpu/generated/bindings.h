// Ids of all kernels, names of their bindings and function constants. Made by Tools/mslc/generate.sh.
#pragma once

#include <string_view>

#include "device/gpu/kernel_table.h"

namespace pagoda::device::gpu::kernels {
namespace adapters_down {
inline constexpr KernelId kernel = {0, "adapters_down"};
enum Binding : int { x = 0, slots = 1, experts = 2, table = 3, weights = 4, inner = 5, args = 6 };
}  // namespace adapters_down
namespace adapters_up {
inline constexpr KernelId kernel = {1, "adapters_up"};
enum Binding : int { slots = 0, experts = 1, table = 2, weights = 3, inner = 4, out = 5, args = 6 };
}  // namespace adapters_up
namespace silu_mul {
inline constexpr KernelId kernel = {2, "silu_mul"};
enum Binding : int { x = 0, out = 1, args = 2 };
}  // namespace silu_mul
namespace argmax_parts {
inline constexpr KernelId kernel = {3, "argmax_parts"};
enum Binding : int { logits = 0, found = 1, args = 2 };
}  // namespace argmax_parts
namespace argmax {
inline constexpr KernelId kernel = {4, "argmax"};
enum Binding : int { found = 0, tokens = 1, args = 2 };
}  // namespace argmax
namespace cache_latents {
inline constexpr KernelId f32 = {5, "cache_latents_f32"};
inline constexpr KernelId f16 = {6, "cache_latents_f16"};
inline constexpr KernelId bf16 = {7, "cache_latents_bf16"};
inline constexpr KernelId i8 = {8, "cache_latents_i8"};
enum Binding : int { x = 0, slot_mapping = 1, cache = 2, args = 3 };
}  // namespace cache_latents
namespace causal_conv1d {
inline constexpr KernelId kernel = {9, "causal_conv1d"};
enum Binding : int { x = 0, weight = 1, tail = 2, cu_seqlens = 3, context_lens = 4, state_slots = 5, out = 6, args = 7 };
}  // namespace causal_conv1d
namespace causal_conv1d_tail {
inline constexpr KernelId kernel = {10, "causal_conv1d_tail"};
enum Binding : int { x = 0, tail = 1, cu_seqlens = 2, context_lens = 3, state_slots = 4, args = 5 };
}  // namespace causal_conv1d_tail
namespace causal_conv1d_update {
inline constexpr KernelId kernel = {11, "causal_conv1d_update"};
enum Binding : int { x = 0, weight = 1, tail = 2, context_lens = 3, state_slots = 4, out = 5, args = 6 };
}  // namespace causal_conv1d_update
namespace combine_experts {
inline constexpr KernelId kernel = {12, "combine_experts"};
enum Binding : int { x = 0, weights = 1, shared_out = 2, gate = 3, out = 4, args = 5 };
}  // namespace combine_experts
namespace embedding {
inline constexpr KernelId f32 = {13, "embedding_f32"};
inline constexpr KernelId f16 = {14, "embedding_f16"};
inline constexpr KernelId bf16 = {15, "embedding_bf16"};
enum Binding : int { ids = 0, table = 1, out = 2, args = 3 };
}  // namespace embedding
namespace embedding_packed {
inline constexpr KernelId q8 = {16, "embedding_packed_q8"};
inline constexpr KernelId q4 = {17, "embedding_packed_q4"};
enum Binding : int { ids = 0, table = 1, steps = 2, scales = 3, out = 4, args = 5 };
}  // namespace embedding_packed
namespace embedding_stored {
inline constexpr KernelId s4 = {18, "embedding_stored_s4"};
inline constexpr KernelId s8 = {19, "embedding_stored_s8"};
inline constexpr KernelId s8f = {20, "embedding_stored_s8f"};
enum Binding : int { ids = 0, table = 1, steps = 2, out = 3, args = 4 };
}  // namespace embedding_stored
namespace expert_few {
inline constexpr KernelId direct_bf16 = {21, "expert_few_direct_bf16"};
inline constexpr KernelId direct_q8 = {22, "expert_few_direct_q8"};
inline constexpr KernelId direct_q4 = {23, "expert_few_direct_q4"};
inline constexpr KernelId bf16 = {24, "expert_few_bf16"};
inline constexpr KernelId q8 = {25, "expert_few_q8"};
inline constexpr KernelId q4 = {26, "expert_few_q4"};
inline constexpr KernelId direct_s4 = {27, "expert_few_direct_s4"};
inline constexpr KernelId s4 = {28, "expert_few_s4"};
inline constexpr KernelId direct_s8 = {29, "expert_few_direct_s8"};
inline constexpr KernelId s8 = {30, "expert_few_s8"};
inline constexpr KernelId direct_s8f = {31, "expert_few_direct_s8f"};
inline constexpr KernelId s8f = {32, "expert_few_s8f"};
enum Binding : int { x = 0, w = 1, w_steps = 2, w_scales = 3, order = 4, tiles = 5, out = 6, args = 7 };
}  // namespace expert_few
namespace expert_many {
inline constexpr KernelId bf16 = {33, "expert_many_bf16"};
inline constexpr KernelId q8 = {34, "expert_many_q8"};
inline constexpr KernelId q4 = {35, "expert_many_q4"};
inline constexpr KernelId s4 = {36, "expert_many_s4"};
inline constexpr KernelId s8 = {37, "expert_many_s8"};
inline constexpr KernelId s8f = {38, "expert_many_s8f"};
enum Binding : int { x = 0, w = 1, w_steps = 2, w_scales = 3, order = 4, tiles = 5, out = 6, args = 7 };
}  // namespace expert_many
namespace expert_matmul {
inline constexpr KernelId f32 = {39, "expert_matmul_f32"};
inline constexpr KernelId f16 = {40, "expert_matmul_f16"};
enum Binding : int { x = 0, w = 1, order = 2, tiles = 3, out = 4, args = 5 };
}  // namespace expert_matmul
namespace expert_scalar {
inline constexpr KernelId bf16_1 = {41, "expert_scalar_bf16_1"};
inline constexpr KernelId bf16_2 = {42, "expert_scalar_bf16_2"};
inline constexpr KernelId q8_1 = {43, "expert_scalar_q8_1"};
inline constexpr KernelId q8_2 = {44, "expert_scalar_q8_2"};
inline constexpr KernelId q4_1 = {45, "expert_scalar_q4_1"};
inline constexpr KernelId q4_2 = {46, "expert_scalar_q4_2"};
inline constexpr KernelId s4_1 = {47, "expert_scalar_s4_1"};
inline constexpr KernelId s4_2 = {48, "expert_scalar_s4_2"};
inline constexpr KernelId s8_1 = {49, "expert_scalar_s8_1"};
inline constexpr KernelId s8_2 = {50, "expert_scalar_s8_2"};
inline constexpr KernelId s8f_1 = {51, "expert_scalar_s8f_1"};
inline constexpr KernelId s8f_2 = {52, "expert_scalar_s8f_2"};
enum Binding : int { x = 0, w = 1, w_steps = 2, w_scales = 3, order = 4, tiles = 5, out = 6, args = 7 };
}  // namespace expert_scalar
namespace expert_tiles {
inline constexpr KernelId kernel = {53, "expert_tiles"};
enum Binding : int { ids = 0, order = 1, tiles = 2, args = 3 };
}  // namespace expert_tiles
namespace full_attention {
inline constexpr KernelId bf16_8 = {54, "full_attention_bf16_8"};
inline constexpr KernelId bf16_9 = {55, "full_attention_bf16_9"};
inline constexpr KernelId bf16_16 = {56, "full_attention_bf16_16"};
enum Binding : int { q = 0, k_cache = 1, v_cache = 2, cu_seqlens = 3, context_lens = 4, block_tables = 5, out = 6, args = 7 };
}  // namespace full_attention
namespace gated_rms_norm {
inline constexpr KernelId kernel = {57, "gated_rms_norm"};
enum Binding : int { x = 0, z = 1, weight = 2, out = 3, args = 4 };
}  // namespace gated_rms_norm
namespace gather_rows {
inline constexpr KernelId kernel = {58, "gather_rows"};
enum Binding : int { x = 0, rows = 1, out = 2, args = 3 };
}  // namespace gather_rows
namespace gdn_decode {
inline constexpr KernelId f32_128 = {59, "gdn_decode_f32_128"};
inline constexpr KernelId f32_256 = {60, "gdn_decode_f32_256"};
inline constexpr KernelId bf16_128 = {61, "gdn_decode_bf16_128"};
inline constexpr KernelId bf16_256 = {62, "gdn_decode_bf16_256"};
inline constexpr KernelId conv_f32_128 = {63, "gdn_decode_conv_f32_128"};
inline constexpr KernelId conv_f32_256 = {64, "gdn_decode_conv_f32_256"};
inline constexpr KernelId conv_bf16_128 = {65, "gdn_decode_conv_bf16_128"};
inline constexpr KernelId conv_bf16_256 = {66, "gdn_decode_conv_bf16_256"};
enum Binding : int { q = 0, k = 1, v = 2, a = 3, b = 4, a_log = 5, dt_bias = 6, cu_seqlens = 7, context_lens = 8, state_slots = 9, state = 10, k_rows = 11, u_rows = 12, g_rows = 13, out = 14, conv_x = 15, conv_weight = 16, conv_tail = 17, args = 18 };
}  // namespace gdn_decode
namespace gdn_prefill {
inline constexpr KernelId f32_128_1 = {67, "gdn_prefill_f32_128_1"};
inline constexpr KernelId f32_128_2 = {68, "gdn_prefill_f32_128_2"};
inline constexpr KernelId f32_256_1 = {69, "gdn_prefill_f32_256_1"};
inline constexpr KernelId bf16_128_1 = {70, "gdn_prefill_bf16_128_1"};
inline constexpr KernelId bf16_128_2 = {71, "gdn_prefill_bf16_128_2"};
inline constexpr KernelId bf16_256_1 = {72, "gdn_prefill_bf16_256_1"};
enum Binding : int { v = 0, cu_seqlens = 1, context_lens = 2, state_slots = 3, rows = 4, gates = 5, state = 6, k_rows = 7, u_rows = 8, g_rows = 9, out = 10, args = 11 };
}  // namespace gdn_prefill
namespace gdn_prepare {
inline constexpr KernelId k128 = {73, "gdn_prepare_128"};
inline constexpr KernelId k256 = {74, "gdn_prepare_256"};
enum Binding : int { q = 0, k = 1, a = 2, b = 3, a_log = 4, dt_bias = 5, cu_seqlens = 6, context_lens = 7, state_slots = 8, k_rows = 9, g_rows = 10, rows = 11, gates = 12, args = 13 };
}  // namespace gdn_prepare
namespace gelu {
inline constexpr KernelId kernel = {75, "gelu"};
enum Binding : int { x = 0, args = 1 };
}  // namespace gelu
namespace gelu_mul {
inline constexpr KernelId kernel = {76, "gelu_mul"};
enum Binding : int { x = 0, out = 1, args = 2 };
}  // namespace gelu_mul
namespace scale_rows {
inline constexpr KernelId kernel = {77, "scale_rows"};
enum Binding : int { x = 0, args = 1 };
}  // namespace scale_rows
namespace kda {
inline constexpr KernelId f32_128 = {78, "kda_f32_128"};
inline constexpr KernelId f32_256 = {79, "kda_f32_256"};
inline constexpr KernelId bf16_128 = {80, "kda_bf16_128"};
inline constexpr KernelId bf16_256 = {81, "kda_bf16_256"};
enum Binding : int { q = 0, k = 1, v = 2, a = 3, b = 4, a_log = 5, dt_bias = 6, cu_seqlens = 7, context_lens = 8, state_slots = 9, state = 10, k_rows = 11, u_rows = 12, g_rows = 13, out = 14, args = 15 };
}  // namespace kda
namespace latent_attention {
inline constexpr KernelId f32 = {82, "latent_attention_f32"};
inline constexpr KernelId f16 = {83, "latent_attention_f16"};
inline constexpr KernelId bf16 = {84, "latent_attention_bf16"};
inline constexpr KernelId i8 = {85, "latent_attention_i8"};
enum Binding : int { q = 0, cache = 1, cu_seqlens = 2, context_lens = 3, block_tables = 4, partials = 5, out = 6, args = 7 };
}  // namespace latent_attention
namespace latent_attention_reduce {
inline constexpr KernelId kernel = {86, "latent_attention_reduce"};
enum Binding : int { partials = 0, cu_seqlens = 1, context_lens = 2, out = 3, args = 4 };
}  // namespace latent_attention_reduce
namespace latent_attention_constants {
inline constexpr std::string_view use_window = "use_window";
inline constexpr std::string_view use_softcap = "use_softcap";
inline constexpr std::string_view use_sinks = "use_sinks";
inline constexpr std::string_view use_all_keys = "use_all_keys";
}  // namespace latent_attention_constants
namespace layer_norm {
inline constexpr KernelId kernel = {87, "layer_norm"};
enum Binding : int { x = 0, residual = 1, weight = 2, bias = 3, out = 4, args = 5 };
}  // namespace layer_norm
namespace layer_norm_constants {
inline constexpr std::string_view has_residual = "has_residual";
}  // namespace layer_norm_constants
namespace matmul_f32 {
inline constexpr KernelId kernel = {88, "matmul_f32"};
enum Binding : int { x = 0, w = 1, bias = 2, out = 3, args = 4 };
}  // namespace matmul_f32
namespace matmul_few {
inline constexpr KernelId f16_1_1 = {89, "matmul_few_f16_1_1"};
inline constexpr KernelId f16_1_2 = {90, "matmul_few_f16_1_2"};
inline constexpr KernelId f16_1_4 = {91, "matmul_few_f16_1_4"};
inline constexpr KernelId f16_1_8 = {92, "matmul_few_f16_1_8"};
inline constexpr KernelId f16_2_1 = {93, "matmul_few_f16_2_1"};
inline constexpr KernelId f16_2_2 = {94, "matmul_few_f16_2_2"};
inline constexpr KernelId f16_2_4 = {95, "matmul_few_f16_2_4"};
inline constexpr KernelId f16_2_8 = {96, "matmul_few_f16_2_8"};
inline constexpr KernelId bf16_1_1 = {97, "matmul_few_bf16_1_1"};
inline constexpr KernelId bf16_1_2 = {98, "matmul_few_bf16_1_2"};
inline constexpr KernelId bf16_1_4 = {99, "matmul_few_bf16_1_4"};
inline constexpr KernelId bf16_1_8 = {100, "matmul_few_bf16_1_8"};
inline constexpr KernelId bf16_2_1 = {101, "matmul_few_bf16_2_1"};
inline constexpr KernelId bf16_2_2 = {102, "matmul_few_bf16_2_2"};
inline constexpr KernelId bf16_2_4 = {103, "matmul_few_bf16_2_4"};
inline constexpr KernelId bf16_2_8 = {104, "matmul_few_bf16_2_8"};
inline constexpr KernelId q8_1_1 = {105, "matmul_few_q8_1_1"};
inline constexpr KernelId q8_1_2 = {106, "matmul_few_q8_1_2"};
inline constexpr KernelId q8_1_4 = {107, "matmul_few_q8_1_4"};
inline constexpr KernelId q8_1_8 = {108, "matmul_few_q8_1_8"};
inline constexpr KernelId q8_2_1 = {109, "matmul_few_q8_2_1"};
inline constexpr KernelId q8_2_2 = {110, "matmul_few_q8_2_2"};
inline constexpr KernelId q8_2_4 = {111, "matmul_few_q8_2_4"};
inline constexpr KernelId q8_2_8 = {112, "matmul_few_q8_2_8"};
inline constexpr KernelId q4_1_1 = {113, "matmul_few_q4_1_1"};
inline constexpr KernelId q4_1_2 = {114, "matmul_few_q4_1_2"};
inline constexpr KernelId q4_1_4 = {115, "matmul_few_q4_1_4"};
inline constexpr KernelId q4_1_8 = {116, "matmul_few_q4_1_8"};
inline constexpr KernelId q4_2_1 = {117, "matmul_few_q4_2_1"};
inline constexpr KernelId q4_2_2 = {118, "matmul_few_q4_2_2"};
inline constexpr KernelId q4_2_4 = {119, "matmul_few_q4_2_4"};
inline constexpr KernelId q4_2_8 = {120, "matmul_few_q4_2_8"};
inline constexpr KernelId direct_bf16_1_1 = {121, "matmul_few_direct_bf16_1_1"};
inline constexpr KernelId direct_bf16_2_1 = {122, "matmul_few_direct_bf16_2_1"};
inline constexpr KernelId made_bf16_1_1 = {123, "matmul_few_made_bf16_1_1"};
inline constexpr KernelId made_bf16_4_1 = {124, "matmul_few_made_bf16_4_1"};
inline constexpr KernelId direct_q8_1_1 = {125, "matmul_few_direct_q8_1_1"};
inline constexpr KernelId direct_q8_2_1 = {126, "matmul_few_direct_q8_2_1"};
inline constexpr KernelId made_q8_1_1 = {127, "matmul_few_made_q8_1_1"};
inline constexpr KernelId made_q8_4_1 = {128, "matmul_few_made_q8_4_1"};
inline constexpr KernelId direct_q4_1_1 = {129, "matmul_few_direct_q4_1_1"};
inline constexpr KernelId direct_q4_2_1 = {130, "matmul_few_direct_q4_2_1"};
inline constexpr KernelId made_q4_1_1 = {131, "matmul_few_made_q4_1_1"};
inline constexpr KernelId made_q4_4_1 = {132, "matmul_few_made_q4_4_1"};
inline constexpr KernelId direct_s4_1_1 = {133, "matmul_few_direct_s4_1_1"};
inline constexpr KernelId direct_s4_2_1 = {134, "matmul_few_direct_s4_2_1"};
inline constexpr KernelId s4_2_1 = {135, "matmul_few_s4_2_1"};
inline constexpr KernelId s4_2_2 = {136, "matmul_few_s4_2_2"};
inline constexpr KernelId s4_2_4 = {137, "matmul_few_s4_2_4"};
inline constexpr KernelId s4_2_8 = {138, "matmul_few_s4_2_8"};
inline constexpr KernelId direct_s8_1_1 = {139, "matmul_few_direct_s8_1_1"};
inline constexpr KernelId direct_s8_2_1 = {140, "matmul_few_direct_s8_2_1"};
inline constexpr KernelId s8_2_1 = {141, "matmul_few_s8_2_1"};
inline constexpr KernelId s8_2_2 = {142, "matmul_few_s8_2_2"};
inline constexpr KernelId s8_2_4 = {143, "matmul_few_s8_2_4"};
inline constexpr KernelId s8_2_8 = {144, "matmul_few_s8_2_8"};
inline constexpr KernelId direct_s8f_1_1 = {145, "matmul_few_direct_s8f_1_1"};
inline constexpr KernelId direct_s8f_2_1 = {146, "matmul_few_direct_s8f_2_1"};
inline constexpr KernelId s8f_2_1 = {147, "matmul_few_s8f_2_1"};
inline constexpr KernelId s8f_2_2 = {148, "matmul_few_s8f_2_2"};
inline constexpr KernelId s8f_2_4 = {149, "matmul_few_s8f_2_4"};
inline constexpr KernelId s8f_2_8 = {150, "matmul_few_s8f_2_8"};
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, bias = 5, weight = 6, gate = 7, out = 8, args = 9 };
}  // namespace matmul_few
namespace matmul_rows_bf16 {
inline constexpr KernelId kernel = {151, "matmul_rows_bf16"};
enum Binding : int { x = 0, weight = 1, gate = 2, out = 3, args = 4 };
}  // namespace matmul_rows_bf16
namespace matmul_rows_f16 {
inline constexpr KernelId kernel = {152, "matmul_rows_f16"};
enum Binding : int { x = 0, weight = 1, gate = 2, out = 3, scales = 4, args = 5 };
}  // namespace matmul_rows_f16
namespace matmul_scalar {
inline constexpr KernelId f16_1 = {153, "matmul_scalar_f16_1"};
inline constexpr KernelId f16_2 = {154, "matmul_scalar_f16_2"};
inline constexpr KernelId f16_4 = {155, "matmul_scalar_f16_4"};
inline constexpr KernelId direct_bf16_1 = {156, "matmul_scalar_direct_bf16_1"};
inline constexpr KernelId direct_bf16_2 = {157, "matmul_scalar_direct_bf16_2"};
inline constexpr KernelId direct_bf16_4 = {158, "matmul_scalar_direct_bf16_4"};
inline constexpr KernelId made_bf16_1 = {159, "matmul_scalar_made_bf16_1"};
inline constexpr KernelId made_bf16_2 = {160, "matmul_scalar_made_bf16_2"};
inline constexpr KernelId made_bf16_4 = {161, "matmul_scalar_made_bf16_4"};
inline constexpr KernelId direct_q8_1 = {162, "matmul_scalar_direct_q8_1"};
inline constexpr KernelId direct_q8_2 = {163, "matmul_scalar_direct_q8_2"};
inline constexpr KernelId direct_q8_4 = {164, "matmul_scalar_direct_q8_4"};
inline constexpr KernelId made_q8_1 = {165, "matmul_scalar_made_q8_1"};
inline constexpr KernelId made_q8_2 = {166, "matmul_scalar_made_q8_2"};
inline constexpr KernelId made_q8_4 = {167, "matmul_scalar_made_q8_4"};
inline constexpr KernelId direct_q4_1 = {168, "matmul_scalar_direct_q4_1"};
inline constexpr KernelId direct_q4_2 = {169, "matmul_scalar_direct_q4_2"};
inline constexpr KernelId direct_q4_4 = {170, "matmul_scalar_direct_q4_4"};
inline constexpr KernelId made_q4_1 = {171, "matmul_scalar_made_q4_1"};
inline constexpr KernelId made_q4_2 = {172, "matmul_scalar_made_q4_2"};
inline constexpr KernelId made_q4_4 = {173, "matmul_scalar_made_q4_4"};
inline constexpr KernelId direct_s4_1 = {174, "matmul_scalar_direct_s4_1"};
inline constexpr KernelId direct_s4_2 = {175, "matmul_scalar_direct_s4_2"};
inline constexpr KernelId direct_s4_4 = {176, "matmul_scalar_direct_s4_4"};
inline constexpr KernelId made_s4_1 = {177, "matmul_scalar_made_s4_1"};
inline constexpr KernelId made_s4_2 = {178, "matmul_scalar_made_s4_2"};
inline constexpr KernelId made_s4_4 = {179, "matmul_scalar_made_s4_4"};
inline constexpr KernelId direct_s8_1 = {180, "matmul_scalar_direct_s8_1"};
inline constexpr KernelId direct_s8_2 = {181, "matmul_scalar_direct_s8_2"};
inline constexpr KernelId direct_s8_4 = {182, "matmul_scalar_direct_s8_4"};
inline constexpr KernelId made_s8_1 = {183, "matmul_scalar_made_s8_1"};
inline constexpr KernelId made_s8_2 = {184, "matmul_scalar_made_s8_2"};
inline constexpr KernelId made_s8_4 = {185, "matmul_scalar_made_s8_4"};
inline constexpr KernelId direct_s8f_1 = {186, "matmul_scalar_direct_s8f_1"};
inline constexpr KernelId direct_s8f_2 = {187, "matmul_scalar_direct_s8f_2"};
inline constexpr KernelId direct_s8f_4 = {188, "matmul_scalar_direct_s8f_4"};
inline constexpr KernelId made_s8f_1 = {189, "matmul_scalar_made_s8f_1"};
inline constexpr KernelId made_s8f_2 = {190, "matmul_scalar_made_s8f_2"};
inline constexpr KernelId made_s8f_4 = {191, "matmul_scalar_made_s8f_4"};
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, bias = 5, weight = 6, gate = 7, out = 8, args = 9 };
}  // namespace matmul_scalar
namespace matmul_tensor {
inline constexpr KernelId f16 = {192, "matmul_tensor_f16"};
inline constexpr KernelId bf16 = {193, "matmul_tensor_bf16"};
inline constexpr KernelId q8 = {194, "matmul_tensor_q8"};
inline constexpr KernelId q4 = {195, "matmul_tensor_q4"};
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, bias = 5, out = 6, args = 7 };
}  // namespace matmul_tensor
namespace matmul_tiles {
inline constexpr KernelId f16_4 = {196, "matmul_tiles_f16_4"};
inline constexpr KernelId f16_8 = {197, "matmul_tiles_f16_8"};
inline constexpr KernelId bf16_4 = {198, "matmul_tiles_bf16_4"};
inline constexpr KernelId bf16_8 = {199, "matmul_tiles_bf16_8"};
inline constexpr KernelId q8_4 = {200, "matmul_tiles_q8_4"};
inline constexpr KernelId q8_8 = {201, "matmul_tiles_q8_8"};
inline constexpr KernelId q4_4 = {202, "matmul_tiles_q4_4"};
inline constexpr KernelId q4_8 = {203, "matmul_tiles_q4_8"};
inline constexpr KernelId s4_4 = {204, "matmul_tiles_s4_4"};
inline constexpr KernelId s8_4 = {205, "matmul_tiles_s8_4"};
inline constexpr KernelId s8f_4 = {206, "matmul_tiles_s8f_4"};
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, bias = 5, out = 6, args = 7 };
}  // namespace matmul_tiles
namespace matmul_wide {
inline constexpr KernelId f16_16 = {207, "matmul_wide_f16_16"};
inline constexpr KernelId bf16_16 = {208, "matmul_wide_bf16_16"};
inline constexpr KernelId q8_16 = {209, "matmul_wide_q8_16"};
inline constexpr KernelId q4_16 = {210, "matmul_wide_q4_16"};
inline constexpr KernelId f16_24 = {211, "matmul_wide_f16_24"};
inline constexpr KernelId bf16_24 = {212, "matmul_wide_bf16_24"};
inline constexpr KernelId q8_24 = {213, "matmul_wide_q8_24"};
inline constexpr KernelId q4_24 = {214, "matmul_wide_q4_24"};
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, bias = 5, out = 6, args = 7 };
}  // namespace matmul_wide
namespace paged_attention {
inline constexpr KernelId f32_1 = {215, "paged_attention_f32_1"};
inline constexpr KernelId f16_1 = {216, "paged_attention_f16_1"};
inline constexpr KernelId f16_2 = {217, "paged_attention_f16_2"};
inline constexpr KernelId bf16_1 = {218, "paged_attention_bf16_1"};
inline constexpr KernelId bf16_2 = {219, "paged_attention_bf16_2"};
inline constexpr KernelId i8_1 = {220, "paged_attention_i8_1"};
inline constexpr KernelId i8_2 = {221, "paged_attention_i8_2"};
enum Binding : int { q = 0, k_cache = 1, v_cache = 2, cu_seqlens = 3, context_lens = 4, block_tables = 5, sinks = 6, partials = 7, out = 8, args = 9 };
}  // namespace paged_attention
namespace paged_attention_reduce {
inline constexpr KernelId kernel = {222, "paged_attention_reduce"};
enum Binding : int { partials = 0, cu_seqlens = 1, context_lens = 2, sinks = 3, out = 4, args = 5 };
}  // namespace paged_attention_reduce
namespace paged_attention_constants {
inline constexpr std::string_view use_window = "use_window";
inline constexpr std::string_view use_softcap = "use_softcap";
inline constexpr std::string_view use_sinks = "use_sinks";
inline constexpr std::string_view use_all_keys = "use_all_keys";
}  // namespace paged_attention_constants
namespace qk_norm_rope {
inline constexpr KernelId kernel = {223, "qk_norm_rope"};
enum Binding : int { x = 0, weight = 1, positions = 2, inv_freq = 3, out = 4, args = 5 };
}  // namespace qk_norm_rope
namespace reshape_and_cache {
inline constexpr KernelId f32 = {224, "reshape_and_cache_f32"};
inline constexpr KernelId f16 = {225, "reshape_and_cache_f16"};
inline constexpr KernelId bf16 = {226, "reshape_and_cache_bf16"};
inline constexpr KernelId i8 = {227, "reshape_and_cache_i8"};
enum Binding : int { k = 0, v = 1, slot_mapping = 2, k_cache = 3, v_cache = 4, args = 5 };
}  // namespace reshape_and_cache
namespace rms_norm {
inline constexpr KernelId kernel = {228, "rms_norm"};
enum Binding : int { x = 0, residual = 1, weight = 2, out = 3, args = 4 };
}  // namespace rms_norm
namespace rms_norm_constants {
inline constexpr std::string_view has_residual = "has_residual";
}  // namespace rms_norm_constants
namespace rope_and_cache {
inline constexpr KernelId f32 = {229, "rope_and_cache_f32"};
inline constexpr KernelId f16 = {230, "rope_and_cache_f16"};
inline constexpr KernelId bf16 = {231, "rope_and_cache_bf16"};
inline constexpr KernelId i8 = {232, "rope_and_cache_i8"};
enum Binding : int { q = 0, k = 1, v = 2, q_weight = 3, k_weight = 4, positions = 5, inv_freq = 6, slot_mapping = 7, k_cache = 8, v_cache = 9, args = 10 };
}  // namespace rope_and_cache
namespace route_experts {
inline constexpr KernelId kernel = {233, "route_experts"};
enum Binding : int { logits = 0, bias = 1, ids = 2, weights = 3, args = 4 };
}  // namespace route_experts
namespace sample_parts {
inline constexpr KernelId kernel = {234, "sample_parts"};
enum Binding : int { logits = 0, rows = 1, edits = 2, masks = 3, found = 4, highest = 5, args = 6 };
}  // namespace sample_parts
namespace sample {
inline constexpr KernelId kernel = {235, "sample"};
enum Binding : int { found = 0, rows = 1, tokens = 2, args = 3 };
}  // namespace sample
namespace sample_masses {
inline constexpr KernelId kernel = {236, "sample_masses"};
enum Binding : int { logits = 0, rows = 1, edits = 2, masks = 3, highest = 4, cuts = 5, found = 6, args = 7 };
}  // namespace sample_masses
namespace sample_bucket {
inline constexpr KernelId kernel = {237, "sample_bucket"};
enum Binding : int { rows = 0, highest = 1, found = 2, cuts = 3, args = 4 };
}  // namespace sample_bucket
namespace sample_gather {
inline constexpr KernelId kernel = {238, "sample_gather"};
enum Binding : int { logits = 0, rows = 1, edits = 2, masks = 3, highest = 4, cuts = 5, found = 6, args = 7 };
}  // namespace sample_gather
namespace sample_last {
inline constexpr KernelId kernel = {239, "sample_last"};
enum Binding : int { rows = 0, highest = 1, found = 2, cuts = 3, args = 4 };
}  // namespace sample_last
namespace sample_scores {
inline constexpr KernelId kernel = {240, "sample_scores"};
enum Binding : int { logits = 0, rows = 1, found = 2, highest = 3, sums = 4, tokens = 5, scores = 6, args = 7 };
}  // namespace sample_scores
namespace sample_sums {
inline constexpr KernelId kernel = {241, "sample_sums"};
enum Binding : int { logits = 0, rows = 1, edits = 2, masks = 3, highest = 4, cuts = 5, sums = 6, args = 7 };
}  // namespace sample_sums
namespace sample_anywhere {
inline constexpr KernelId kernel = {242, "sample_anywhere"};
enum Binding : int { logits = 0, rows = 1, edits = 2, masks = 3, highest = 4, cuts = 5, sums = 6, tokens = 7, args = 8 };
}  // namespace sample_anywhere
namespace sigmoid_gate {
inline constexpr KernelId kernel = {243, "sigmoid_gate"};
enum Binding : int { x = 0, gate = 1, out = 2, args = 3 };
}  // namespace sigmoid_gate
namespace zero_slots {
inline constexpr KernelId words = {244, "zero_slots_words"};
inline constexpr KernelId bytes = {245, "zero_slots_bytes"};
enum Binding : int { pool = 0, slots = 1, args = 2 };
}  // namespace zero_slots
namespace copy_slot {
inline constexpr KernelId words = {246, "copy_slot_words"};
inline constexpr KernelId bytes = {247, "copy_slot_bytes"};
enum Binding : int { pool = 0, args = 1 };
}  // namespace copy_slot
namespace token_attention {
inline constexpr KernelId f32 = {248, "token_attention_f32"};
inline constexpr KernelId f16 = {249, "token_attention_f16"};
inline constexpr KernelId bf16 = {250, "token_attention_bf16"};
inline constexpr KernelId i8 = {251, "token_attention_i8"};
enum Binding : int { q = 0, k = 1, v = 2, q_weight = 3, k_weight = 4, positions = 5, inv_freq = 6, slot_mapping = 7, k_cache = 8, v_cache = 9, context_lens = 10, block_tables = 11, sinks = 12, partials = 13, out = 14, args = 15 };
}  // namespace token_attention
namespace token_attention_constants {
inline constexpr std::string_view use_window = "use_window";
inline constexpr std::string_view use_softcap = "use_softcap";
inline constexpr std::string_view use_sinks = "use_sinks";
inline constexpr std::string_view use_all_keys = "use_all_keys";
}  // namespace token_attention_constants
inline constexpr int kCount = 252;  // ids are below
}  // namespace pagoda::device::gpu::kernels
