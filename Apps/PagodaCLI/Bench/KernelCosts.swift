// What kernels need, counted from their texts; written by Tools/mslc/count.py --check --update.

/// The registers of a thread and the threadgroup memory of a kernel, by the estimate of Tools/mslc/count.py.
package struct KernelCosts {
  var registers: Int
  var threadgroupBytes: Int

  static func of(_ kernel: String) -> KernelCosts? { all[kernel] }

  /// Instructions per weight: to unpack it for matrix units, and to unpack and multiply it without them.
  package struct Instructions {
    package var unpacking: Double
    package var scalar: Double
  }

  /// Of a format, or of several of which the first has most weights.
  package static func instructionsPerWeight(_ weightDType: String) -> Instructions {
    formats.first { weightDType.hasPrefix($0.name) }?.count ?? Instructions(unpacking: 0.00, scalar: 2.40)
  }

  private static let formats: [(name: String, count: Instructions)] = [
    ("4bit", Instructions(unpacking: 4.88, scalar: 4.85)),
    ("8bit", Instructions(unpacking: 6.19, scalar: 7.51)),
    ("Q4_0", Instructions(unpacking: 5.25, scalar: 4.72)),
    ("Q4_1", Instructions(unpacking: 5.00, scalar: 5.09)),
    ("Q4_K", Instructions(unpacking: 6.31, scalar: 5.50)),
    ("int4 with", Instructions(unpacking: 5.44, scalar: 4.74)),
    ("int4", Instructions(unpacking: 5.25, scalar: 4.72)),
    ("affine 2", Instructions(unpacking: 5.00, scalar: 5.09)),
    ("affine 3", Instructions(unpacking: 5.00, scalar: 5.09)),
    ("affine 4", Instructions(unpacking: 5.00, scalar: 5.09)),
    ("affine", Instructions(unpacking: 5.19, scalar: 5.12)),
    ("Q5_1", Instructions(unpacking: 5.19, scalar: 5.12)),
    ("Q5_K", Instructions(unpacking: 6.50, scalar: 5.52)),
    ("Q5_0", Instructions(unpacking: 5.44, scalar: 4.74)),
    ("Q8_0", Instructions(unpacking: 5.44, scalar: 4.74)),
    ("IQ4", Instructions(unpacking: 5.44, scalar: 4.74)),
    ("MXFP4", Instructions(unpacking: 5.44, scalar: 4.74)),
    ("int8", Instructions(unpacking: 5.44, scalar: 4.74)),
    ("Q2_K", Instructions(unpacking: 7.88, scalar: 5.10)),
    ("Q3_K", Instructions(unpacking: 7.88, scalar: 5.10)),
    ("Q6_K", Instructions(unpacking: 7.88, scalar: 5.10)),
  ]

  private static let all: [String: KernelCosts] = Dictionary(
    uniqueKeysWithValues: table.split(separator: "\n").map { row in
      let cells = row.split(separator: " ")
      return (String(cells[0]), KernelCosts(registers: Int(cells[1]) ?? 0, threadgroupBytes: Int(cells[2]) ?? 0))
    })

  /// Name, registers, bytes.
  private static let table = """
    adapters_down 15 0
    adapters_up 20 0
    argmax 16 2048
    argmax_parts 17 2048
    cache_latents_bf16 10 0
    cache_latents_f16 10 0
    cache_latents_f32 10 0
    cache_latents_i8 14 0
    causal_conv1d 38 0
    causal_conv1d_tail 16 0
    causal_conv1d_update 35 0
    combine_experts 27 0
    copy_slot_bytes 11 0
    copy_slot_words 13 0
    embedding_bf16 10 0
    embedding_f16 10 0
    embedding_f32 10 0
    embedding_packed_q4 14 0
    embedding_packed_q8 14 0
    embedding_stored_s4 31 0
    embedding_stored_s8 31 0
    embedding_stored_s8f 34 0
    expert_few_bf16 117 16384
    expert_few_direct_bf16 125 16384
    expert_few_direct_q4 116 16384
    expert_few_direct_q8 120 16384
    expert_few_direct_s4 109 16384
    expert_few_direct_s8 113 16384
    expert_few_direct_s8f 123 16384
    expert_few_q4 108 16384
    expert_few_q8 112 16384
    expert_few_s4 109 16384
    expert_few_s8 113 16384
    expert_few_s8f 123 16384
    expert_many_bf16 222 27136
    expert_many_q4 203 27136
    expert_many_q8 211 27136
    expert_many_s4 218 29184
    expert_many_s8 226 29184
    expert_many_s8f 242 28672
    expert_matmul_f16 84 0
    expert_matmul_f32 84 0
    expert_scalar_bf16_1 104 4096
    expert_scalar_bf16_2 106 8192
    expert_scalar_q4_1 74 4096
    expert_scalar_q4_2 76 8192
    expert_scalar_q8_1 90 4096
    expert_scalar_q8_2 92 8192
    expert_scalar_s4_1 77 4096
    expert_scalar_s4_2 80 8192
    expert_scalar_s8_1 88 4096
    expert_scalar_s8_2 91 8192
    expert_scalar_s8f_1 95 4096
    expert_scalar_s8f_2 95 8192
    expert_tiles 17 64
    full_attention_bf16_16 214 9216
    full_attention_bf16_8 150 9216
    full_attention_bf16_9 179 9216
    gated_rms_norm 27 0
    gather_rows 10 0
    gdn_decode_bf16_128 148 1156
    gdn_decode_bf16_256 228 2180
    gdn_decode_conv_bf16_128 163 2176
    gdn_decode_conv_bf16_256 235 4224
    gdn_decode_conv_f32_128 163 2176
    gdn_decode_conv_f32_256 235 4224
    gdn_decode_f32_128 148 1156
    gdn_decode_f32_256 228 2180
    gdn_prefill_bf16_128_1 394 19968
    gdn_prefill_bf16_128_2 438 20992
    gdn_prefill_bf16_256_1 533 19968
    gdn_prefill_f32_128_1 394 19968
    gdn_prefill_f32_128_2 438 20992
    gdn_prefill_f32_256_1 533 19968
    gdn_prepare_128 217 10240
    gdn_prepare_256 381 18432
    gelu 6 0
    gelu_mul 10 0
    kda_bf16_128 161 3200
    kda_bf16_256 189 5248
    kda_f32_128 161 3200
    kda_f32_256 189 5248
    latent_attention_bf16 781 19200
    latent_attention_f16 781 19200
    latent_attention_f32 784 29056
    latent_attention_i8 745 23808
    latent_attention_reduce 25 0
    layer_norm 45 64
    matmul_f32 24 0
    matmul_few_bf16_1_1 135 16448
    matmul_few_bf16_1_2 155 16448
    matmul_few_bf16_1_4 227 16448
    matmul_few_bf16_1_8 179 16448
    matmul_few_bf16_2_1 115 16512
    matmul_few_bf16_2_2 137 16512
    matmul_few_bf16_2_4 151 16512
    matmul_few_bf16_2_8 207 16512
    matmul_few_direct_bf16_1_1 143 16448
    matmul_few_direct_bf16_2_1 123 16512
    matmul_few_direct_q4_1_1 124 16448
    matmul_few_direct_q4_2_1 113 16512
    matmul_few_direct_q8_1_1 138 16448
    matmul_few_direct_q8_2_1 117 16512
    matmul_few_direct_s4_1_1 123 16448
    matmul_few_direct_s4_2_1 107 16512
    matmul_few_direct_s8_1_1 137 16448
    matmul_few_direct_s8_2_1 111 16512
    matmul_few_direct_s8f_1_1 148 16448
    matmul_few_direct_s8f_2_1 121 16512
    matmul_few_f16_1_1 135 16448
    matmul_few_f16_1_2 155 16448
    matmul_few_f16_1_4 227 16448
    matmul_few_f16_1_8 179 16448
    matmul_few_f16_2_1 115 16512
    matmul_few_f16_2_2 137 16512
    matmul_few_f16_2_4 151 16512
    matmul_few_f16_2_8 207 16512
    matmul_few_made_bf16_1_1 141 18752
    matmul_few_made_bf16_4_1 164 18944
    matmul_few_made_q4_1_1 101 18752
    matmul_few_made_q4_4_1 144 18944
    matmul_few_made_q8_1_1 117 18752
    matmul_few_made_q8_4_1 152 18944
    matmul_few_q4_1_1 116 16448
    matmul_few_q4_1_2 140 16448
    matmul_few_q4_1_4 212 16448
    matmul_few_q4_1_8 164 16448
    matmul_few_q4_2_1 105 16512
    matmul_few_q4_2_2 127 16512
    matmul_few_q4_2_4 141 16512
    matmul_few_q4_2_8 197 16512
    matmul_few_q8_1_1 130 16448
    matmul_few_q8_1_2 146 16448
    matmul_few_q8_1_4 218 16448
    matmul_few_q8_1_8 170 16448
    matmul_few_q8_2_1 109 16512
    matmul_few_q8_2_2 131 16512
    matmul_few_q8_2_4 145 16512
    matmul_few_q8_2_8 201 16512
    matmul_few_s4_2_1 107 16512
    matmul_few_s4_2_2 132 16512
    matmul_few_s4_2_4 146 16512
    matmul_few_s4_2_8 202 16512
    matmul_few_s8_2_1 111 16512
    matmul_few_s8_2_2 136 16512
    matmul_few_s8_2_4 150 16512
    matmul_few_s8_2_8 206 16512
    matmul_few_s8f_2_1 121 16512
    matmul_few_s8f_2_2 150 16512
    matmul_few_s8f_2_4 164 16512
    matmul_few_s8f_2_8 237 16512
    matmul_rows_bf16 37 288
    matmul_rows_f16 27 288
    matmul_scalar_direct_bf16_1 93 4096
    matmul_scalar_direct_bf16_2 94 8192
    matmul_scalar_direct_bf16_4 96 16384
    matmul_scalar_direct_q4_1 62 4096
    matmul_scalar_direct_q4_2 63 8192
    matmul_scalar_direct_q4_4 65 16384
    matmul_scalar_direct_q8_1 78 4096
    matmul_scalar_direct_q8_2 79 8192
    matmul_scalar_direct_q8_4 81 16384
    matmul_scalar_direct_s4_1 66 4096
    matmul_scalar_direct_s4_2 68 8192
    matmul_scalar_direct_s4_4 72 16384
    matmul_scalar_direct_s8_1 77 4096
    matmul_scalar_direct_s8_2 79 8192
    matmul_scalar_direct_s8_4 83 16384
    matmul_scalar_direct_s8f_1 84 4096
    matmul_scalar_direct_s8f_2 83 8192
    matmul_scalar_direct_s8f_4 87 16384
    matmul_scalar_f16_1 93 4096
    matmul_scalar_f16_2 94 8192
    matmul_scalar_f16_4 96 16384
    matmul_scalar_made_bf16_1 95 4384
    matmul_scalar_made_bf16_2 97 8768
    matmul_scalar_made_bf16_4 99 17536
    matmul_scalar_made_q4_1 62 4384
    matmul_scalar_made_q4_2 63 8768
    matmul_scalar_made_q4_4 65 17536
    matmul_scalar_made_q8_1 78 4384
    matmul_scalar_made_q8_2 79 8768
    matmul_scalar_made_q8_4 81 17536
    matmul_scalar_made_s4_1 66 4384
    matmul_scalar_made_s4_2 68 8768
    matmul_scalar_made_s4_4 72 17536
    matmul_scalar_made_s8_1 77 4384
    matmul_scalar_made_s8_2 79 8768
    matmul_scalar_made_s8_4 83 17536
    matmul_scalar_made_s8f_1 84 4384
    matmul_scalar_made_s8f_2 83 8768
    matmul_scalar_made_s8f_4 87 17536
    matmul_tiles_bf16_4 219 22528
    matmul_tiles_bf16_8 315 28672
    matmul_tiles_f16_4 219 22528
    matmul_tiles_f16_8 315 28672
    matmul_tiles_q4_4 209 22528
    matmul_tiles_q4_8 295 28672
    matmul_tiles_q8_4 213 22528
    matmul_tiles_q8_8 303 28672
    matmul_tiles_s4_4 215 23552
    matmul_tiles_s8_4 219 23552
    matmul_tiles_s8f_4 233 24576
    matmul_wide_bf16_16 334 20480
    matmul_wide_bf16_24 470 20480
    matmul_wide_f16_16 334 20480
    matmul_wide_f16_24 470 20480
    matmul_wide_q4_16 334 20480
    matmul_wide_q4_24 470 20480
    matmul_wide_q8_16 334 20480
    matmul_wide_q8_24 470 20480
    paged_attention_bf16_1 219 16832
    paged_attention_bf16_2 311 29568
    paged_attention_f16_1 219 16832
    paged_attention_f16_2 311 29568
    paged_attention_f32_1 222 25152
    paged_attention_i8_1 276 16832
    paged_attention_i8_2 366 29568
    paged_attention_reduce 28 0
    qk_norm_rope 21 2048
    reshape_and_cache_bf16 30 0
    reshape_and_cache_f16 30 0
    reshape_and_cache_f32 30 0
    reshape_and_cache_i8 22 0
    rms_norm 43 32
    rope_and_cache_bf16 26 2048
    rope_and_cache_f16 26 2048
    rope_and_cache_f32 26 2048
    rope_and_cache_i8 26 2048
    route_experts 21 256
    sample 57 1120
    sample_anywhere 35 3116
    sample_parts 50 16480
    sample_scores 56 704
    sample_sums 54 17440
    sample_whole 124 672
    scale_rows 5 0
    sigmoid_gate 11 0
    silu_mul 10 0
    token_attention_bf16 101 17856
    token_attention_f16 101 17856
    token_attention_f32 104 26176
    token_attention_i8 127 17856
    zero_slots_bytes 8 0
    zero_slots_words 10 0
    """
}
