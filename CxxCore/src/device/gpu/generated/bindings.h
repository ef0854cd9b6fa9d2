// Names of all kernels, of their bindings and of their function constants. Made by Tools/mslc/generate.sh.
#pragma once

#include <string_view>

namespace pagoda::device::gpu::kernels {
namespace argmax_parts {
inline constexpr std::string_view kernel = "argmax_parts";
enum Binding : int { logits = 0, found = 1, args = 2 };
}  // namespace argmax_parts
namespace argmax {
inline constexpr std::string_view kernel = "argmax";
enum Binding : int { found = 0, tokens = 1, args = 2 };
}  // namespace argmax
namespace causal_conv1d {
inline constexpr std::string_view kernel = "causal_conv1d";
enum Binding : int { x = 0, weight = 1, tail = 2, cu_seqlens = 3, context_lens = 4, state_slots = 5, out = 6, args = 7 };
}  // namespace causal_conv1d
namespace causal_conv1d_tail {
inline constexpr std::string_view kernel = "causal_conv1d_tail";
enum Binding : int { x = 0, tail = 1, cu_seqlens = 2, context_lens = 3, state_slots = 4, args = 5 };
}  // namespace causal_conv1d_tail
namespace causal_conv1d_update {
inline constexpr std::string_view kernel = "causal_conv1d_update";
enum Binding : int { x = 0, weight = 1, tail = 2, context_lens = 3, state_slots = 4, out = 5, args = 6 };
}  // namespace causal_conv1d_update
namespace combine_experts {
inline constexpr std::string_view kernel = "combine_experts";
enum Binding : int { x = 0, weights = 1, shared_out = 2, gate = 3, out = 4, args = 5 };
}  // namespace combine_experts
namespace embedding {
inline constexpr std::string_view f32 = "embedding_f32";
inline constexpr std::string_view f16 = "embedding_f16";
inline constexpr std::string_view bf16 = "embedding_bf16";
enum Binding : int { ids = 0, table = 1, out = 2, args = 3 };
}  // namespace embedding
namespace embedding_packed {
inline constexpr std::string_view q8 = "embedding_packed_q8";
inline constexpr std::string_view q4 = "embedding_packed_q4";
enum Binding : int { ids = 0, table = 1, steps = 2, scales = 3, out = 4, args = 5 };
}  // namespace embedding_packed
namespace expert_matmul {
inline constexpr std::string_view f32 = "expert_matmul_f32";
inline constexpr std::string_view f16 = "expert_matmul_f16";
inline constexpr std::string_view bf16 = "expert_matmul_bf16";
inline constexpr std::string_view q8 = "expert_matmul_q8";
inline constexpr std::string_view q4 = "expert_matmul_q4";
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, order = 5, tiles = 6, out = 7, args = 8 };
}  // namespace expert_matmul
namespace expert_tiles {
inline constexpr std::string_view kernel = "expert_tiles";
enum Binding : int { ids = 0, order = 1, tiles = 2, args = 3 };
}  // namespace expert_tiles
namespace gated_rms_norm {
inline constexpr std::string_view kernel = "gated_rms_norm";
enum Binding : int { x = 0, z = 1, weight = 2, out = 3, args = 4 };
}  // namespace gated_rms_norm
namespace gather_rows {
inline constexpr std::string_view kernel = "gather_rows";
enum Binding : int { x = 0, rows = 1, out = 2, args = 3 };
}  // namespace gather_rows
namespace gdn_decode {
inline constexpr std::string_view k128 = "gdn_decode_128";
inline constexpr std::string_view k256 = "gdn_decode_256";
enum Binding : int { q = 0, k = 1, v = 2, a = 3, b = 4, a_log = 5, dt_bias = 6, cu_seqlens = 7, context_lens = 8, state_slots = 9, state = 10, k_rows = 11, u_rows = 12, g_rows = 13, out = 14, args = 15 };
}  // namespace gdn_decode
namespace gdn_prefill {
inline constexpr std::string_view k128 = "gdn_prefill_128";
inline constexpr std::string_view k256 = "gdn_prefill_256";
enum Binding : int { v = 0, cu_seqlens = 1, context_lens = 2, state_slots = 3, rows = 4, gates = 5, state = 6, k_rows = 7, u_rows = 8, g_rows = 9, out = 10, args = 11 };
}  // namespace gdn_prefill
namespace gdn_prepare {
inline constexpr std::string_view k128 = "gdn_prepare_128";
inline constexpr std::string_view k256 = "gdn_prepare_256";
enum Binding : int { q = 0, k = 1, a = 2, b = 3, a_log = 4, dt_bias = 5, cu_seqlens = 6, context_lens = 7, state_slots = 8, k_rows = 9, g_rows = 10, rows = 11, gates = 12, args = 13 };
}  // namespace gdn_prepare
namespace matmul_f32 {
inline constexpr std::string_view kernel = "matmul_f32";
enum Binding : int { x = 0, w = 1, bias = 2, out = 3, args = 4 };
}  // namespace matmul_f32
namespace matmul_few {
inline constexpr std::string_view f16_1_1 = "matmul_few_f16_1_1";
inline constexpr std::string_view f16_2_1 = "matmul_few_f16_2_1";
inline constexpr std::string_view f16_2_2 = "matmul_few_f16_2_2";
inline constexpr std::string_view f16_2_4 = "matmul_few_f16_2_4";
inline constexpr std::string_view f16_2_8 = "matmul_few_f16_2_8";
inline constexpr std::string_view bf16_1_1 = "matmul_few_bf16_1_1";
inline constexpr std::string_view bf16_2_1 = "matmul_few_bf16_2_1";
inline constexpr std::string_view bf16_2_2 = "matmul_few_bf16_2_2";
inline constexpr std::string_view bf16_2_4 = "matmul_few_bf16_2_4";
inline constexpr std::string_view bf16_2_8 = "matmul_few_bf16_2_8";
inline constexpr std::string_view q8_1_1 = "matmul_few_q8_1_1";
inline constexpr std::string_view q8_2_1 = "matmul_few_q8_2_1";
inline constexpr std::string_view q8_2_2 = "matmul_few_q8_2_2";
inline constexpr std::string_view q8_2_4 = "matmul_few_q8_2_4";
inline constexpr std::string_view q8_2_8 = "matmul_few_q8_2_8";
inline constexpr std::string_view q4_1_1 = "matmul_few_q4_1_1";
inline constexpr std::string_view q4_2_1 = "matmul_few_q4_2_1";
inline constexpr std::string_view q4_2_2 = "matmul_few_q4_2_2";
inline constexpr std::string_view q4_2_4 = "matmul_few_q4_2_4";
inline constexpr std::string_view q4_2_8 = "matmul_few_q4_2_8";
inline constexpr std::string_view direct_1_1 = "matmul_few_direct_1_1";
inline constexpr std::string_view direct_2_1 = "matmul_few_direct_2_1";
inline constexpr std::string_view direct_2_2 = "matmul_few_direct_2_2";
inline constexpr std::string_view direct_2_4 = "matmul_few_direct_2_4";
inline constexpr std::string_view direct_2_8 = "matmul_few_direct_2_8";
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, bias = 5, out = 6, args = 7 };
}  // namespace matmul_few
namespace matmul_rows_bf16 {
inline constexpr std::string_view kernel = "matmul_rows_bf16";
enum Binding : int { x = 0, out = 1, scales = 2, args = 3 };
}  // namespace matmul_rows_bf16
namespace matmul_rows {
inline constexpr std::string_view f16 = "matmul_rows_f16";
inline constexpr std::string_view rotated = "matmul_rows_rotated";
enum Binding : int { x = 0, out = 1, scales = 2, args = 3 };
}  // namespace matmul_rows
namespace matmul_tiles {
inline constexpr std::string_view f16 = "matmul_tiles_f16";
inline constexpr std::string_view bf16 = "matmul_tiles_bf16";
inline constexpr std::string_view q8 = "matmul_tiles_q8";
inline constexpr std::string_view q4 = "matmul_tiles_q4";
enum Binding : int { x = 0, x_scales = 1, w = 2, w_steps = 3, w_scales = 4, bias = 5, out = 6, args = 7 };
}  // namespace matmul_tiles
namespace paged_attention {
inline constexpr std::string_view f32_1 = "paged_attention_f32_1";
inline constexpr std::string_view f16_1 = "paged_attention_f16_1";
inline constexpr std::string_view f16_2 = "paged_attention_f16_2";
inline constexpr std::string_view bf16_1 = "paged_attention_bf16_1";
inline constexpr std::string_view bf16_2 = "paged_attention_bf16_2";
enum Binding : int { q = 0, k_cache = 1, v_cache = 2, cu_seqlens = 3, context_lens = 4, block_tables = 5, sinks = 6, partials = 7, out = 8, args = 9 };
}  // namespace paged_attention
namespace paged_attention_reduce {
inline constexpr std::string_view kernel = "paged_attention_reduce";
enum Binding : int { partials = 0, cu_seqlens = 1, context_lens = 2, sinks = 3, out = 4, args = 5 };
}  // namespace paged_attention_reduce
namespace paged_attention_constants {
inline constexpr std::string_view use_window = "use_window";
inline constexpr std::string_view use_softcap = "use_softcap";
inline constexpr std::string_view use_sinks = "use_sinks";
}  // namespace paged_attention_constants
namespace qk_norm_rope {
inline constexpr std::string_view kernel = "qk_norm_rope";
enum Binding : int { x = 0, weight = 1, positions = 2, inv_freq = 3, out = 4, args = 5 };
}  // namespace qk_norm_rope
namespace reshape_and_cache {
inline constexpr std::string_view f32 = "reshape_and_cache_f32";
inline constexpr std::string_view f16 = "reshape_and_cache_f16";
inline constexpr std::string_view bf16 = "reshape_and_cache_bf16";
enum Binding : int { k = 0, v = 1, slot_mapping = 2, k_cache = 3, v_cache = 4, args = 5 };
}  // namespace reshape_and_cache
namespace rms_norm {
inline constexpr std::string_view kernel = "rms_norm";
enum Binding : int { x = 0, residual = 1, weight = 2, out = 3, args = 4 };
}  // namespace rms_norm
namespace rms_norm_constants {
inline constexpr std::string_view has_residual = "has_residual";
}  // namespace rms_norm_constants
namespace route_experts {
inline constexpr std::string_view kernel = "route_experts";
enum Binding : int { logits = 0, ids = 1, weights = 2, args = 3 };
}  // namespace route_experts
namespace sample_parts {
inline constexpr std::string_view kernel = "sample_parts";
enum Binding : int { logits = 0, rows = 1, found = 2, args = 3 };
}  // namespace sample_parts
namespace sample {
inline constexpr std::string_view kernel = "sample";
enum Binding : int { found = 0, rows = 1, tokens = 2, args = 3 };
}  // namespace sample
namespace sigmoid_gate {
inline constexpr std::string_view kernel = "sigmoid_gate";
enum Binding : int { x = 0, gate = 1, out = 2, args = 3 };
}  // namespace sigmoid_gate
namespace zero_slots {
inline constexpr std::string_view words = "zero_slots_words";
inline constexpr std::string_view bytes = "zero_slots_bytes";
enum Binding : int { pool = 0, slots = 1, args = 2 };
}  // namespace zero_slots
namespace copy_slot {
inline constexpr std::string_view words = "copy_slot_words";
inline constexpr std::string_view bytes = "copy_slot_bytes";
enum Binding : int { pool = 0, args = 1 };
}  // namespace copy_slot
}  // namespace pagoda::device::gpu::kernels
