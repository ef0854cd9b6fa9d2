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
    argmax 13 2048
    argmax_parts 15 2048
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
    embedding_stored_s4 34 0
    embedding_stored_s8 34 0
    embedding_stored_s8f 36 0
    expert_few_bf16 97 16384
    expert_few_direct_bf16 105 16384
    expert_few_direct_q4 98 16384
    expert_few_direct_q8 102 16384
    expert_few_direct_s4 99 16384
    expert_few_direct_s8 103 16384
    expert_few_direct_s8f 113 16384
    expert_few_q4 90 16384
    expert_few_q8 94 16384
    expert_few_s4 99 16384
    expert_few_s8 103 16384
    expert_few_s8f 113 16384
    expert_many_bf16 139 10240
    expert_many_q4 128 10240
    expert_many_q8 140 10240
    expert_many_s4 166 13312
    expert_many_s8 174 13312
    expert_many_s8f 190 15360
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
    expert_scalar_s8f_1 92 4096
    expert_scalar_s8f_2 95 8192
    expert_tiles 15 64
    full_attention_bf16_16 185 9216
    full_attention_bf16_8 125 9216
    full_attention_bf16_9 152 9216
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
    gdn_prepare_128 152 10240
    gdn_prepare_256 252 18432
    gelu 6 0
    gelu_mul 10 0
    kda_bf16_128 161 3200
    kda_bf16_256 189 5248
    kda_f32_128 161 3200
    kda_f32_256 189 5248
    latent_attention_bf16 609 19200
    latent_attention_f16 609 19200
    latent_attention_f32 612 29056
    latent_attention_i8 584 23808
    latent_attention_reduce 25 0
    layer_norm 43 64
    matmul_f32 24 0
    matmul_few_bf16_1_1 115 16448
    matmul_few_bf16_1_2 135 16448
    matmul_few_bf16_1_4 207 16448
    matmul_few_bf16_1_8 159 16448
    matmul_few_bf16_2_1 94 16512
    matmul_few_bf16_2_2 116 16512
    matmul_few_bf16_2_4 130 16512
    matmul_few_bf16_2_8 186 16512
    matmul_few_direct_bf16_1_1 123 16448
    matmul_few_direct_bf16_2_1 102 16512
    matmul_few_direct_q4_1_1 105 16448
    matmul_few_direct_q4_2_1 94 16512
    matmul_few_direct_q8_1_1 119 16448
    matmul_few_direct_q8_2_1 98 16512
    matmul_few_direct_s4_1_1 111 16448
    matmul_few_direct_s4_2_1 96 16512
    matmul_few_direct_s8_1_1 125 16448
    matmul_few_direct_s8_2_1 100 16512
    matmul_few_direct_s8f_1_1 136 16448
    matmul_few_direct_s8f_2_1 110 16512
    matmul_few_f16_1_1 115 16448
    matmul_few_f16_1_2 135 16448
    matmul_few_f16_1_4 207 16448
    matmul_few_f16_1_8 159 16448
    matmul_few_f16_2_1 94 16512
    matmul_few_f16_2_2 116 16512
    matmul_few_f16_2_4 130 16512
    matmul_few_f16_2_8 186 16512
    matmul_few_made_bf16_1_1 121 18752
    matmul_few_made_bf16_4_1 141 18944
    matmul_few_made_q4_1_1 82 18752
    matmul_few_made_q4_4_1 125 18944
    matmul_few_made_q8_1_1 98 18752
    matmul_few_made_q8_4_1 133 18944
    matmul_few_q4_1_1 97 16448
    matmul_few_q4_1_2 121 16448
    matmul_few_q4_1_4 193 16448
    matmul_few_q4_1_8 145 16448
    matmul_few_q4_2_1 86 16512
    matmul_few_q4_2_2 108 16512
    matmul_few_q4_2_4 122 16512
    matmul_few_q4_2_8 178 16512
    matmul_few_q8_1_1 111 16448
    matmul_few_q8_1_2 127 16448
    matmul_few_q8_1_4 199 16448
    matmul_few_q8_1_8 151 16448
    matmul_few_q8_2_1 90 16512
    matmul_few_q8_2_2 112 16512
    matmul_few_q8_2_4 126 16512
    matmul_few_q8_2_8 182 16512
    matmul_few_s4_2_1 96 16512
    matmul_few_s4_2_2 121 16512
    matmul_few_s4_2_4 135 16512
    matmul_few_s4_2_8 191 16512
    matmul_few_s8_2_1 100 16512
    matmul_few_s8_2_2 125 16512
    matmul_few_s8_2_4 139 16512
    matmul_few_s8_2_8 195 16512
    matmul_few_s8f_2_1 110 16512
    matmul_few_s8f_2_2 139 16512
    matmul_few_s8f_2_4 153 16512
    matmul_few_s8f_2_8 226 16512
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
    matmul_scalar_direct_s8f_1 81 4096
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
    matmul_scalar_made_s8f_1 81 4384
    matmul_scalar_made_s8f_2 83 8768
    matmul_scalar_made_s8f_4 87 17536
    matmul_tiles_bf16_4 124 8192
    matmul_tiles_bf16_8 211 16384
    matmul_tiles_f16_4 124 8192
    matmul_tiles_f16_8 211 16384
    matmul_tiles_q4_4 118 8192
    matmul_tiles_q4_8 199 16384
    matmul_tiles_q8_4 124 8192
    matmul_tiles_q8_8 211 16384
    matmul_tiles_s4_4 149 10240
    matmul_tiles_s8_4 153 10240
    matmul_tiles_s8f_4 159 11264
    matmul_wide_bf16_16 332 20480
    matmul_wide_bf16_24 468 20480
    matmul_wide_f16_16 332 20480
    matmul_wide_f16_24 468 20480
    matmul_wide_q4_16 334 20480
    matmul_wide_q4_24 470 20480
    matmul_wide_q8_16 334 20480
    matmul_wide_q8_24 470 20480
    paged_attention_bf16_1 191 16832
    paged_attention_bf16_2 267 29568
    paged_attention_f16_1 191 16832
    paged_attention_f16_2 267 29568
    paged_attention_f32_1 194 25152
    paged_attention_i8_1 227 16832
    paged_attention_i8_2 302 29568
    paged_attention_reduce 28 0
    qk_norm_rope 20 2048
    reshape_and_cache_bf16 30 0
    reshape_and_cache_f16 30 0
    reshape_and_cache_f32 30 0
    reshape_and_cache_i8 22 0
    rms_norm 42 32
    rope_and_cache_bf16 25 2048
    rope_and_cache_f16 25 2048
    rope_and_cache_f32 25 2048
    rope_and_cache_i8 25 2048
    route_experts 20 256
    sample 53 1120
    sample_anywhere 29 3120
    sample_bucket 22 2096
    sample_gather 41 16448
    sample_last 46 4160
    sample_masses 38 16416
    sample_parts 38 16512
    sample_scores 52 704
    sample_sums 43 17440
    scale_rows 5 0
    sigmoid_gate 11 0
    silu_mul 10 0
    token_attention_bf16 91 17856
    token_attention_f16 91 17856
    token_attention_f32 94 26176
    token_attention_i8 113 17856
    zero_slots_bytes 8 0
    zero_slots_words 10 0
    """
}
