// Headers of the kernels, by the name that their texts include. Made by Tools/mslc/generate.sh.
#include "device/gpu/kernel_table.h"
namespace pagoda::device::gpu::generated {
std::span<const KernelHeader> headers() noexcept {
  static constexpr KernelHeader kHeaders[] = {
    {"device/gpu/shim/metal.h",
R"msl(#pragma METAL fp contract(off)
#define MSL_SHARED threadgroup
#define MSL_CONSTANT_TABLE constant
#define MSL_FUNCTION_CONSTANT(T, NAME, INDEX) constant T NAME [[function_constant(INDEX)]];
#define MSL_INSTANCE(NAME, KERNEL, ...) \
  template [[host_name(#NAME)]] kernel decltype(KERNEL<__VA_ARGS__>) KERNEL<__VA_ARGS__>;
)msl"},
    {"args/adapters.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct Adapters {
  long x_stride, inner_stride, out_stride;
  long experts_stride;
  uint cols;
  uint parts;
  uint per_token;
  uint rows_per_x;
  uint has_experts;
  uint num_experts;
  uint max_rank;
  uint reserved;
  uint first[4], count[4];
};
static_assert(sizeof(Adapters) == 96, "host and kernel agree");
}
)msl"},
    {"args/argmax.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct Argmax {
  long logits_stride;
  uint vocab;
  uint parts;
  uint part_size;
  uint reserved;
};
static_assert(sizeof(Argmax) == 24, "host and kernel agree");
}
)msl"},
    {"args/causal_conv1d.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct CausalConv1d {
  long x_stride, out_stride, weight_stride;
  long tail_slot_stride, tail_row_stride;
  uint channels, kernel_size, num_sequences, tail_rows;
};
static_assert(sizeof(CausalConv1d) == 56, "host and kernel agree");
}
)msl"},
    {"args/embedding.h",
R"msl(#include "args/matmul.h"
#include "args/types.h"
namespace pagoda_args {
struct Embedding {
  long out_stride;
  uint cols;
  uint padded_cols;
  Scales scales;
};
static_assert(sizeof(Embedding) == 40, "host and kernel agree");
}
)msl"},
    {"args/experts.h",
R"msl(#include "args/matmul.h"
#include "args/types.h"
namespace pagoda_args {
struct RouteExperts {
  long logits_stride, ids_stride, weights_stride;
  uint num_experts;
  uint chosen;
  uint normalise;
  uint is_sigmoid, has_bias;
  uint num_groups, groups_per_token;
  float scale;
};
static_assert(sizeof(RouteExperts) == 56, "host and kernel agree");
struct ExpertTiles {
  long ids_stride;
  uint tokens;
  uint chosen;
  uint num_experts;
  uint tile_rows;
};
static_assert(sizeof(ExpertTiles) == 24, "host and kernel agree");
struct ExpertMatmul {
  long x_stride, out_stride;
  uint x_share;
  uint cols;
  uint padded_cols;
  uint out_cols;
  uint expert_rows;
  uint silu_mul;
};
static_assert(sizeof(ExpertMatmul) == 40, "host and kernel agree");
struct ExpertProducts {
  Matmul matmul;
  uint x_share;
  uint expert_rows;
};
static_assert(sizeof(ExpertProducts) == 128, "host and kernel agree");
struct CombineExperts {
  long x_stride, weights_stride, shared_stride, gate_stride, out_stride;
  uint cols;
  uint chosen;
  uint has_shared;
};
static_assert(sizeof(CombineExperts) == 56, "host and kernel agree");
}
)msl"},
    {"args/gated_rms_norm.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct GatedRmsNorm {
  long x_stride, x_head_stride, z_stride, z_head_stride, out_stride, out_head_stride;
  uint dim;
  float eps;
};
static_assert(sizeof(GatedRmsNorm) == 56, "host and kernel agree");
}
)msl"},
    {"args/gdn.h",
R"msl(#include "args/causal_conv1d.h"
#include "args/types.h"
namespace pagoda_args {
struct Gdn {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint num_sequences;
  uint k_heads, v_heads;
  uint dk, dv;
  uint is_wide;
  float q_scale;
  float beta_scale;
  CausalConv1d conv;
  uint q_channel, k_channel, v_channel, reserved2;
};
static_assert(sizeof(Gdn) == 216, "host and kernel agree");
}
)msl"},
    {"args/kda.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct Kda {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long a_stride, a_head_stride, b_stride, out_stride, out_head_stride;
  long state_slot_stride, k_rows_slot_stride, u_rows_slot_stride, g_rows_slot_stride;
  uint dk, dv;
  float q_scale;
  uint reserved;
};
static_assert(sizeof(Kda) == 136, "host and kernel agree");
}
)msl"},
    {"args/latent_attention.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct LatentAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long block_stride, slot_stride;
  long table_stride;
  uint num_sequences;
  uint heads;
  uint dim;
  uint value_dim;
  uint block_size;
  uint max_parts;
  float scale;
  uint reserved;
};
static_assert(sizeof(LatentAttention) == 88, "host and kernel agree");
struct CacheLatents {
  long x_stride;
  long block_stride, slot_stride;
  uint dim, block_size;
};
static_assert(sizeof(CacheLatents) == 32, "host and kernel agree");
}
)msl"},
    {"args/layer_norm.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct LayerNorm {
  long x_stride, residual_stride, out_stride;
  uint width;
  float eps;
};
static_assert(sizeof(LayerNorm) == 32, "host and kernel agree");
}
)msl"},
    {"args/matmul.h",
R"msl(#include "args/row_source.h"
#include "args/types.h"
namespace pagoda_args {
struct MatmulRows {
  long x_stride;
  uint cols;
  uint padded_cols;
  uint is_wide;
  uint tile_rows;
  RowSource source;
};
static_assert(sizeof(MatmulRows) == 72, "host and kernel agree");
struct Scales {
  uint log_unit;
  uint words;
  uint next;
  uint step;
  uint kind;
  uint zero;
};
static_assert(sizeof(Scales) == 24, "host and kernel agree");
struct Matmul {
  long x_stride;
  long out_stride;
  uint rows;
  uint cols;
  uint out_cols;
  uint padded_cols;
  uint run;
  uint has_bias;
  uint silu_mul;
  uint adds;
  RowSource source;
  Scales scales;
};
static_assert(sizeof(Matmul) == 120, "host and kernel agree");
}
)msl"},
    {"args/paged_attention.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct PagedAttention {
  long q_stride, q_head_stride, out_stride, out_head_stride;
  long k_block_stride, k_slot_stride, k_head_stride;
  long v_block_stride, v_slot_stride, v_head_stride;
  long table_stride;
  uint num_sequences;
  uint heads, group;
  uint dim;
  uint block_size;
  uint max_parts;
  uint window;
  float scale;
  float softcap;
  uint is_split;
};
static_assert(sizeof(PagedAttention) == 128, "host and kernel agree");
}
)msl"},
    {"args/qk_norm_rope.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct QkNormRope {
  long x_stride, x_head_stride, out_stride, out_head_stride;
  uint dim;
  uint half_rotary;
  float eps;
  float weight_offset;
  uint has_weight;
  uint reserved;
};
static_assert(sizeof(QkNormRope) == 56, "host and kernel agree");
}
)msl"},
    {"args/reshape_and_cache.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct ReshapeAndCache {
  long k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_slot_stride, k_cache_head_stride;
  long v_block_stride, v_slot_stride, v_cache_head_stride;
  uint kv_heads, dim, block_size, reserved;
};
static_assert(sizeof(ReshapeAndCache) == 96, "host and kernel agree");
}
)msl"},
    {"args/rms_norm.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct RmsNorm {
  uint width;
  uint x_stride;
  uint residual_stride;
  uint out_stride;
  float eps;
  float weight_offset;
};
static_assert(sizeof(RmsNorm) == 24, "host and kernel agree");
}
)msl"},
    {"args/rope_and_cache.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct RopeAndCache {
  long q_stride, q_head_stride, k_stride, k_head_stride, v_stride, v_head_stride;
  long k_block_stride, k_slot_stride, k_cache_head_stride;
  long v_block_stride, v_slot_stride, v_cache_head_stride;
  uint q_heads, kv_heads;
  uint dim;
  uint half_rotary;
  uint block_size;
  float eps;
  float weight_offset;
  uint has_weight;
};
static_assert(sizeof(RopeAndCache) == 128, "host and kernel agree");
}
)msl"},
    {"args/row_source.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct RowSource {
  long x_head_stride, gate_stride, gate_head_stride;
  uint kind;
  uint heads;
  uint dim;
  float eps;
  float weight_offset;
  uint reserved;
};
static_assert(sizeof(RowSource) == 48, "host and kernel agree");
}
)msl"},
    {"args/rows.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct GatherRows {
  long x_stride, out_stride;
  uint cols, reserved;
};
static_assert(sizeof(GatherRows) == 24, "host and kernel agree");
struct SigmoidGate {
  long x_stride, x_head_stride, gate_stride, gate_head_stride, out_stride, out_head_stride;
  uint heads, dim;
};
static_assert(sizeof(SigmoidGate) == 56, "host and kernel agree");
struct GeluMul {
  long x_stride, out_stride;
  uint width, reserved;
};
static_assert(sizeof(GeluMul) == 24, "host and kernel agree");
struct Gelu {
  long x_stride;
  uint width;
  uint is_exact;
};
static_assert(sizeof(Gelu) == 16, "host and kernel agree");
struct ScaleRows {
  long x_stride;
  uint width;
  float factor;
};
static_assert(sizeof(ScaleRows) == 16, "host and kernel agree");
struct Slot {
  long slot_stride;
  long slot_units;
  long from, to;
};
static_assert(sizeof(Slot) == 32, "host and kernel agree");
}
)msl"},
    {"args/sample.h",
R"msl(#include "args/types.h"
namespace pagoda_args {
struct SampleRow {
  ulong top_p;
  ulong min_weight;
  ulong random;
  float temperature;
  uint top_k;
  uint first_edit;
  uint num_edits;
  uint mask;
  uint is_whole;
  uint num_logprobs;
  uint reserved;
};
static_assert(sizeof(SampleRow) == 56, "host and kernel agree");
struct SampleEdit {
  uint id;
  float bias;
  float repetition;
  float penalty;
};
static_assert(sizeof(SampleEdit) == 16, "host and kernel agree");
struct SampleScore {
  ulong total;
  float highest;
  float chosen;
  uint ids[20];
  float logits[20];
};
static_assert(sizeof(SampleScore) == 176, "host and kernel agree");
struct SampleCut {
  ulong rest[2];
  ulong last;
  uint bucket[2];
};
static_assert(sizeof(SampleCut) == 32, "host and kernel agree");
struct Sample {
  long logits_stride;
  uint vocab;
  uint parts;
  uint mask_words;
  uint is_raw;
  uint level;
  uint reserved;
};
static_assert(sizeof(Sample) == 32, "host and kernel agree");
}
)msl"},
    {"args/token_attention.h",
R"msl(#include "args/paged_attention.h"
#include "args/rope_and_cache.h"
namespace pagoda_args {
struct TokenAttention {
  PagedAttention attention;
  RopeAndCache rope;
};
static_assert(sizeof(TokenAttention) == 256, "host and kernel agree");
}
)msl"},
    {"args/types.h",
R"msl(#ifndef __METAL_VERSION__
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "long is 64 bits wide in Metal");
#endif
)msl"},
    {"attention_codes.h",
R"msl(#include "attention_int8.h"
#include "attention_partition.h"
METAL_FUNC PartTile keys_of(device const char* k_cache, device const char* v_cache, device const int* blocks, int p0,
                            uint key_tiles, int context, uint kv_head, uint lane,
                            constant pagoda_args::PagedAttention& args) {
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  PartTile keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.tail = 0;
  keys.has_tail = false;
  keys.is_wide = true;
  keys.kv_head = kv_head;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
  return keys;
}
template <typename T>
METAL_FUNC void load_tail(device const char* v_cache, device const int* blocks, threadgroup T* v_tail, PartTile keys,
                          uint tid, constant pagoda_args::PagedAttention& args) {}
template <typename T>
METAL_FUNC float4 scales_of(device const T* k_cache, device const T* v_cache, device const int* blocks, PartTile keys,
                            uint tid, constant pagoda_args::PagedAttention& args) {
  return float4(0.0f, 0.0f, 0.0f, 0.0f);
}
METAL_FUNC float4 scales_of(device const char* k_cache, device const char* v_cache, device const int* blocks,
                            PartTile keys, uint tid, constant pagoda_args::PagedAttention& args) {
  float4 scales = float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
  for (uint i = 0; i < kPartition / kThreads; ++i) {
    const uint at = tid + i * kThreads;
    if (at < keys.key_tiles * 8) {
      const uint key = uint(keys.p0) + at;
      scales[i] = scale_of_row(cache_rows(k_cache, blocks, key, args.block_size, args.k_block_stride,
                                          args.k_slot_stride, long(keys.kv_head) * args.k_head_stride),
                               args.dim);
      scales[2 + i] = scale_of_row(cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride,
                                              args.v_slot_stride, long(keys.kv_head) * args.v_head_stride),
                                   args.dim);
    }
  }
  return scales;
}
template <typename T>
METAL_FUNC void stage_scales(device const T* k_cache, float4 scales, threadgroup float* to, uint tid) {}
METAL_FUNC void stage_scales(device const char* k_cache, float4 scales, threadgroup float* to, uint tid) {
#pragma unroll
  for (uint i = 0; i < kPartition / kThreads; ++i) {
    to[tid + i * kThreads] = scales[i];
    to[kPartition + tid + i * kThreads] = scales[2 + i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
template <typename T, uint RT>
METAL_FUNC void score_partition(device const char* k_cache, device const int* blocks, threadgroup const T* q_tile,
                                threadgroup float* s_tile, threadgroup T* scratch, PartTile keys, uint row_tiles,
                                uint sg, uint lane, constant pagoda_args::PagedAttention& args) {
  for (uint pair = sg; 2 * pair < keys.key_tiles; pair += kSimdgroups) {
    device const char* rows[2];
    SumTile acc[2][RT];
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      rows[t] = row_of_lane(k_cache + long(keys.kv_head) * args.k_head_stride, keys.block, keys.offset, 2 * pair + t,
                            lane, args.k_block_stride, args.k_slot_stride) +
                lane % 4 * 16;
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        acc[t][r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
    }
    score_codes<T, RT>(acc, rows[0], rows[1], args.dim, q_tile, kQueryStride,
                       (threadgroup uint*)(scratch) + sg * kScratch, lane);
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        if (r < row_tiles && 2 * pair + t < keys.key_tiles) {
          simdgroup_store(acc[t][r], s_tile + r * 8 * kScores + (2 * pair + t) * 8, kScores, ulong2(0, 0), true);
        }
      }
    }
  }
}
template <typename T, uint RT>
METAL_FUNC void sum_partition(device const char* v_cache, device const int* blocks, threadgroup float* s_tile,
                              threadgroup T* v_tail, PartTile keys, uint row_tiles, uint sg, uint lane,
                              constant pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  const uint columns = (args.dim + kValueColumns * kSimdgroups - 1) / (kValueColumns * kSimdgroups) * kValueColumns;
  const uint first_column = sg * columns;
  const uint end = min(args.dim, first_column + columns);
  SumTile acc[RT][COLS];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint c = 0; c < COLS; ++c) {
      acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
#pragma unroll 4
  for (uint kt = 0; kt < keys.key_tiles; ++kt) {
    device const char* row = row_of_lane(v_cache + long(keys.kv_head) * args.v_head_stride, keys.block, keys.offset, kt,
                                         lane, args.v_block_stride, args.v_slot_stride);
    simdgroup_matrix<T, 8, 8> weights[RT];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      simdgroup_load(weights[r], (threadgroup T*)(s_tile) + (r < row_tiles ? r : 0) * 8 * LDW + kt * 8, LDW);
    }
    add_codes<T, RT, COLS>(acc, weights, row, first_column, end, (threadgroup uint*)(v_tail) + sg * kScratch, lane);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint c = 0; c < COLS; ++c) {
      if (r < row_tiles && first_column + c / 4 * kValueColumns < end) {
        simdgroup_store(acc[r][c], s_tile + r * 8 * kScores + first_column + c * 8, kScores);
      }
    }
  }
}
)msl"},
    {"attention_int8.h",
R"msl(#include "cache_row.h"
#include "codes.h"
constant constexpr uint kScratch = kTileScratch / 2;
constant constexpr uint kValueColumns = 32;
template <bool IS_INT8>
METAL_FUNC uint column_in_sums(uint d) {
  return IS_INT8 ? d / 32 * 32 + d % 8 / 2 * 8 + d % 32 / 8 * 2 + d % 2 : d;
}
METAL_FUNC float scale_of_row(device const char* row, uint dim) { return *(device const float*)(row + scale_at(dim)); }
METAL_FUNC device const char* row_of_lane(device const char* cache, int block, int offset, uint tile, uint lane,
                                          long block_stride, long slot_stride) {
  return cache + long(simd_shuffle(block, ushort(tile))) * block_stride +
         long(simd_shuffle(offset, ushort(tile)) + int(lane / 4)) * slot_stride;
}
template <typename T, uint RT>
METAL_FUNC void score_codes(thread SumTile (&acc)[2][RT], device const char* first, device const char* second, uint dim,
                            threadgroup const T* q_tile, uint q_stride, threadgroup uint* scratch, uint lane) {
  constexpr uint AHEAD = 3;
  const uint quarter = lane % 4 * 16;
  for (uint begin = 0; begin < dim; begin += AHEAD * kChunk) {
    uint4 codes[AHEAD][2];
#pragma unroll
    for (uint c = 0; c < AHEAD; ++c) {
      codes[c][0] = uint4(0, 0, 0, 0);
      codes[c][1] = uint4(0, 0, 0, 0);
      if (begin + c * kChunk + quarter < dim) {
        codes[c][0] = *(device const uint4*)(first + begin + c * kChunk);
        codes[c][1] = *(device const uint4*)(second + begin + c * kChunk);
      }
    }
#pragma unroll
    for (uint c = 0; c < AHEAD; ++c) {
      const uint column = begin + c * kChunk;
      if (column < dim) {
        uint k_words[2][kChunkTiles];
        uint q_words[RT][kChunkTiles];
#pragma unroll
        for (uint t = 0; t < 2; ++t) {
          signed_bytes_to_words(codes[c][t], k_words[t]);
        }
#pragma unroll
        for (uint r = 0; r < RT; ++r) {
          load_words((threadgroup const uint*)(q_tile + (r * 8 + lane / 4) * q_stride + column + quarter), q_words[r]);
        }
        pair_multiply<T, 2, RT>(acc, 0, k_words, q_words, scratch, lane);
      }
    }
  }
}
template <typename T, uint RT, uint N>
METAL_FUNC void add_codes(thread SumTile (&acc)[RT][N], thread simdgroup_matrix<T, 8, 8> (&weights)[RT],
                          device const char* row, uint first_column, uint dim, threadgroup uint* scratch, uint lane) {
  uint2 codes[N / 4];
#pragma unroll
  for (uint h = 0; h < N / 4; ++h) {
    const uint column = first_column + h * kValueColumns + lane % 4 * 8;
    codes[h] = uint2(0, 0);
    if (column < dim) {
      codes[h] = *(device const uint2*)(row + column);
    }
  }
#pragma unroll
  for (uint h = 0; h < N / 4; ++h) {
    if (first_column + h * kValueColumns < dim) {
      simdgroup_matrix<T, 8, 8> values[4];
      const uint2 a = signed_codes_in(codes[h].x);
      const uint2 b = signed_codes_in(codes[h].y);
      make_row_tiles(uint4(a.x, a.y, b.x, b.y), values, scratch, lane);
#pragma unroll
      for (uint j = 0; j < 4; ++j) {
#pragma unroll
        for (uint r = 0; r < RT; ++r) {
          simdgroup_multiply_accumulate(acc[r][4 * h + j], weights[r], values[j], acc[r][4 * h + j]);
        }
      }
    }
  }
}
)msl"},
    {"attention_partition.h",
R"msl(#include "paged_attention.h"
#include "tiles.h"
template <typename T>
METAL_FUNC device const T* cache_rows(device const T* cache, device const int* blocks, uint key, uint block_size,
                                      long block_stride, long slot_stride, long head_offset) {
  return cache + long(blocks[key / block_size]) * block_stride + long(key % block_size) * slot_stride + head_offset;
}
template <typename T, uint RT>
METAL_FUNC void score_keys(device const T* rows, threadgroup const T* q_tile, threadgroup float* s_tile, uint kt,
                           uint row_tiles, constant pagoda_args::PagedAttention& args) {
  simdgroup_matrix<float, 8, 8> acc[RT];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    acc[r] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
#pragma unroll 8
  for (uint d = 0; d < args.dim; d += 8) {
    simdgroup_matrix<T, 8, 8> k_mat;
    simdgroup_load(k_mat, rows + d, ulong(args.k_slot_stride), ulong2(0, 0), true);
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      if (r < row_tiles) {
        simdgroup_matrix<T, 8, 8> q_mat;
        simdgroup_load(q_mat, q_tile + r * 8 * kQueryStride + d, kQueryStride);
        simdgroup_multiply_accumulate(acc[r], q_mat, k_mat, acc[r]);
      }
    }
  }
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
    if (r < row_tiles) {
      simdgroup_store(acc[r], s_tile + r * 8 * kScores + kt * 8, kScores);
    }
  }
}
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_scores(threadgroup const float* row, threadgroup T* weights, threadgroup const float* scales,
                             int p0, uint num_keys, int position, uint lane, constant pagoda_args::PagedAttention& args,
                             thread float& largest, thread float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (at < num_keys && is_visible(p0 + int(at), position, args.window)) {
      float s = row[at] * (IS_INT8 ? scales[at] * args.scale : args.scale);
      if (use_softcap) {
        s = args.softcap * precise::tanh(s / args.softcap);
      }
      score[i] = s;
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const bool seen = at < num_keys && is_visible(p0 + int(at), position, args.window);
    const KeyWeight<T> weight = weight_of<T, IS_INT8>(seen, score[i] - largest, scales + kPartition, at);
    if (at < num_keys) {
      weights[at] = weight.of_codes;
    }
    sum += weight.share;
  }
  sum = simd_sum(sum);
}
template <typename T, uint RT, uint COLS>
METAL_FUNC void add_values(thread simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS],
                           thread simdgroup_matrix<T, 8, 8> (&w_mat)[RT], device const T* rows,
                           threadgroup const T* v_tail, bool is_tail, uint first_column, uint columns, uint row_tiles,
                           constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
      simdgroup_matrix<T, 8, 8> v_mat;
      if (is_tail) {
        simdgroup_load(v_mat, v_tail + (first_column + c) * 8, kMaxDim);
      } else {
        simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.v_slot_stride));
      }
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        if (r < row_tiles) {
          simdgroup_multiply_accumulate(acc[r][c], w_mat[r], v_mat, acc[r][c]);
        }
      }
    }
  }
}
template <uint RT, uint COLS>
METAL_FUNC void store_values(thread simdgroup_matrix<float, 8, 8> (&acc)[RT][COLS], threadgroup float* s_tile,
                             uint first_column, uint columns, uint row_tiles,
                             constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint c = 0; c < COLS; ++c) {
    if (c < columns && first_column + c < args.dim / 8) {
#pragma unroll
      for (uint r = 0; r < RT; ++r) {
        if (r < row_tiles) {
          simdgroup_store(acc[r][c], s_tile + r * 8 * kScores + (first_column + c) * 8, kScores);
        }
      }
    }
  }
}
#ifdef __MSL_PAIRED_MMA__
template <typename T>
METAL_FUNC uint4 wide_load(device const T* at, bool is_inside) {
  uint4 v = uint4(0, 0, 0, 0);
  if (is_inside) {
    v = *(device const uint4*)(at);
  }
  return v;
}
template <typename T>
METAL_FUNC bool is_wide(device const T* cache, long block_stride, long slot_stride, long head_stride) {
  return msl_is_wide(cache) && (block_stride | slot_stride | head_stride) % 8 == 0;
}
template <typename T, uint RT>
METAL_FUNC void score_keys_wide(device const T* k_cache, long at, threadgroup const T* q_tile,
                                threadgroup float* s_tile, uint key_tiles, uint row_tiles, uint sg, uint lane,
                                constant pagoda_args::PagedAttention& args) {
  constexpr uint CHUNKS = kMaxDim / kChunk;
  constexpr uint AHEAD = CHUNKS / RT;
  for (uint pair = sg; 2 * pair < key_tiles; pair += kSimdgroups) {
    device const T* rows[2];
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      rows[t] = k_cache + simd_shuffle(at, ushort(min(2 * pair + t, key_tiles - 1))) +
                long(lane / 4) * args.k_slot_stride + lane % 4 * 16;
    }
    SumTile acc[RT][2];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      acc[r][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      acc[r][1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
#pragma unroll
    for (uint first = 0; first < CHUNKS; first += AHEAD) {
      uint k_words[AHEAD][2][kChunkTiles];
#pragma unroll
      for (uint c = 0; c < AHEAD; ++c) {
        const uint column = (first + c) * kChunk;
        const int left = int(args.dim) - int(column + lane % 4 * 16);
#pragma unroll
        for (uint t = 0; t < 2; ++t) {
          set_words(wide_load(rows[t] + column, left > 0), wide_load(rows[t] + column + 8, left > 8), k_words[c][t]);
        }
      }
#pragma unroll
      for (uint c = 0; c < AHEAD; ++c) {
        const uint column = (first + c) * kChunk + lane % 4 * 16;
        uint q_words[RT][kChunkTiles];
#pragma unroll
        for (uint r = 0; r < RT; ++r) {
          load_words((threadgroup const uint*)(q_tile + (min(r, row_tiles - 1) * 8 + lane / 4) * kQueryStride + column),
                     q_words[r]);
        }
        chunk_multiply<T, RT, 2>(acc, q_words, k_words[c], (threadgroup uint*)(s_tile), lane);
      }
    }
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
#pragma unroll
      for (uint t = 0; t < 2; ++t) {
        if (r < row_tiles && 2 * pair + t < key_tiles) {
          simdgroup_store(acc[r][t], s_tile + r * 8 * kScores + (2 * pair + t) * 8, kScores);
        }
      }
    }
  }
}
template <typename T, uint RT>
METAL_FUNC void add_values_wide(thread SumTile (&acc)[RT][8], device const T* v_cache, long at,
                                threadgroup const T* weights, uint ld, uint key_tiles, int num_keys, uint sg, uint lane,
                                constant pagoda_args::PagedAttention& args) {
  const uint column = sg * 64 + lane / 4 * 8;
#pragma unroll(4 / RT)
  for (uint s = 0; s < (key_tiles + 1) / 2; ++s) {
    uint4 v[4];
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const uint in_tile = lane % 4 * 2 + i % 2;
      const uint key = s * 16 + i / 2 * 8 + in_tile;
      device const T* row = v_cache + simd_shuffle(at, ushort(2 * s + i / 2)) + long(in_tile) * args.v_slot_stride;
      v[i] = wide_load(row + column, int(key) < num_keys && column < args.dim);
    }
    uint w[RT][2];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      threadgroup const T* row = weights + (r * 8 + lane / 4) * ld + s * 16 + lane % 4 * 2;
      w[r][0] = *(threadgroup const uint*)(row);
      w[r][1] = 0;
      if (2 * s + 1 < key_tiles) {
        w[r][1] = *(threadgroup const uint*)(row + 8);
      }
    }
#pragma unroll
    for (uint j = 0; j < 8; ++j) {
      msl_multiply_rows<T, RT>(acc, j, w, v);
    }
  }
}
template <uint RT>
METAL_FUNC void store_values_wide(thread SumTile (&acc)[RT][8], threadgroup float* s_tile, uint row_tiles, uint sg,
                                  uint lane, constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      const uint column = sg * 64 + (lane % 4 * 2 + i) * 8;
      if (r < row_tiles && column < args.dim) {
        threadgroup float* to = s_tile + (r * 8 + lane / 4) * kScores + column;
        *(threadgroup float4*)(to) =
            float4(acc[r][0].msl_at(i), acc[r][1].msl_at(i), acc[r][2].msl_at(i), acc[r][3].msl_at(i));
        *(threadgroup float4*)(to + 4) =
            float4(acc[r][4].msl_at(i), acc[r][5].msl_at(i), acc[r][6].msl_at(i), acc[r][7].msl_at(i));
      }
    }
  }
}
#endif
struct PartTile {
  int p0;
  uint key_tiles;
  int context;
  int tail;
  bool has_tail;
  bool is_wide;
  uint kv_head;
  int block;
  int offset;
};
template <typename T>
METAL_FUNC PartTile keys_of(device const T* k_cache, device const T* v_cache, device const int* blocks, int p0,
                            uint key_tiles, int context, uint kv_head, uint lane,
                            constant pagoda_args::PagedAttention& args) {
  PartTile keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.tail = context / 8 * 8;
  keys.has_tail = p0 + int(key_tiles) * 8 > context;
  keys.is_wide = false;
  keys.kv_head = kv_head;
  keys.block = 0;
  keys.offset = 0;
#ifdef __MSL_PAIRED_MMA__
  keys.is_wide = sizeof(T) == 2 && is_wide(k_cache, args.k_block_stride, args.k_slot_stride, args.k_head_stride) &&
                 is_wide(v_cache, args.v_block_stride, args.v_slot_stride, args.v_head_stride);
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
#endif
  return keys;
}
template <typename T>
METAL_FUNC void load_tail(device const T* v_cache, device const int* blocks, threadgroup T* v_tail, PartTile keys,
                          uint tid, constant pagoda_args::PagedAttention& args) {
  if (!keys.has_tail || keys.is_wide) {
    return;
  }
  device const T* rows = cache_rows(v_cache, blocks, uint(keys.tail), args.block_size, args.v_block_stride,
                                    args.v_slot_stride, long(keys.kv_head) * args.v_head_stride);
  for (uint i = tid; i < 8 * args.dim; i += kThreads) {
    const uint r = i / args.dim;
    const uint d = i % args.dim;
    T value = T(0.0f);
    if (int(r) < keys.context - keys.tail) {
      value = rows[long(r) * args.v_slot_stride + d];
    }
    v_tail[r * kMaxDim + d] = value;
  }
}
template <typename T, uint RT>
METAL_FUNC void score_partition(device const T* k_cache, device const int* blocks, threadgroup const T* q_tile,
                                threadgroup float* s_tile, threadgroup T* scratch, PartTile keys, uint row_tiles,
                                uint sg, uint lane, constant pagoda_args::PagedAttention& args) {
  const long head_offset = long(keys.kv_head) * args.k_head_stride;
#ifdef __MSL_PAIRED_MMA__
  if constexpr (sizeof(T) == 2) {
    if (keys.is_wide) {
      score_keys_wide<T, RT>(k_cache, keys.block * args.k_block_stride + keys.offset * args.k_slot_stride + head_offset,
                             q_tile, s_tile, keys.key_tiles, row_tiles, sg, lane, args);
    }
  }
#endif
  for (uint kt = keys.is_wide ? keys.key_tiles : sg; kt < keys.key_tiles; kt += kSimdgroups) {
    score_keys<T, RT>(cache_rows(k_cache, blocks, uint(keys.p0) + kt * 8, args.block_size, args.k_block_stride,
                                 args.k_slot_stride, head_offset),
                      q_tile, s_tile, kt, row_tiles, args);
  }
}
)msl"
R"msl(template <typename T, uint RT>
METAL_FUNC void sum_partition(device const T* v_cache, device const int* blocks, threadgroup float* s_tile,
                              threadgroup T* v_tail, PartTile keys, uint row_tiles, uint sg, uint lane,
                              constant pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  constexpr uint COLS = kMaxDim / 8 / kSimdgroups;
  const uint columns = (args.dim / 8 + kSimdgroups - 1) / kSimdgroups;
  const uint first_column = sg * columns;
  const long head_offset = long(keys.kv_head) * args.v_head_stride;
  simdgroup_matrix<float, 8, 8> acc[RT][COLS];
#pragma unroll
  for (uint r = 0; r < RT; ++r) {
#pragma unroll
    for (uint c = 0; c < COLS; ++c) {
      acc[r][c] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
#ifdef __MSL_PAIRED_MMA__
  if constexpr (sizeof(T) == 2) {
    if (keys.is_wide) {
      add_values_wide<T, RT>(
          acc, v_cache, keys.block * args.v_block_stride + keys.offset * args.v_slot_stride + head_offset,
          (threadgroup const T*)(s_tile), LDW, keys.key_tiles, keys.context - keys.p0, sg, lane, args);
    }
  }
#endif
#pragma unroll 4
  for (uint kt = keys.is_wide ? keys.key_tiles : 0; kt < keys.key_tiles; ++kt) {
    const uint key = uint(keys.p0) + kt * 8;
    device const T* rows =
        cache_rows(v_cache, blocks, key, args.block_size, args.v_block_stride, args.v_slot_stride, head_offset);
    simdgroup_matrix<T, 8, 8> weights[RT];
#pragma unroll
    for (uint r = 0; r < RT; ++r) {
      if (r < row_tiles) {
        simdgroup_load(weights[r], (threadgroup T*)(s_tile) + r * 8 * LDW + kt * 8, LDW);
      }
    }
    add_values<T, RT, COLS>(acc, weights, rows, (threadgroup const T*)(v_tail), int(key) == keys.tail, first_column,
                            columns, row_tiles, args);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef __MSL_PAIRED_MMA__
  if (keys.is_wide) {
    store_values_wide<RT>(acc, s_tile, row_tiles, sg, lane, args);
    return;
  }
#endif
  store_values<RT, COLS>(acc, s_tile, first_column, columns, row_tiles, args);
}
)msl"},
    {"attention_tile.h",
R"msl(#include "attention_codes.h"
struct RowTile {
  uint seq;
  int begin;
  int tokens;
  int context;
  int row0;
  int num_rows;
  uint first_part;
  uint last_part;
  bool is_split;
};
METAL_FUNC int position_of(RowTile tile, int row, uint group) {
  return use_all_keys ? tile.context - 1 : tile.context - tile.tokens + (tile.row0 + row) / int(group);
}
template <uint ROWS>
METAL_FUNC RowTile tile_at(device const int* cu_seqlens, device const int* context_lens, uint3 tg,
                           constant pagoda_args::PagedAttention& args) {
  RowTile tile;
  tile.seq = sequence_of_tile(cu_seqlens, args.num_sequences, tg.x, args.group, ROWS);
  tile.begin = cu_seqlens[tile.seq];
  tile.tokens = cu_seqlens[tile.seq + 1] - tile.begin;
  tile.context = context_lens[tile.seq];
  tile.row0 = int((tg.x - first_tile(cu_seqlens, tile.seq, args.group, ROWS)) * ROWS);
  tile.num_rows = min(int(ROWS), tile.tokens * int(args.group) - tile.row0);
  tile.is_split = tile.tokens == 1 && args.is_split != 0;
  if (tile.num_rows <= 0 || (!tile.is_split && tg.z > 0)) {
    tile.num_rows = 0;
    return tile;
  }
  tile.first_part = first_part(position_of(tile, 0, args.group), args.window);
  tile.last_part = uint(position_of(tile, tile.num_rows - 1, args.group)) / kPartition;
  if (tile.is_split) {
    if (tg.z < tile.first_part || tg.z > tile.last_part) {
      tile.num_rows = 0;
    }
    tile.first_part = tg.z;
    tile.last_part = tg.z;
  }
  return tile;
}
template <typename T, uint ROWS>
METAL_FUNC void load_queries(device const float* q, threadgroup T* q_tile, RowTile tile, uint kv_head, uint tid,
                             constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < kMaxDim / kThreads; ++i) {
    const uint d = tid + kThreads * i;
    float v[ROWS];
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      const int flat = tile.row0 + min(int(r), tile.num_rows - 1);
      const long head = long(kv_head) * args.group + flat % int(args.group);
      v[r] = 0.0f;
      if (d < args.dim) {
        v[r] = q[long(tile.begin + flat / int(args.group)) * args.q_stride + head * args.q_head_stride + d];
      }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
      q_tile[r * kQueryStride + d] = T(v[r]);
    }
  }
}
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_rows(threadgroup float* s_tile, threadgroup const float* scales, threadgroup float* stats,
                           RowTile tile, int p0, uint num_keys, uint sg, uint lane,
                           constant pagoda_args::PagedAttention& args) {
  constexpr uint LDW = kScores * 4 / sizeof(T);
  for (uint r = sg; r < uint(tile.num_rows); r += kSimdgroups) {
    float largest = 0.0f;
    float sum = 0.0f;
    weigh_scores<T, IS_INT8>((threadgroup const float*)(s_tile + r * kScores), (threadgroup T*)(s_tile) + r * LDW,
                             scales, p0, num_keys, position_of(tile, int(r), args.group), lane, args, largest, sum);
    if (lane == 0) {
      stats[r * kStats + kPartMax] = largest;
      stats[r * kStats + kPartSum] = sum;
    }
  }
}
METAL_FUNC void merge_stats(threadgroup float* row) {
  const float largest = max(row[kRowMax], row[kPartMax]);
  const float total_factor = precise::exp(row[kRowMax] - largest);
  const float part_factor = precise::exp(row[kPartMax] - largest);
  row[kRowSum] = merged(row[kRowSum], total_factor, row[kPartSum], part_factor);
  row[kRowMax] = largest;
  row[kTotalFactor] = total_factor;
  row[kPartFactor] = part_factor;
}
template <uint EACH, bool IS_INT8>
METAL_FUNC void merge_values(thread float (&total)[EACH], threadgroup const float* s_tile,
                             threadgroup const float* stats, RowTile tile, uint tid,
                             constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      total[i] = merged(total[i], stats[r * kStats + kTotalFactor], s_tile[r * kScores + column_in_sums<IS_INT8>(d)],
                        stats[r * kStats + kPartFactor]);
    }
  }
}
template <uint RT, uint EACH>
METAL_FUNC void begin_rows(threadgroup float* stats, thread float (&total)[EACH], uint tid) {
  if (tid < 8 * RT) {
    stats[tid * kStats + kRowMax] = kNegBig;
    stats[tid * kStats + kRowSum] = 0.0f;
  }
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    total[i] = 0.0f;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
template <typename T, typename C, uint RT, uint EACH>
METAL_FUNC void add_partition(device const C* k_cache, device const C* v_cache, device const int* blocks,
                              threadgroup const T* q_tile, threadgroup float* s_tile, threadgroup T* v_tail,
                              threadgroup float* stats, thread float (&total)[EACH], RowTile tile, uint part,
                              uint kv_head, uint tid, uint sg, uint lane, constant pagoda_args::PagedAttention& args) {
  constexpr bool IS_INT8 = sizeof(C) == 1;
  const uint row_tiles = (uint(tile.num_rows) + 7) / 8;
  const int last_position = position_of(tile, tile.num_rows - 1, args.group);
  const int p0 = int(part * kPartition);
  const uint key_tiles = (uint(min(int(kPartition), last_position + 1 - p0)) + 7) / 8;
  const PartTile keys = keys_of(k_cache, v_cache, blocks, p0, key_tiles, tile.context, kv_head, lane, args);
  const float4 scales = scales_of(k_cache, v_cache, blocks, keys, tid, args);
  score_partition<T, RT>(k_cache, blocks, q_tile, s_tile, v_tail, keys, row_tiles, sg, lane, args);
  load_tail<T>(v_cache, blocks, v_tail, keys, tid, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  stage_scales(k_cache, scales, (threadgroup float*)(v_tail), tid);
  weigh_rows<T, IS_INT8>(s_tile, (threadgroup const float*)(v_tail), stats, tile, p0, key_tiles * 8, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (int(tid) < tile.num_rows) {
    merge_stats(stats + tid * kStats);
  }
  sum_partition<T, RT>(v_cache, blocks, s_tile, v_tail, keys, row_tiles, sg, lane, args);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  merge_values<EACH, IS_INT8>(total, (threadgroup const float*)(s_tile), (threadgroup const float*)(stats), tile, tid,
                              args);
}
template <uint EACH>
METAL_FUNC void store_rows(thread const float (&total)[EACH], threadgroup const float* stats, device const float* sinks,
                           device float* partials, device float* out, RowTile tile, uint kv_head, uint part, uint tid,
                           constant pagoda_args::PagedAttention& args) {
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint r = (tid + kThreads * i) / kMaxDim;
    const uint d = (tid + kThreads * i) % kMaxDim;
    if (int(r) < tile.num_rows && d < args.dim) {
      const long token = tile.begin + (tile.row0 + int(r)) / int(args.group);
      const long head = long(kv_head) * args.group + (tile.row0 + int(r)) % int(args.group);
      const float largest = stats[r * kStats + kRowMax];
      const float sum = stats[r * kStats + kRowSum];
      if (tile.is_split) {
        device float* to =
            partials + ((long(tile.seq) * args.heads + head) * args.max_parts + long(part)) * (args.dim + 2);
        to[d] = total[i];
        if (d == 0) {
          to[args.dim] = largest;
          to[args.dim + 1] = sum;
        }
      } else {
        const float sink = use_sinks ? sinks[head] : 0.0f;
        out[token * args.out_stride + head * args.out_head_stride + d] = total[i] * scale_to_end(largest, sum, sink);
      }
    }
  }
}
)msl"},
    {"cache_row.h",
R"msl(#include "common.h"
METAL_FUNC uint scale_at(uint dim) { return (dim + 3) / 4 * 4; }
template <typename P, typename T>
METAL_FUNC void cache_row(P from, device T* to, uint dim, uint lane) {
  for (uint d = lane; d < dim; d += 32) {
    to[d] = T(from[d]);
  }
}
template <typename P>
METAL_FUNC void cache_row(P from, device char* to, uint dim, uint lane) {
  float largest = 0.0f;
  float poison = 0.0f;
  for (uint d = lane; d < dim; d += 32) {
    largest = max(largest, abs(from[d]));
    poison += from[d] * 0.0f;
  }
  largest = simd_max(largest);
  poison = simd_sum(poison);
  const bool has_codes = poison == 0.0f && largest > as_type<float>(27u << 23);
  const float inverse = has_codes ? 127.0f / largest : 0.0f;
  for (uint d = lane; d < dim; d += 32) {
    to[d] = char(has_codes ? int(rint(from[d] * inverse)) : 0);
  }
  if (lane == 0) {
    *(device float*)(to + scale_at(dim)) = (has_codes ? largest / 127.0f : 0.0f) + poison;
  }
}
)msl"},
    {"candidates.h",
R"msl(#include "common.h"
#include "keys.h"
constant constexpr uint kThreads = 256;
constant constexpr uint kSimdgroups = kThreads / 32;
constant constexpr uint kEach = 16;
constant constexpr uint kMostKept = 64;
constant constexpr uint kRefused = 0xffffffffu;
METAL_FUNC ulong candidate_of(float logit, uint id) {
  uint key = key_of(logit);
  key = key >= kMinusInfinityKey && key < kInfinityKey ? key : kRefused;
  return key == kMinusInfinityKey ? 0ul : ulong(key) << 32 | ulong(0xffffffffu - id);
}
METAL_FUNC uint key_in(ulong candidate) { return uint(candidate >> 32); }
METAL_FUNC uint id_in(ulong candidate) { return 0xffffffffu - uint(candidate); }
METAL_FUNC ulong bound_of(thread const ulong (&mine)[kEach], uint wanted, threadgroup uint* counts, uint lane,
                          uint sg) {
  ulong bound = 0;
  for (uint bit = 64; bit > 0; --bit) {
    const ulong tried = bound | 1ul << (bit - 1);
    uint count = 0;
#pragma unroll
    for (uint i = 0; i < kEach; ++i) {
      count += mine[i] >= tried ? 1u : 0u;
    }
    count = simd_sum(count);
    threadgroup uint* round = counts + bit % 2 * kSimdgroups;
    if (lane == 0) {
      round[sg] = count;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint all = 0;
    for (uint i = 0; i < kSimdgroups; ++i) {
      all += round[i];
    }
    bound = all >= wanted ? tried : bound;
    if (all == wanted) {
      break;
    }
  }
  return bound;
}
template <typename To>
METAL_FUNC uint keep_from(thread const ulong (&mine)[kEach], ulong bound, uint room, To kept, threadgroup uint* totals,
                          uint tid, uint lane, uint sg) {
  uint count = 0;
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    count += mine[i] != 0 && mine[i] >= bound ? 1u : 0u;
  }
  uint next = simd_prefix_exclusive_sum(count);
  if (lane == 31) {
    totals[sg] = next + count;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint all = 0;
  for (uint i = 0; i < kSimdgroups; ++i) {
    next += i < sg ? totals[i] : 0u;
    all += totals[i];
  }
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    if (mine[i] != 0 && mine[i] >= bound && all <= room) {
      kept[next] = mine[i];
      ++next;
    }
  }
  if (tid < room && (tid >= all || all > room)) {
    kept[tid] = all > room ? ulong(kRefused) << 32 : 0ul;
  }
  return all;
}
template <typename To>
METAL_FUNC void keep_highest(thread const ulong (&mine)[kEach], uint wanted, To kept, threadgroup uint* counts,
                             uint tid, uint lane, uint sg) {
  const ulong bound = bound_of(mine, wanted, counts, lane, sg);
  keep_from(mine, bound, wanted, kept, counts + 2 * kSimdgroups, tid, lane, sg);
}
METAL_FUNC void load_found(device const ulong* found, uint parts, uint wanted, uint tid, thread ulong (&mine)[kEach]) {
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint at = i * kThreads + tid;
    mine[i] = 0;
    if (at < parts * wanted) {
      mine[i] = found[long(at / wanted) * kThreads + at % wanted];
    }
  }
}
METAL_FUNC uint highest_key(uint key, threadgroup uint* keys, uint lane, uint sg) {
  key = simd_max(key);
  if (lane == 0) {
    keys[sg] = key;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < kSimdgroups; ++i) {
    key = max(key, keys[i]);
  }
  return key;
}
METAL_FUNC uint highest_in(device const uint* highest, uint parts, threadgroup uint* keys, uint tid, uint lane,
                           uint sg) {
  return highest_key(tid < parts ? highest[tid] : 0u, keys, lane, sg);
}
METAL_FUNC ulong mass_of(ulong own, threadgroup ulong* masses, uint lane, uint sg) {
  const uint upper = simd_sum(uint(own >> 26));
  const uint lower = simd_sum(uint(own) & 0x3ffffffu);
  if (lane == 0) {
    masses[sg] = (ulong(upper) << 26) + lower;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong mass = 0;
  for (uint i = 0; i < kSimdgroups; ++i) {
    mass += masses[i];
  }
  return mass;
}
)msl"},
    {"chunk_tile.h",
R"msl(#include "stored.h"
#ifdef __MSL_PAIRED_MMA__
constant constexpr uint kStagedWords = kChunk / 2 + 4;
constant constexpr uint kFactorWords = 0;
template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_pair(Stored<false> kind, thread SumTile (&acc)[R][M], uint first,
                              thread const uint (&w)[2][kChunkTiles], thread const uint (&x)[M][kChunkTiles],
                              threadgroup const float* staged, uint row, constant pagoda_args::Scales& scales,
                              threadgroup uint* scratch, uint lane) {
  pair_multiply<T, R, M>(acc, first, w, x, scratch, lane);
}
template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_pair(Stored<true> kind, thread SumTile (&acc)[R][M], uint first,
                              thread const uint (&w)[2][kChunkTiles], thread const uint (&x)[M][kChunkTiles],
                              threadgroup const float* staged, uint row, constant pagoda_args::Scales& scales,
                              threadgroup uint* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  float terms[2][2 * GROUPS];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint g = 0; g < 2 * GROUPS; ++g) {
      terms[i][g] = staged[(row + 8 * i + lane / 4) * 2 * GROUPS + g];
    }
  }
  add_groups<T, GROUPS, 2, R, M>(acc, first, w, terms, x, (scales.kind & kHasMins) != 0, scratch, lane);
}
METAL_FUNC void store_pair(thread const uint (&low)[kChunkTiles], thread const uint (&high)[kChunkTiles],
                           threadgroup uint* tile, uint pair, uint tid) {
  threadgroup uint* to = tile + (4 * pair + tid / 32) * (16 * kChunk / 2) + tid % 32 * 4;
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
    *(threadgroup uint4*)(to + 64 * j) = uint4(low[j], high[j], low[j + 1], high[j + 1]);
  }
}
METAL_FUNC void load_pair(threadgroup const uint* tile, uint row, uint lane, thread uint (&words)[2][kChunkTiles]) {
  threadgroup const uint* from = tile + row * (kChunk / 2) + lane * 4;
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
    const uint4 four = *(threadgroup const uint4*)(from + 64 * j);
    words[0][j] = four.x;
    words[1][j] = four.y;
    words[0][j + 1] = four.z;
    words[1][j + 1] = four.w;
  }
}
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_tile(thread SumTile (&total)[WT][MT], device const T* x, device const uint* w,
                              device const ushort* w_steps, thread const ulong (&x_at)[MT / 2],
                              thread const ulong (&w_at)[WT / 2], thread Share<BITS> (&w_next)[WT / 2],
                              constant pagoda_args::Scales& scales, uint padded_cols, uint run,
                              threadgroup uint* shared_words, uint tid, uint sg, uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  threadgroup uint* w_tile = shared_words;
  threadgroup uint* x_tile = shared_words + 16 * WT * kStagedWords;
  threadgroup float* terms = (threadgroup float*)(shared_words + (16 * WT + 16 * MT) * kStagedWords);
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * (8 * MT);
  SumTile acc[WT][MT];
#pragma unroll
  for (uint i = 0; i < WT; ++i) {
#pragma unroll
    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint x_next[X_SHARES][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < X_SHARES; ++i) {
    load_x<BITS>(x + x_at[i], x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; k0 < padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint i = 0; i < W_SHARES; i += 2) {
      uint words[2][kChunkTiles];
      share_words(w_next[i], scales, words[0]);
      share_words(w_next[i + 1], scales, words[1]);
      stage_terms(Stored<(BITS > 100)>(), w_next[i], scales, terms, staged_row(tid, i), tid % 4);
      stage_terms(Stored<(BITS > 100)>(), w_next[i + 1], scales, terms, staged_row(tid, i + 1), tid % 4);
      store_pair(words[0], words[1], w_tile, i / 2, tid);
    }
#pragma unroll
    for (uint i = 0; i < X_SHARES; ++i) {
      store_words(x_next[i], x_tile + (tid / 4 + 32 * i) * kStagedWords + tid % 4 * 8);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k0 + kChunk < padded_cols) {
#pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        load_share(w, w_steps, scales, w_at[i], k0 + kChunk, w_next[i]);
      }
#pragma unroll
      for (uint i = 0; i < X_SHARES; ++i) {
        load_x<BITS>(x + x_at[i] + k0 + kChunk, x_next[i]);
      }
    }
    uint x_words[MT][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < MT; ++i) {
      load_words((threadgroup const uint*)(x_tile + (sg_m + 8 * i + lane / 4) * kStagedWords + lane % 4 * 8),
                 x_words[i]);
    }
#pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      uint w_words[2][kChunkTiles];
      load_pair((threadgroup const uint*)(w_tile), sg_n + 8 * i, lane, w_words);
      multiply_pair<T, BITS, WT, MT>(Stored<(BITS > 100)>(), acc, i, w_words, x_words,
                                     (threadgroup const float*)(terms), sg_n + 8 * i, scales, shared_words, lane);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], shared_words, lane);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
#endif
)msl"},
    {"codes.h",
R"msl(#include "tiles.h"
METAL_FUNC float byte_minus(uint byte, float zero) { return as_type<float>(0x4b000000u | byte) - zero; }
METAL_FUNC uint2 words_of_codes(uint word, float zero) {
  return uint2(pack_exact(byte_minus(word & 255u, zero), byte_minus(word >> 8 & 255u, zero)),
               pack_exact(byte_minus(word >> 16 & 255u, zero), byte_minus(word >> 24, zero)));
}
METAL_FUNC void bytes_to_words(uint4 bytes, uint zero_code, thread uint (&words)[kChunkTiles]) {
  const float zero = 8388608.0f + float(zero_code);
  const uint2 a = words_of_codes(bytes.x, zero);
  const uint2 b = words_of_codes(bytes.y, zero);
  const uint2 c = words_of_codes(bytes.z, zero);
  const uint2 d = words_of_codes(bytes.w, zero);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}
METAL_FUNC uint2 signed_codes_in(uint word) { return words_of_codes(word ^ 0x80808080u, 8388608.0f + 128.0f); }
METAL_FUNC void signed_bytes_to_words(uint4 bytes, thread uint (&words)[kChunkTiles]) {
  bytes_to_words(uint4(bytes.x ^ 0x80808080u, bytes.y ^ 0x80808080u, bytes.z ^ 0x80808080u, bytes.w ^ 0x80808080u), 128,
                 words);
}
)msl"},
    {"common.h",
R"msl(#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;
constant constexpr float kNegBig = -1.0e30f;
METAL_FUNC void wait_for_inputs() {
#ifdef __MSL_PAIRED_MMA__
  msl_wait_for_inputs();
#endif
}
METAL_FUNC float sigmoid(float x) {
  const float e = precise::exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}
METAL_FUNC float silu(float x) { return x * sigmoid(x); }
template <uint N>
METAL_FUNC void load_ahead(device const float* from, uint first, uint stride, uint end, thread float (&v)[N]) {
#pragma unroll
  for (uint j = 0; j < N; ++j) {
    v[j] = 0.0f;
    if (first + j * stride < end) {
      v[j] = from[first + j * stride];
    }
  }
}
METAL_FUNC float threadgroup_sum(float v, threadgroup float* partial, uint lane, uint simdgroup, uint num_simdgroups) {
  v = simd_sum(v);
  if (lane == 0) {
    partial[simdgroup] = v;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0.0f;
  for (uint i = 0; i < num_simdgroups; ++i) {
    sum += partial[i];
  }
  return sum;
}
METAL_FUNC uint sequence_of_row(device const int* cu_seqlens, uint num_sequences, uint row) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (uint(cu_seqlens[mid]) <= row) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}
METAL_FUNC uint first_tile(device const int* cu_seqlens, uint b, uint group, uint tile_rows) {
  return uint(cu_seqlens[b]) * group / tile_rows + b;
}
METAL_FUNC uint sequence_of_tile(device const int* cu_seqlens, uint num_sequences, uint tile, uint group,
                                 uint tile_rows) {
  uint lo = 0;
  uint hi = num_sequences;
  while (hi - lo > 1) {
    const uint mid = (lo + hi) / 2;
    if (first_tile(cu_seqlens, mid, group, tile_rows) <= tile) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return lo;
}
METAL_FUNC float shifted_byte(uint byte, uint shift) {
  return (byte < 128 ? float(byte) : -float(byte - 128)) * as_type<float>((127u - shift) << 23);
}
METAL_FUNC float stepped_nibble(uint nibble, uint step, uint offset) {
  return float(int(step * nibble + offset) - 128);
}
template <typename T>
METAL_FUNC void pair_multiply_accumulate(thread simdgroup_matrix<float, 8, 8>& sum0,
                                         thread simdgroup_matrix<float, 8, 8>& sum1,
                                         thread simdgroup_matrix<T, 8, 8>& a0, thread simdgroup_matrix<T, 8, 8>& a1,
                                         thread simdgroup_matrix<T, 8, 8>& b) {
#ifdef __MSL_PAIRED_MMA__
  msl_multiply_accumulate_pair(sum0, sum1, a0, a1, b);
#else
  simdgroup_multiply_accumulate(sum0, a0, b, sum0);
  simdgroup_multiply_accumulate(sum1, a1, b, sum1);
#endif
}
)msl"},
    {"conv.h",
R"msl(#include "args/causal_conv1d.h"
#include "common.h"
constant constexpr uint kUsualTaps = 4;
METAL_FUNC long tail_offset(constant pagoda_args::CausalConv1d& args, int position) {
  return long(uint(position + int(args.tail_rows)) % args.tail_rows) * args.tail_row_stride;
}
METAL_FUNC float conv_row(device const float* x, device const float* tail, device const float* weight,
                          constant pagoda_args::CausalConv1d& args, int position, int row) {
  float sum = 0.0f;
  if (args.kernel_size == kUsualTaps) {
    float inputs[kUsualTaps];
    float weights[kUsualTaps];
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      const int at = row + int(i) + 1 - int(kUsualTaps);
      inputs[i] = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
      weights[i] = weight[long(i) * args.weight_stride];
    }
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[i], weights[i], sum);
    }
    return silu(sum);
  }
  for (uint i = 0; i < args.kernel_size; ++i) {
    const int at = row + int(i) + 1 - int(args.kernel_size);
    const float input = at >= 0 ? x[long(at) * args.x_stride] : tail[tail_offset(args, position + at)];
    sum = fma(input, weight[long(i) * args.weight_stride], sum);
  }
  return silu(sum);
}
template <uint ROWS>
METAL_FUNC void conv_rows(device const float* x, device const float* weight, constant pagoda_args::CausalConv1d& args,
                          int row, device float* out) {
  constexpr uint PAST = kUsualTaps - 1;
  float inputs[ROWS + PAST];
  float weights[kUsualTaps];
#pragma unroll
  for (uint i = 0; i < ROWS + PAST; ++i) {
    inputs[i] = x[long(row + int(i) - int(PAST)) * args.x_stride];
  }
#pragma unroll
  for (uint i = 0; i < kUsualTaps; ++i) {
    weights[i] = weight[long(i) * args.weight_stride];
  }
#pragma unroll
  for (uint r = 0; r < ROWS; ++r) {
    float sum = 0.0f;
#pragma unroll
    for (uint i = 0; i < kUsualTaps; ++i) {
      sum = fma(inputs[r + i], weights[i], sum);
    }
    out[long(r) * args.out_stride] = silu(sum);
  }
}
)msl"},
    {"edits.h",
R"msl(#include "args/sample.h"
#include "candidates.h"
constant constexpr uint kMinusInfinityBits = 0xff800000u;
constant constexpr float kHighest = 3.402823466e38f;
constant constexpr uint kPart = kThreads * kEach;
METAL_FUNC bool is_refused(float logit) {
  const uint key = key_of(logit);
  return key < kMinusInfinityKey || key >= kInfinityKey;
}
METAL_FUNC float edited(float logit, float bias, float repetition, float penalty) {
  float x = logit + bias;
  x = min(x, kHighest);
  x = x > 0.0f ? x / repetition : x * repetition;
  x = x - penalty;
  x = min(x, kHighest);
  x = repetition == 0.0f ? as_type<float>(kMinusInfinityBits) : x;
  return is_refused(logit) || key_of(logit) == kMinusInfinityKey ? logit : x;
}
METAL_FUNC float masked(float logit, device const uint* masks, uint mask, uint mask_words, uint id) {
  bool is_allowed = true;
  if (mask > 0) {
    is_allowed = (masks[long(mask - 1) * mask_words + id / 32] >> (id % 32) & 1u) != 0;
  }
  return is_allowed || is_refused(logit) ? logit : as_type<float>(kMinusInfinityBits);
}
METAL_FUNC uint wanted_of(device const pagoda_args::SampleRow* row) {
  return row[0].is_whole != 0 ? 0u : min(row[0].top_k, kMostKept);
}
METAL_FUNC bool has_nucleus(device const pagoda_args::SampleRow* row) {
  return row[0].is_whole != 0 && row[0].top_p != ~0ul;
}
METAL_FUNC void load_part(device const float* from, device const pagoda_args::SampleRow* row,
                          device const pagoda_args::SampleEdit* edits, device const uint* masks,
                          constant pagoda_args::Sample& args, uint part, threadgroup float* values, uint tid,
                          thread float (&own)[kEach]) {
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    const uint id = (i * args.parts + part) * kThreads + tid;
    own[i] = as_type<float>(kMinusInfinityBits);
    if (id < args.vocab) {
      own[i] = masked(from[id], masks, args.is_raw != 0 ? 0u : row[0].mask, args.mask_words, id);
    }
  }
  if (row[0].num_edits == 0 || args.is_raw != 0) {
    return;
  }
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    values[i * kThreads + tid] = own[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = tid; e < row[0].num_edits; e += kThreads) {
    device const pagoda_args::SampleEdit* edit = edits + row[0].first_edit + e;
    const uint chunk = edit[0].id / kThreads;
    if (edit[0].id < args.vocab && chunk % args.parts == part) {
      const uint at = chunk / args.parts * kThreads + edit[0].id % kThreads;
      values[at] = edited(values[at], edit[0].bias, edit[0].repetition, edit[0].penalty);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint i = 0; i < kEach; ++i) {
    own[i] = values[i * kThreads + tid];
  }
}
)msl"},
    {"expert_rows.h",
R"msl(#include "args/experts.h"
#include "stored.h"
struct ExpertTile {
  uint weight_row;
  uint first;
  uint count;
};
METAL_FUNC ExpertTile expert_tile(device const uint* tiles, uint index, uint expert_rows) {
  ExpertTile tile;
  tile.weight_row = tiles[index * 4] * expert_rows;
  tile.first = tiles[index * 4 + 1];
  tile.count = tiles[index * 4 + 2];
  return tile;
}
METAL_FUNC ulong expert_weight_at(constant pagoda_args::ExpertProducts& args, thread const ExpertTile& tile, uint group,
                                  uint r, uint rows, uint lane) {
  return ulong(tile.weight_row + weight_row(args.matmul, group, r, rows)) * args.matmul.padded_cols + lane % 4 * 16;
}
template <uint BITS>
METAL_FUNC ulong expert_x_at(constant pagoda_args::ExpertProducts& args, device const uint* order,
                             thread const ExpertTile& tile, uint m, uint lane) {
  const uint slot = order[tile.first + (m < tile.count ? m : 0)];
  return ulong(slot / args.x_share) * ulong(args.matmul.x_stride) + x_column<BITS>(lane);
}
METAL_FUNC void write_expert_out(constant pagoda_args::ExpertProducts& args, device const float* w_scales,
                                 device float* out, uint weight_row, uint slot, uint column, float sum, float other,
                                 bool is_scaled) {
  float value = finish(sum, 1.0f, is_scaled ? w_scales[weight_row + column] : 1.0f, 0.0f);
  if (args.matmul.silu_mul != 0) {
    const uint at = weight_row + args.matmul.out_cols + column;
    value = silu(value) * finish(other, 1.0f, is_scaled ? w_scales[at] : 1.0f, 0.0f);
  }
  out[long(slot) * args.matmul.out_stride + column] = value;
}
)msl"},
    {"gdn.h",
R"msl(#include "args/gdn.h"
#include "common.h"
constant constexpr uint kBlock = 16;
constant constexpr uint kPanel = 32;
constant constexpr uint kSplit = 8;
constant constexpr uint kGroups = 4;
constant constexpr float kNormEps = 1.0e-6f;
METAL_FUNC void keep_loads_here() {
#ifdef __MSL_PAIRED_MMA__
  msl_keep_loads_here();
#endif
}
METAL_FUNC float softplus(float x) { return x > 20.0f ? x : precise::log(1.0f + precise::exp(x)); }
METAL_FUNC float pick(uint mask, float a, float b) {
  return as_type<float>((as_type<uint>(a) & mask) | (as_type<uint>(b) & ~mask));
}
template <uint N, uint P, uint KEEP, uint STRIDE>
METAL_FUNC void fold_to(thread float (&x)[N], uint lane) {
  uint n = N;
#pragma unroll
  for (uint m = P / 2; m > 0; m /= 2) {
    const uint apart = m * STRIDE;
    if (n > KEEP) {
      n /= 2;
      const uint high = 0u - (lane / apart & 1u);
#pragma unroll
      for (uint i = 0; i < N / 2; ++i) {
        if (i < n) {
          const float send = pick(high, x[i], x[i + n]);
          const float keep = pick(high, x[i + n], x[i]);
          x[i] = keep + simd_shuffle_xor(send, ushort(apart));
        }
      }
    } else {
#pragma unroll
      for (uint i = 0; i < KEEP; ++i) {
        x[i] = x[i] + simd_shuffle_xor(x[i], ushort(apart));
      }
    }
  }
}
template <uint N, uint P>
METAL_FUNC float fold(thread float (&x)[N], uint lane) {
  fold_to<N, P, 1, 1>(x, lane);
  return x[0];
}
METAL_FUNC float from_first_half(float v, uint lane) {
#ifdef __MSL_PAIRED_MMA__
  return simd_shuffle(v, ushort(lane & ~4u));
#else
  return pick(0u - (lane / 4 & 1u), simd_shuffle_xor(v, ushort(4)), v);
#endif
}
template <uint N>
METAL_FUNC void load_row(device const float* from, uint dk, uint lane, thread float (&x)[N]) {
  load_ahead<N>(from, lane, 32, dk, x);
}
template <uint N>
METAL_FUNC float lane_dot(thread const float (&x)[N], thread const float (&y)[N]) {
  float sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < N; ++i) {
    sum = fma(x[i], y[i], sum);
  }
  return sum;
}
template <uint N>
METAL_FUNC float inverse_norm(thread const float (&x)[N], uint lane) {
  float sum[1];
  sum[0] = lane_dot<N>(x, x);
  return precise::rsqrt(fold<1, 32>(sum, lane) + kNormEps);
}
METAL_FUNC float next_g(float before, float rate, float x) { return fma(-rate, x, before); }
METAL_FUNC float u_coefficient(float dot, float g_t, float g_s) { return -(precise::exp(g_t - g_s) * dot); }
METAL_FUNC float o_coefficient(float dot, float g_t, float g_s) { return precise::exp(g_t - g_s) * dot; }
METAL_FUNC float begin_row(uint kind, float decay, float y, float v) {
  return kind == 0 ? fma(-decay, y, v) : decay * y;
}
METAL_FUNC uint dim_of(uint part, uint i) { return 4 * (part + kSplit * (i / 4)) + i % 4; }
template <uint PER>
METAL_FUNC void load_part(threadgroup const float* row, uint part, thread float (&x)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; i += 4) {
    const float4 f = *(threadgroup const float4*)(row + dim_of(part, i));
    x[i] = f.x;
    x[i + 1] = f.y;
    x[i + 2] = f.z;
    x[i + 3] = f.w;
  }
}
template <uint NC, uint PER>
METAL_FUNC float state_times(thread const float (&s)[NC][PER], thread const float (&k)[PER],
                             thread const float (&q)[PER], uint lane) {
  float x[2 * NC];
#pragma unroll
  for (uint c = 0; c < NC; ++c) {
    x[c] = s[c][0] * k[0];
    x[NC + c] = s[c][0] * q[0];
  }
#pragma unroll
  for (uint i = 1; i < PER; ++i) {
#pragma unroll
    for (uint c = 0; c < NC; ++c) {
      x[c] = fma(s[c][i], k[i], x[c]);
      x[NC + c] = fma(s[c][i], q[i], x[NC + c]);
    }
  }
  return fold<2 * NC, kSplit>(x, lane);
}
template <uint PER>
METAL_FUNC void scale_state(thread float (&s)[PER], float decay) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = s[i] * decay;
  }
}
template <uint PER>
METAL_FUNC void add_row(thread float (&s)[PER], thread const float (&k)[PER], float weighted_u) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = fma(k[i], weighted_u, s[i]);
  }
}
template <typename S, uint PER>
METAL_FUNC void load_state(device const S* at, uint width, uint dk, uint part, thread float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    s[i] = 0.0f;
    if (d < dk) {
      s[i] = float(at[d * width]);
    }
  }
}
template <typename S, uint PER>
METAL_FUNC void store_state(device S* at, uint width, uint dk, uint part, thread const float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    const uint d = dim_of(part, i);
    if (d < dk) {
      at[d * width] = S(s[i]);
    }
  }
}
template <typename S, uint PER>
METAL_FUNC void round_state(thread float (&s)[PER]) {
#pragma unroll
  for (uint i = 0; i < PER; ++i) {
    s[i] = float(S(s[i]));
  }
}
METAL_FUNC float2 load_pair(device const float* at) { return *(device const float2*)(at); }
METAL_FUNC float2 load_pair(device const bfloat* at) {
  const uint both = *(device const uint*)(at);
  return float2(as_type<float>(both << 16), as_type<float>(both & 0xffff0000u));
}
METAL_FUNC void store_pair(device float* at, float2 pair) { *(device float2*)(at) = pair; }
METAL_FUNC void store_pair(device bfloat* at, float2 pair) {
  at[0] = bfloat(pair.x);
  at[1] = bfloat(pair.y);
}
METAL_FUNC uint first_block(device const int* cu_seqlens, uint b) { return uint(cu_seqlens[b]) / kBlock + 2 * b; }
constant constexpr uint kBetas = kBlock;
constant constexpr uint kWeights = 2 * kBlock;
constant constexpr uint kDecays = 3 * kBlock;
constant constexpr uint kCoefficients = 4 * kBlock;
constant constexpr uint kGateFloats = 640;
)msl"},
    {"half_tile.h",
R"msl(#include "stored.h"
#ifndef __MSL_PAIRED_MMA__
constant constexpr uint kStagedWords = kChunk / 4;
constant constexpr uint kFactorWords = 4 * 64;
constant constexpr uint kHalfTiles = kChunkTiles / 2;
template <typename T, uint BITS>
METAL_FUNC void load_x_half(device const T* x, uint h, thread uint (&words)[kHalfTiles]) {
  if (BITS > 200) {
    const uint2 a = *(device const uint2*)(x + 32 * h);
    const uint2 b = *(device const uint2*)(x + 32 * h + 16);
    words[0] = a.x;
    words[1] = a.y;
    words[2] = b.x;
    words[3] = b.y;
  } else {
    const uint4 a = *(device const uint4*)(x + (BITS > 100 ? 32 : 8) * h);
    words[0] = a.x;
    words[1] = a.y;
    words[2] = a.z;
    words[3] = a.w;
  }
}
METAL_FUNC void load_half(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, uint h, thread Share<16>& to) {
  const uint4 a = *(device const uint4*)(w + at / 2 + 4 * h);
  if (h == 0) {
    to.a = a;
  } else {
    to.b = a;
  }
}
template <uint BITS>
METAL_FUNC void load_half(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, uint h, thread Share<BITS>& to) {
  for (uint first = h; first == 0; ++first) {
    load_share(w, steps, scales, at, 0, to);
  }
}
METAL_FUNC void half_words(thread const Share<16>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const uint4 a = h == 0 ? share.a : share.b;
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
}
METAL_FUNC void half_words(thread const Share<8>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const uint unit = (0x4300u - share.shift * 0x80u) * 0x10001u;
  const uint2 a = words_of_bytes(h == 0 ? share.a.x : share.a.z, unit);
  const uint2 b = words_of_bytes(h == 0 ? share.a.y : share.a.w, unit);
  words[0] = a.x;
  words[1] = a.y;
  words[2] = b.x;
  words[3] = b.y;
}
METAL_FUNC void half_words(thread const Share<4>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const NibbleTerms terms = nibble_terms(share.steps);
  const uint nibbles = h == 0 ? share.a.x : share.a.y;
  words[0] = pair_of_nibbles(nibbles << 3, terms);
#pragma unroll
  for (uint j = 1; j < kHalfTiles; ++j) {
    words[j] = pair_of_nibbles(nibbles >> (4 * j - 3), terms);
  }
}
METAL_FUNC void half_words(thread const Share<kStored4>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  const float shift = -16.0f - float(scales.zero);
  const uint shifts = pack_exact(shift, shift);
  const uint nibbles = h == 0 ? share.a.x : share.a.y;
  words[0] = pair_of_codes(nibbles << 3, shifts);
#pragma unroll
  for (uint j = 1; j < kHalfTiles; ++j) {
    words[j] = pair_of_codes(nibbles >> (4 * j - 3), shifts);
  }
}
METAL_FUNC void half_of_bytes(uint4 bytes, constant pagoda_args::Scales& scales, uint h,
                              thread uint (&words)[kHalfTiles]) {
  const bool is_float = (scales.kind & kFloatCodes) != 0;
  const float zero = float(scales.zero);
  const uint2 a = stored_words(h == 0 ? bytes.x : bytes.z, is_float, zero);
  const uint2 b = stored_words(h == 0 ? bytes.y : bytes.w, is_float, zero);
  words[0] = a.x;
  words[1] = a.y;
  words[2] = b.x;
  words[3] = b.y;
}
METAL_FUNC void half_words(thread const Share<kStored8>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  half_of_bytes(share.a, scales, h, words);
}
METAL_FUNC void half_words(thread const Share<kFine8>& share, constant pagoda_args::Scales& scales, uint h,
                           thread uint (&words)[kHalfTiles]) {
  half_of_bytes(share.a, scales, h, words);
}
METAL_FUNC void store_half_share(thread const uint (&words)[kHalfTiles], threadgroup uint* rows, uint row,
                                 uint quarter) {
  threadgroup uint* to = rows + row / 8 * (8 * kStagedWords) + row % 8 * 4 + quarter;
#pragma unroll
  for (uint j = 0; j < kHalfTiles; ++j) {
    to[32 * j] = words[j];
  }
}
template <typename T, bool TRANSPOSED>
METAL_FUNC void load_tile(thread simdgroup_matrix<T, 8, 8>& tile, threadgroup const uint* rows, uint row, uint j) {
  simdgroup_load(tile, (threadgroup const T*)(rows + row * kStagedWords + 32 * j), 8, ulong2(0, 0), TRANSPOSED);
}
METAL_FUNC void make_factors(thread SumTile& factors, float factor, threadgroup float* scratch, uint lane) {
  const uint column = lane % 4 * 2;
  scratch[2 * lane] = column == lane / 4 ? factor : 0.0f;
  scratch[2 * lane + 1] = column + 1 == lane / 4 ? factor : 0.0f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(factors, (threadgroup const float*)(scratch), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_half(Stored<false> kind, thread SumTile (&acc)[WT][MT], threadgroup const uint* w_rows,
                              threadgroup const uint* x_rows, uint half_index, threadgroup const float* terms,
                              bool has_mins, threadgroup float* scratch, uint lane) {
#pragma unroll
  for (uint j = 0; j < kHalfTiles; ++j) {
    simdgroup_matrix<T, 8, 8> right[MT];
#pragma unroll
    for (uint t = 0; t < MT; ++t) {
      load_tile<T, true>(right[t], x_rows, 8 * t, j);
    }
#pragma unroll
    for (uint i = 0; i < WT; ++i) {
      simdgroup_matrix<T, 8, 8> left;
      load_tile<T, false>(left, w_rows, 8 * i, j);
#pragma unroll
      for (uint t = 0; t < MT; ++t) {
        simdgroup_multiply_accumulate(acc[i][t], left, right[t], acc[i][t]);
      }
    }
  }
}
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_half(Stored<true> kind, thread SumTile (&acc)[WT][MT], threadgroup const uint* w_rows,
                              threadgroup const uint* x_rows, uint half_index, threadgroup const float* terms,
                              bool has_mins, threadgroup float* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  constexpr uint TILES = kChunkTiles / GROUPS;
  const simdgroup_matrix<T, 8, 8> ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));
#pragma unroll
  for (uint group = 0; group < GROUPS / 2; ++group) {
#pragma unroll
    for (uint i = 0; i < WT; i += 2) {
      simdgroup_matrix<T, 8, 8> left[2][TILES];
      SumTile factors[2];
      SumTile mins[2];
#pragma unroll
      for (uint n = 0; n < 2; ++n) {
        threadgroup const float* of_row =
            terms + (8 * (i + n) + lane / 4) * 2 * GROUPS + half_index * (GROUPS / 2) + group;
        make_factors(factors[n], of_row[0], scratch, lane);
        make_factors(mins[n], of_row[GROUPS], scratch, lane);
#pragma unroll
        for (uint j = 0; j < TILES; ++j) {
          load_tile<T, false>(left[n][j], w_rows, 8 * (i + n), group * TILES + j);
        }
      }
#pragma unroll
      for (uint t = 0; t < MT; ++t) {
        SumTile x_sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        SumTile part[2];
#pragma unroll
        for (uint n = 0; n < 2; ++n) {
          part[n] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
#pragma unroll
        for (uint j = 0; j < TILES; ++j) {
          simdgroup_matrix<T, 8, 8> right;
          load_tile<T, true>(right, x_rows, 8 * t, group * TILES + j);
#pragma unroll
          for (uint n = 0; n < 2; ++n) {
            simdgroup_multiply_accumulate(part[n], left[n][j], right, part[n]);
          }
          if (has_mins) {
            simdgroup_multiply_accumulate(x_sum, ones, right, x_sum);
          }
        }
#pragma unroll
        for (uint n = 0; n < 2; ++n) {
          simdgroup_multiply_accumulate(acc[i + n][t], factors[n], part[n], acc[i + n][t]);
          if (has_mins) {
            simdgroup_multiply_accumulate(acc[i + n][t], mins[n], x_sum, acc[i + n][t]);
          }
        }
      }
    }
  }
}
template <typename T, uint BITS, uint WT, uint MT>
METAL_FUNC void multiply_tile(thread SumTile (&total)[WT][MT], device const T* x, device const uint* w,
                              device const ushort* w_steps, thread const ulong (&x_at)[MT / 2],
                              thread const ulong (&w_at)[WT / 2], thread Share<BITS> (&w_next)[WT / 2],
                              constant pagoda_args::Scales& scales, uint padded_cols, uint run,
                              threadgroup uint* shared_words, uint tid, uint sg, uint lane) {
  constexpr uint X_SHARES = MT / 2;
  constexpr uint W_SHARES = WT / 2;
  constexpr uint TERMS = BITS > 200 ? 8 : 4;
  threadgroup uint* x_tile = shared_words + 16 * WT * kStagedWords;
  threadgroup float* scratch = (threadgroup float*)(x_tile + 16 * MT * kStagedWords + sg * (kFactorWords / 4));
  threadgroup float* terms = (threadgroup float*)(x_tile + 16 * MT * kStagedWords + kFactorWords);
  const uint sg_n = (sg / 2) * (8 * WT);
  const uint sg_m = (sg % 2) * (8 * MT);
  SumTile acc[WT][MT];
#pragma unroll
  for (uint i = 0; i < WT; ++i) {
#pragma unroll
    for (uint t = 0; t < MT; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint x_next[X_SHARES][kHalfTiles];
#pragma unroll
  for (uint i = 0; i < X_SHARES; ++i) {
    load_x_half<T, BITS>(x + x_at[i], 0, x_next[i]);
  }
  uint run_end = run;
  for (uint k0 = 0; k0 < padded_cols; k0 += kChunk) {
#pragma unroll
    for (uint h = 0; h < 2; ++h) {
#pragma unroll
      for (uint i = 0; i < W_SHARES; ++i) {
        uint words[kHalfTiles];
        half_words(w_next[i], scales, h, words);
        store_half_share(words, shared_words, staged_row(tid, i), tid % 4);
        for (uint first = h; first == 0; ++first) {
          stage_terms(Stored<(BITS > 100)>(), w_next[i], scales, terms, staged_row(tid, i), tid % 4);
        }
      }
#pragma unroll
      for (uint i = 0; i < X_SHARES; ++i) {
        store_half_share(x_next[i], x_tile, tid / 4 + 32 * i, tid % 4);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint next = k0 + h * kChunk;
      if (next < padded_cols) {
#pragma unroll
        for (uint i = 0; i < W_SHARES; ++i) {
          load_half(w, w_steps, scales, w_at[i] + next, 1 - h, w_next[i]);
        }
#pragma unroll
        for (uint i = 0; i < X_SHARES; ++i) {
          load_x_half<T, BITS>(x + x_at[i] + next, 1 - h, x_next[i]);
        }
      }
      multiply_half<T, BITS, WT, MT>(
          Stored<(BITS > 100)>(), acc, (threadgroup const uint*)(shared_words + sg_n * kStagedWords),
          (threadgroup const uint*)(x_tile + sg_m * kStagedWords), h, (threadgroup const float*)(terms + sg_n * TERMS),
          (scales.kind & kHasMins) != 0, scratch, lane);
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (k0 + kChunk >= min(run_end, padded_cols)) {
      run_end += run;
#pragma unroll
      for (uint i = 0; i < WT; ++i) {
#pragma unroll
        for (uint t = 0; t < MT; ++t) {
          move_sum(total[i][t], acc[i][t], shared_words + 128 * sg, lane);
        }
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
}
#endif
)msl"},
    {"keys.h",
R"msl(METAL_FUNC uint key_of(float x) {
  const uint bits = as_type<uint>(x);
  return bits == 0x80000000u ? bits : (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
constant constexpr uint kMinusInfinityKey = 0x007fffffu;
constant constexpr uint kInfinityKey = 0xff800000u;
)msl"},
    {"latent_partition.h",
R"msl(#include "args/latent_attention.h"
#include "attention_int8.h"
#include "paged_attention.h"
constant constexpr uint kMaxLatentDim = 576;
constant constexpr uint kMaxValueTiles = 16;
constant constexpr uint kLatentStride = kMaxLatentDim + 8;
template <typename T>
METAL_FUNC device const T* latent_rows(device const T* cache, device const int* blocks, uint key,
                                       constant pagoda_args::LatentAttention& args) {
  return cache + long(blocks[key / args.block_size]) * args.block_stride +
         long(key % args.block_size) * args.slot_stride;
}
struct LatentKeys {
  int p0;
  uint key_tiles;
  int context;
  int block;
  int offset;
};
METAL_FUNC LatentKeys latent_keys(device const int* blocks, int p0, uint key_tiles, int context, uint lane,
                                  constant pagoda_args::LatentAttention& args) {
  const uint own = uint(p0) + min(lane, key_tiles - 1) * 8;
  LatentKeys keys;
  keys.p0 = p0;
  keys.key_tiles = key_tiles;
  keys.context = context;
  keys.block = blocks[own / args.block_size];
  keys.offset = int(own % args.block_size);
  return keys;
}
template <typename T>
METAL_FUNC void score_latents(device const T* cache, device const int* blocks, threadgroup const T* q_tile,
                              threadgroup float* s_tile, threadgroup T* scratch, LatentKeys keys, uint sg, uint lane,
                              constant pagoda_args::LatentAttention& args) {
  for (uint kt = sg; kt < keys.key_tiles; kt += kSimdgroups) {
    device const T* rows = latent_rows(cache, blocks, uint(keys.p0) + kt * 8, args);
    SumTile acc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll 8
    for (uint d = 0; d < args.dim; d += 8) {
      simdgroup_matrix<T, 8, 8> k_mat;
      simdgroup_matrix<T, 8, 8> q_mat;
      simdgroup_load(k_mat, rows + d, ulong(args.slot_stride), ulong2(0, 0), true);
      simdgroup_load(q_mat, q_tile + d, kLatentStride);
      simdgroup_multiply_accumulate(acc, q_mat, k_mat, acc);
    }
    simdgroup_store(acc, s_tile + kt * 8, kPartition);
  }
}
template <typename T>
METAL_FUNC void score_latents(device const char* cache, device const int* blocks, threadgroup const T* q_tile,
                              threadgroup float* s_tile, threadgroup T* scratch, LatentKeys keys, uint sg, uint lane,
                              constant pagoda_args::LatentAttention& args) {
  for (uint pair = sg; 2 * pair < keys.key_tiles; pair += kSimdgroups) {
    device const char* rows[2];
    SumTile acc[2][1];
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      const uint tile = 2 * pair + t < keys.key_tiles ? 2 * pair + t : 2 * pair;
      rows[t] =
          row_of_lane(cache, keys.block, keys.offset, tile, lane, args.block_stride, args.slot_stride) + lane % 4 * 16;
      acc[t][0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    score_codes<T, 1>(acc, rows[0], rows[1], args.dim, q_tile, kLatentStride,
                      (threadgroup uint*)(scratch) + sg * kScratch, lane);
#pragma unroll
    for (uint t = 0; t < 2; ++t) {
      if (2 * pair + t < keys.key_tiles) {
        simdgroup_store(acc[t][0], s_tile + (2 * pair + t) * 8, kPartition, ulong2(0, 0), true);
      }
    }
  }
}
template <typename T>
METAL_FUNC void load_latent_scales(device const T* cache, device const int* blocks, threadgroup float* scales,
                                   LatentKeys keys, uint tid, constant pagoda_args::LatentAttention& args) {}
METAL_FUNC void load_latent_scales(device const char* cache, device const int* blocks, threadgroup float* scales,
                                   LatentKeys keys, uint tid, constant pagoda_args::LatentAttention& args) {
  for (uint i = tid; i < keys.key_tiles * 8; i += kThreads) {
    scales[i] = scale_of_row(latent_rows(cache, blocks, uint(keys.p0) + i, args), args.dim);
  }
}
template <typename T, bool IS_INT8>
METAL_FUNC void weigh_latents(threadgroup const float* row, threadgroup T* weights, threadgroup const float* scales,
                              uint num_keys, int num_seen, float scale, uint lane, thread float& largest,
                              thread float& sum) {
  float score[kPartition / 32];
  largest = kNegBig;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    score[i] = kNegBig;
    if (int(at) < num_seen) {
      score[i] = row[at] * (IS_INT8 ? scales[at] * scale : scale);
    }
    largest = max(largest, score[i]);
  }
  largest = simd_max(largest);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0.0f;
#pragma unroll
  for (uint i = 0; i < kPartition / 32; ++i) {
    const uint at = lane + 32 * i;
    const KeyWeight<T> weight = weight_of<T, IS_INT8>(int(at) < num_seen, score[i] - largest, scales, at);
    if (at < num_keys) {
      weights[at] = weight.of_codes;
    }
    sum += weight.share;
  }
  sum = simd_sum(sum);
}
template <typename T>
METAL_FUNC void sum_latents(thread SumTile (&acc)[1][kMaxValueTiles], device const T* cache, device const int* blocks,
                            threadgroup const T* weights, threadgroup T* scratch, LatentKeys keys, uint first_column,
                            uint columns, uint lane, constant pagoda_args::LatentAttention& args) {
  for (uint kt = 0; kt < keys.key_tiles; ++kt) {
    const uint key = uint(keys.p0) + kt * 8;
    device const T* rows = latent_rows(cache, blocks, key, args);
    const int num_left = keys.context - int(key);
    simdgroup_matrix<T, 8, 8> of_keys;
    simdgroup_load(of_keys, weights + kt * 8, kPartition * 4 / sizeof(T));
#pragma unroll
    for (uint c = 0; c < kMaxValueTiles; ++c) {
      if (c < columns && first_column + c < args.value_dim / 8) {
        simdgroup_matrix<T, 8, 8> v_mat;
        if (num_left < 8) {
          simdgroup_barrier(mem_flags::mem_threadgroup);
          for (uint i = lane; i < 64; i += 32) {
            T value = T(0.0f);
            if (int(i / 8) < num_left) {
              value = rows[long(i / 8) * args.slot_stride + (first_column + c) * 8 + i % 8];
            }
            scratch[i] = value;
          }
          simdgroup_barrier(mem_flags::mem_threadgroup);
          simdgroup_load(v_mat, (threadgroup const T*)(scratch), 8);
        } else {
          simdgroup_load(v_mat, rows + (first_column + c) * 8, ulong(args.slot_stride));
        }
        simdgroup_multiply_accumulate(acc[0][c], of_keys, v_mat, acc[0][c]);
      }
    }
  }
}
template <typename T>
METAL_FUNC void sum_latents(thread SumTile (&acc)[1][kMaxValueTiles], device const char* cache,
                            device const int* blocks, threadgroup const T* weights, threadgroup T* scratch,
                            LatentKeys keys, uint first_column, uint columns, uint lane,
                            constant pagoda_args::LatentAttention& args) {
  const uint last = (first_column + columns) * 8, end = last < args.value_dim ? last : args.value_dim;
  for (uint kt = 0; kt < keys.key_tiles; ++kt) {
    device const char* row = row_of_lane(cache, keys.block, keys.offset, kt, lane, args.block_stride, args.slot_stride);
    simdgroup_matrix<T, 8, 8> of_keys[1];
    simdgroup_load(of_keys[0], weights + kt * 8, kPartition * 4 / sizeof(T));
    add_codes<T, 1, kMaxValueTiles>(acc, of_keys, row, first_column * 8, end, (threadgroup uint*)(scratch), lane);
  }
}
template <bool IS_INT8>
METAL_FUNC uint latent_column(uint c, uint i) {
  return IS_INT8 ? c / 4 * kValueColumns + i / 2 * 8 + c % 4 * 2 + i % 2 : c * 8 + i;
}
)msl"},
    {"matmul.h",
R"msl(#include "args/matmul.h"
#include "tiles.h"
constant constexpr uint kRuns = 8;
template <uint BITS>
struct Share;
template <>
struct Share<16> {
  uint4 a;
  uint4 b;
};
template <>
struct Share<8> {
  uint4 a;
  uint shift;
};
template <>
struct Share<4> {
  uint2 a;
  uint steps;
};
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong at, uint columns, thread Share<16>& to) {
  device const uint* words = w + (uint(at / 2) + columns / 2);
  to.a = *(device const uint4*)(words);
  to.b = *(device const uint4*)(words + 4);
}
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong at, uint columns, thread Share<8>& to) {
  to.a = *(device const uint4*)(w + (uint(at / 4) + columns / 4));
  to.shift = uint(((device const uchar*)(steps))[uint(at / 32) + columns / 32]);
}
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong at, uint columns, thread Share<4>& to) {
  to.a = *(device const uint2*)(w + (uint(at / 8) + columns / 8));
  to.steps = uint(steps[uint(at / 32) + columns / 32]);
}
METAL_FUNC void share_words(thread const Share<16>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  set_words(share.a, share.b, words);
}
METAL_FUNC uint pair_of_bytes(uint bytes, uint signs, uint unit) {
  return fma_bfloats(unit, 0xbf80bf80u, (bytes & 0x007f007fu) | unit) ^ (signs & 0x80008000u);
}
METAL_FUNC uint2 words_of_bytes(uint word, uint unit) {
  return uint2(pair_of_bytes(word, word << 8, unit), pair_of_bytes(word >> 8, word, unit));
}
METAL_FUNC void share_words(thread const Share<8>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const uint unit = (0x4300u - share.shift * 0x80u) * 0x10001u;
  const uint2 a = words_of_bytes(share.a.x, unit);
  const uint2 b = words_of_bytes(share.a.y, unit);
  const uint2 c = words_of_bytes(share.a.z, unit);
  const uint2 d = words_of_bytes(share.a.w, unit);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}
struct NibbleTerms {
#ifdef __MSL_PAIRED_MMA__
  uint step;
  uint offset;
#else
  float step;
  float offset;
#endif
};
METAL_FUNC NibbleTerms nibble_terms(uint steps) {
  NibbleTerms terms;
#ifdef __MSL_PAIRED_MMA__
  terms.step = msl_twice(as_type<float>(and_or(steps, 0xffu, 0x4b000000u)) - 8388608.0f);
  terms.offset = msl_twice(fma(as_type<float>(and_or(steps, 0xff00u, 0x4b000000u)), 1.0f / 256.0f, -32896.0f));
#else
  terms.step = float(steps & 0xffu);
  terms.offset = fma(terms.step, -16.0f, float(steps >> 8) - 128.0f);
#endif
  return terms;
}
METAL_FUNC uint pair_of_nibbles(uint nibbles, thread const NibbleTerms& terms) {
  const uint numbers = and_or(nibbles, 0x00780078u, 0x41804180u);
#ifdef __MSL_PAIRED_MMA__
  return fma_bfloats(fma_bfloats(0x3f803f80u, 0xc180c180u, numbers), terms.step, terms.offset);
#else
  return pack_exact(fma(as_type<float>(numbers << 16), terms.step, terms.offset),
                    fma(as_type<float>(numbers & 0xffff0000u), terms.step, terms.offset));
#endif
}
METAL_FUNC void share_words(thread const Share<4>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const NibbleTerms terms = nibble_terms(share.steps);
  words[0] = pair_of_nibbles(share.a.x << 3, terms);
  words[4] = pair_of_nibbles(share.a.y << 3, terms);
#pragma unroll
  for (uint j = 1; j < 4; ++j) {
    words[j] = pair_of_nibbles(share.a.x >> (4 * j - 3), terms);
    words[4 + j] = pair_of_nibbles(share.a.y >> (4 * j - 3), terms);
  }
}
template <uint BITS, uint AHEAD, uint RT>
METAL_FUNC void load_shares(device const uint* w, device const ushort* w_steps, constant pagoda_args::Scales& scales,
                            thread const ulong (&w_at)[RT], uint k0, uint end, thread Share<BITS> (&share)[AHEAD][RT]) {
#pragma unroll
  for (uint u = 0; u < AHEAD; ++u) {
    const uint k = min(k0 + u * kChunk, end - kChunk);
#pragma unroll
    for (uint i = 0; i < RT; ++i) {
      load_share(w, w_steps, scales, w_at[i], k, share[u][i]);
    }
  }
}
template <uint BITS>
METAL_FUNC uint x_column(uint lane) {
  return lane % 4 * (BITS > 200 ? 4 : BITS > 100 ? 8 : 16);
}
template <uint BITS>
METAL_FUNC void load_x(device const half* x, thread uint (&words)[kChunkTiles]) {
  set_words(*(device const uint4*)(x), *(device const uint4*)(x + 8), words);
}
template <uint BITS>
METAL_FUNC void load_x(device const bfloat* x, thread uint (&words)[kChunkTiles]) {
  if (BITS > 200) {
    const uint2 a = *(device const uint2*)(x);
    const uint2 b = *(device const uint2*)(x + 16);
    const uint2 c = *(device const uint2*)(x + 32);
    const uint2 d = *(device const uint2*)(x + 48);
    set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
  } else {
    set_words(*(device const uint4*)(x), *(device const uint4*)(x + (BITS > 100 ? 32 : 8)), words);
  }
}
template <uint BITS>
METAL_FUNC void load_x(device const float* x, thread uint (&words)[kChunkTiles]) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const float4 v = *(device const float4*)(x + (BITS > 200 ? 16 * i : BITS > 100 ? i / 2 * 32 + i % 2 * 4 : 4 * i));
    words[2 * i] = pack_bfloat(v.x, v.y);
    words[2 * i + 1] = pack_bfloat(v.z, v.w);
  }
}
METAL_FUNC float finish(float sum, float x_scale, float w_scale, float bias) {
  return fma(sum * x_scale, w_scale, bias);
}
METAL_FUNC void store_out(constant pagoda_args::Matmul& args, device float* out, uint m, uint column, float value) {
  const long at = long(m) * args.out_stride + column;
  out[at] = args.adds != 0 ? out[at] + value : value;
}
METAL_FUNC uint weight_row(constant pagoda_args::Matmul& args, uint tile, uint r, uint rows) {
  if (args.silu_mul != 0) {
    const uint column = tile * (rows / 2) + r % (rows / 2);
    return (column < args.out_cols ? column : args.out_cols - 1) + r / (rows / 2) * args.out_cols;
  }
  const uint column = tile * rows + r;
  return column < args.out_cols ? column : args.out_cols - 1;
}
struct ColumnTerms {
  float scale;
  float bias;
  float other_scale;
  float other_bias;
};
METAL_FUNC ColumnTerms column_terms(constant pagoda_args::Matmul& args, device const float* w_scales,
                                    device const float* bias, uint column, bool is_scaled) {
  const uint own = min(column, args.out_cols - 1);
  const uint other = args.silu_mul != 0 ? args.out_cols + own : own;
  ColumnTerms terms;
  terms.scale = is_scaled ? w_scales[own] : 1.0f;
  terms.bias = args.has_bias != 0 ? bias[own] : 0.0f;
  terms.other_scale = is_scaled ? w_scales[other] : 1.0f;
  terms.other_bias = args.has_bias != 0 ? bias[other] : 0.0f;
  return terms;
}
METAL_FUNC float row_scale(device const float* x_scales, uint m, half) { return x_scales[m]; }
METAL_FUNC float row_scale(device const float* x_scales, uint m, bfloat) { return 1.0f; }
METAL_FUNC void write_out(constant pagoda_args::Matmul& args, thread const ColumnTerms& terms, float x_scale,
                          device float* out, uint m, uint column, float sum, float other) {
  float value = finish(sum, x_scale, terms.scale, terms.bias);
  if (args.silu_mul != 0) {
    value = silu(value) * finish(other, x_scale, terms.other_scale, terms.other_bias);
  }
  store_out(args, out, m, column, value);
}
)msl"},
    {"matmul_tile.h",
R"msl(#include "chunk_tile.h"
#include "half_tile.h"
template <uint WT, uint MT>
METAL_FUNC void store_half(thread SumTile (&total)[WT][MT], threadgroup float* sums, uint first, uint sg) {
  if ((sg % 2) * (8 * MT) == first) {
#pragma unroll
    for (uint i = 0; i < WT; ++i) {
#pragma unroll
      for (uint t = 0; t < MT; ++t) {
        simdgroup_store(total[i][t], sums + 8 * t * 16 * WT + (sg / 2) * (8 * WT) + 8 * i, 16 * WT, ulong2(0, 0), true);
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
)msl"},
    {"norms.h",
R"msl(#include "common.h"
constant constexpr uint kRowThreads = 256;
constant constexpr uint kRowSimdgroups = 8;
constant constexpr uint kAhead = 8;
METAL_FUNC void add_residual(device float* x, device const float* residual, uint width, uint tid) {
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    float r[kAhead];
    load_ahead<kAhead>((device const float*)(x), first, kRowThreads, width, v);
    load_ahead<kAhead>(residual, first, kRowThreads, width, r);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      if (first + j * kRowThreads < width) {
        x[first + j * kRowThreads] = v[j] + r[j];
      }
    }
  }
}
METAL_FUNC float thread_squares(device const float* row, uint width, uint tid) {
  float sum = 0.0f;
  for (uint first = tid; first < width; first += kAhead * kRowThreads) {
    float v[kAhead];
    load_ahead<kAhead>(row, first, kRowThreads, width, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      sum = fma(v[j], v[j], sum);
    }
  }
  return sum;
}
METAL_FUNC float rms_scale(float squares, uint width, float eps) { return 1.0f / sqrt(squares / float(width) + eps); }
METAL_FUNC float head_scale(device const float* head, uint dim, float eps, uint lane) {
  float squares = 0.0f;
  for (uint first = lane; first < dim; first += kAhead * 32) {
    float v[kAhead];
    load_ahead<kAhead>(head, first, 32, dim, v);
#pragma unroll
    for (uint j = 0; j < kAhead; ++j) {
      squares = fma(v[j], v[j], squares);
    }
  }
  return precise::rsqrt(simd_sum(squares) / float(dim) + eps);
}
METAL_FUNC float normed(float v, float scale, float w, float offset) { return v * scale * (w + offset); }
METAL_FUNC float gated_normed(float v, float scale, float w, float g) { return v * scale * w * silu(g); }
METAL_FUNC float gated(float v, float g) { return v * sigmoid(g); }
)msl"},
    {"paged_attention.h",
R"msl(#include "args/paged_attention.h"
#include "common.h"
MSL_FUNCTION_CONSTANT(bool, use_window, 0)
MSL_FUNCTION_CONSTANT(bool, use_softcap, 1)
MSL_FUNCTION_CONSTANT(bool, use_sinks, 2)
MSL_FUNCTION_CONSTANT(bool, use_all_keys, 3)
constant constexpr uint kPartition = 256;
constant constexpr uint kMaxDim = 256;
constant constexpr uint kThreads = 128;
constant constexpr uint kSimdgroups = 4;
constant constexpr uint kQueryStride = kMaxDim + 8;
constant constexpr uint kScores = kPartition + 4;
constant constexpr uint kPartMax = 0;
constant constexpr uint kPartSum = 1;
constant constexpr uint kRowMax = 2;
constant constexpr uint kRowSum = 3;
constant constexpr uint kTotalFactor = 4;
constant constexpr uint kPartFactor = 5;
constant constexpr uint kStats = 6;
METAL_FUNC uint first_part(int position, uint window) {
  const int begin = use_window ? max(0, position - int(window) + 1) : 0;
  return uint(begin) / kPartition;
}
METAL_FUNC bool is_visible(int key, int position, uint window) {
  return key <= position && (!use_window || key > position - int(window));
}
METAL_FUNC float merged(float total, float total_factor, float part, float part_factor) {
  return fma(total, total_factor, part * part_factor);
}
METAL_FUNC float scale_to_end(float largest, float sum, float sink) {
  if (!use_sinks) {
    return 1.0f / sum;
  }
  const float end = max(sink, largest);
  const float factor = precise::exp(largest - end);
  return factor / fma(sum, factor, precise::exp(sink - end));
}
template <typename T>
struct KeyWeight {
  T of_codes;
  float share;
};
template <typename T, bool IS_INT8>
METAL_FUNC KeyWeight<T> weight_of(bool is_seen, float score, threadgroup const float* scales, uint at) {
  const float weight = is_seen ? precise::exp(score) : 0.0f;
  KeyWeight<T> result;
  result.of_codes = T(weight);
  result.share = float(result.of_codes);
  if (IS_INT8 && is_seen) {
    const float scale = scales[at];
    result.of_codes = T(weight * scale);
    result.share = scale > 0.0f ? float(result.of_codes) / scale : weight;
  }
  return result;
}
)msl"},
    {"rope.h",
R"msl(#include "common.h"
METAL_FUNC void norm_and_rotate(device const float* from, device const float* weight, device const float* inv_freq,
                                int position, uint dim, uint half_rotary, float eps, float weight_offset,
                                bool has_weight, threadgroup float* head, uint lane) {
  float squares = 0.0f;
  for (uint i = lane; i < dim; i += 32) {
    head[i] = from[i];
    squares = fma(head[i], head[i], squares);
  }
  const float sum = simd_sum(squares);
  if (has_weight) {
    const float scale = precise::rsqrt(sum / float(dim) + eps);
    for (uint i = lane; i < dim; i += 32) {
      head[i] = head[i] * scale * (weight[i] + weight_offset);
    }
  }
  simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  for (uint i = lane; i < half_rotary; i += 32) {
    const float angle = float(position) * inv_freq[i];
    const float c = precise::cos(angle);
    const float s = precise::sin(angle);
    const float a = head[i];
    const float b = head[i + half_rotary];
    head[i] = a * c - b * s;
    head[i + half_rotary] = b * c + a * s;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
}
)msl"},
    {"row_source.h",
R"msl(#include "args/row_source.h"
#include "norms.h"
constant constexpr uint kRmsNorm = 1;
constant constexpr uint kGatedRmsNorm = 2;
constant constexpr uint kSigmoidGate = 3;
constant constexpr uint kMostHeads = 64;
METAL_FUNC void row_scales(device const float* x, long x_stride, constant pagoda_args::RowSource& source, uint rows,
                           threadgroup float* scales, threadgroup float* partial, uint tid, uint sg, uint lane) {
  if (source.kind == kRmsNorm) {
#pragma unroll 2
    for (uint r = 0; r < rows; ++r) {
      const float squares = simd_sum(thread_squares(x + long(r) * x_stride, source.dim, tid));
      if (lane == 0) {
        partial[r * kRowSimdgroups + sg] = squares;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < rows) {
      float squares = 0.0f;
      for (uint i = 0; i < kRowSimdgroups; ++i) {
        squares += partial[tid * kRowSimdgroups + i];
      }
      scales[tid] = rms_scale(squares, source.dim, source.eps);
    }
  } else {
    if (source.kind == kGatedRmsNorm) {
      for (uint i = sg; i < rows * source.heads; i += kRowSimdgroups) {
        device const float* head =
            x + long(i / source.heads) * x_stride + long(i % source.heads) * source.x_head_stride;
        const float scale = head_scale(head, source.dim, source.eps, lane);
        if (lane == 0) {
          scales[i] = scale;
        }
      }
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
METAL_FUNC float row_element(device const float* x, device const float* weight, device const float* gate,
                             constant pagoda_args::RowSource& source, threadgroup const float* scales, uint column) {
  if (source.kind == 0) {
    return x[column];
  }
  const uint head = column / source.dim;
  const uint d = column % source.dim;
  const float v = x[long(head) * source.x_head_stride + d];
  if (source.kind == kRmsNorm) {
    return normed(v, scales[head], weight[d], source.weight_offset);
  }
  const float g = gate[long(head) * source.gate_head_stride + d];
  return source.kind == kGatedRmsNorm ? gated_normed(v, scales[head], weight[d], g) : gated(v, g);
}
METAL_FUNC float4 row_values(float4 v, float4 w, float4 g, constant pagoda_args::RowSource& source, float scale) {
  if (source.kind == kRmsNorm) {
    return float4(normed(v.x, scale, w.x, source.weight_offset), normed(v.y, scale, w.y, source.weight_offset),
                  normed(v.z, scale, w.z, source.weight_offset), normed(v.w, scale, w.w, source.weight_offset));
  }
  if (source.kind == kGatedRmsNorm) {
    return float4(gated_normed(v.x, scale, w.x, g.x), gated_normed(v.y, scale, w.y, g.y),
                  gated_normed(v.z, scale, w.z, g.z), gated_normed(v.w, scale, w.w, g.w));
  }
  return float4(gated(v.x, g.x), gated(v.y, g.y), gated(v.z, g.z), gated(v.w, g.w));
}
METAL_FUNC float4 row_elements(device const float* x, device const float* weight, device const float* gate,
                               constant pagoda_args::RowSource& source, float scale) {
  const float4 v = *(device const float4*)(x);
  float4 w = v;
  float4 g = v;
  if (source.kind != kSigmoidGate) {
    w = *(device const float4*)(weight);
  }
  if (source.kind != kRmsNorm) {
    g = *(device const float4*)(gate);
  }
  return row_values(v, w, g, source, scale);
}
constant constexpr uint kWideRow = 4 * kRowThreads;
constant constexpr uint kQuads = 2;
METAL_FUNC void row_quads(device const float* x, device const float* weight, device const float* gate,
                          constant pagoda_args::RowSource& source, threadgroup const float* scales, uint from,
                          uint cols, uint tid, thread float4* out) {
  float4 v[kQuads];
  float4 w[kQuads];
  float4 g[kQuads];
  const bool has_weight = source.kind == kRmsNorm || source.kind == kGatedRmsNorm;
#pragma unroll
  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    v[j] = float4(0.0f, 0.0f, 0.0f, 0.0f);
    w[j] = v[j];
    g[j] = v[j];
    if (i < cols) {
      const uint head = source.kind == 0 ? 0 : i / source.dim;
      const uint d = i - head * source.dim;
      v[j] = *(device const float4*)(x + (source.kind == 0 ? long(i) : long(head) * source.x_head_stride + d));
      if (has_weight) {
        w[j] = *(device const float4*)(weight + d);
      }
      if (source.kind > kRmsNorm) {
        g[j] = *(device const float4*)(gate + long(head) * source.gate_head_stride + d);
      }
    }
  }
#pragma unroll
  for (uint j = 0; j < kQuads; ++j) {
    const uint i = from + 4 * tid + kWideRow * j;
    out[j] = v[j];
    if (i < cols && source.kind != 0) {
      out[j] = row_values(v[j], w[j], g[j], source, source.kind == kSigmoidGate ? 1.0f : scales[i / source.dim]);
    }
  }
}
)msl"},
    {"scalar.h",
R"msl(#include "stored.h"
constant constexpr uint kScalarRows = 32;
constant constexpr uint kStaged = 2 * kChunk;
template <uint BITS>
struct Line;
template <>
struct Line<16> {
  uint4 a[8];
};
template <>
struct Line<8> {
  uint4 a[4];
  uint shifts;
};
template <>
struct Line<4> {
  uint4 a[2];
  uint steps;
};
METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<16>& to) {
#pragma unroll
  for (uint i = 0; i < 8; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 2 + 4 * i);
  }
}
METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<8>& to) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 4 + 4 * i);
  }
  to.shifts = uint(steps[at / 64]);
}
METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<4>& to) {
  to.a[0] = *(device const uint4*)(w + at / 8);
  to.a[1] = *(device const uint4*)(w + at / 8 + 4);
  to.steps = ((device const uint*)(steps))[at / 64];
}
template <uint BITS>
struct LineTerms;
template <>
struct LineTerms<16> {};
template <>
struct LineTerms<8> {
  float base[2][3];
};
template <>
struct LineTerms<4> {
  float step[2];
  float base[2][3];
};
METAL_FUNC void line_terms(thread const Line<16>& line, thread LineTerms<16>& terms) {}
METAL_FUNC void line_terms(thread const Line<8>& line, thread LineTerms<8>& terms) {
#pragma unroll
  for (uint g = 0; g < 2; ++g) {
    const uint shift = line.shifts >> (8 * g) & 0xffu;
#pragma unroll
    for (uint i = 0; i < 3; ++i) {
      terms.base[g][i] = as_type<float>((150u - 8 * i - shift) << 23);
    }
  }
}
METAL_FUNC void line_terms(thread const Line<4>& line, thread LineTerms<4>& terms) {
#pragma unroll
  for (uint g = 0; g < 2; ++g) {
    const uint steps = line.steps >> (16 * g);
    const float offset = float(steps >> 8 & 0xffu) - 128.0f;
    terms.step[g] = float(steps & 0xffu);
#pragma unroll
    for (uint i = 0; i < 3; ++i) {
      terms.base[g][i] = fma(terms.step[g], -as_type<float>((142u - 4 * i) << 23), offset);
    }
  }
}
METAL_FUNC void tile_numbers(thread const Line<16>& line, thread const LineTerms<16>& terms, uint j, bfloat,
                             thread float (&numbers)[8]) {
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[2 * q + j / 4][j % 4];
    numbers[2 * q] = as_type<float>(word << 16);
    numbers[2 * q + 1] = as_type<float>(word & 0xffff0000u);
  }
}
METAL_FUNC void tile_numbers(thread const Line<16>& line, thread const LineTerms<16>& terms, uint j, half,
                             thread float (&numbers)[8]) {
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[2 * q + j / 4][j % 4];
    numbers[2 * q] = float(as_type<half>(ushort(word & 0xffffu)));
    numbers[2 * q + 1] = float(as_type<half>(ushort(word >> 16)));
  }
}
METAL_FUNC float byte_number(uint word, uint b, uint sign, float base) {
  const float magnitude = as_type<float>((word & (127u << b)) | as_type<uint>(base)) - base;
  return as_type<float>(as_type<uint>(magnitude) | (sign & 0x80000000u));
}
METAL_FUNC void tile_numbers(thread const Line<8>& line, thread const LineTerms<8>& terms, uint j, bfloat,
                             thread float (&numbers)[8]) {
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[q][j / 2];
    if (j % 2 == 0) {
      numbers[2 * q] = byte_number(word, 0, word << 24, terms.base[q / 2][0]);
      numbers[2 * q + 1] = byte_number(word, 16, word << 8, terms.base[q / 2][2]);
    } else {
      numbers[2 * q] = byte_number(word, 8, word << 16, terms.base[q / 2][1]);
      numbers[2 * q + 1] = byte_number(word >> 8, 16, word, terms.base[q / 2][2]);
    }
  }
}
METAL_FUNC float nibble_number(uint word, uint b, float step, float base) {
  return fma(as_type<float>((word & (15u << b)) | ((150u - b) << 23)), step, base);
}
template <uint BITS>
METAL_FUNC void nibble_numbers(thread const Line<BITS>& line, thread const float (&step)[2],
                               thread const float (&base)[2][3], uint j, thread float (&numbers)[8]) {
  const uint first = j % 2;
  const uint second = (j % 4 + 2) % 3;
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = line.a[q / 2][q % 2 * 2 + j / 4];
    numbers[2 * q] = nibble_number(j % 4 < 2 ? word << 8 : word, 8 + 4 * first, step[q / 2], base[q / 2][first]);
    numbers[2 * q + 1] =
        nibble_number(j % 4 == 0 ? word : word >> 12, 8 + 4 * second, step[q / 2], base[q / 2][second]);
  }
}
METAL_FUNC void tile_numbers(thread const Line<4>& line, thread const LineTerms<4>& terms, uint j, bfloat,
                             thread float (&numbers)[8]) {
  nibble_numbers<4>(line, terms.step, terms.base, j, numbers);
}
METAL_FUNC float4 rounded(float4 v) {
  return float4(float(bfloat(v.x)), float(bfloat(v.y)), float(bfloat(v.z)), float(bfloat(v.w)));
}
METAL_FUNC float4 load_quad(device const float* x) { return rounded(*(device const float4*)(x)); }
METAL_FUNC float4 load_quad(device const half* x) {
  const uint2 words = *(device const uint2*)(x);
  return float4(float(as_type<half>(ushort(words.x & 0xffffu))), float(as_type<half>(ushort(words.x >> 16))),
                float(as_type<half>(ushort(words.y & 0xffffu))), float(as_type<half>(ushort(words.y >> 16))));
}
METAL_FUNC uint staged_column(uint k0, uint end, uint lane) {
  return min(k0 + lane / 16 * kChunk, end - kChunk) + lane % 16 * 4;
}
template <uint BITS>
METAL_FUNC void stage_quad(float4 v, threadgroup float* to, uint lane) {
  const uint i = lane % 16;
  const uint at = BITS > 200   ? i / 4 * 16 + i % 4 * 2
                  : BITS > 100 ? i / 8 * 32 + i % 2 * 16 + i % 8 / 2 * 2
                               : i % 4 * 16 + i / 4 * 2;
  *(threadgroup float2*)(to + lane / 16 * kChunk + at) = float2(v.x, v.y);
  *(threadgroup float2*)(to + lane / 16 * kChunk + at + 8) = float2(v.z, v.w);
}
template <uint M>
METAL_FUNC void multiply_numbers(thread const float (&numbers)[8], threadgroup const float* x,
                                 thread float (&sums)[M]) {
#pragma unroll
  for (uint m = 0; m < M; ++m) {
    const float4 a = *(threadgroup const float4*)(x + m * kStaged);
    const float4 b = *(threadgroup const float4*)(x + m * kStaged + 4);
    sums[m] = fma(numbers[0], a.x, sums[m]);
    sums[m] = fma(numbers[1], a.y, sums[m]);
    sums[m] = fma(numbers[2], a.z, sums[m]);
    sums[m] = fma(numbers[3], a.w, sums[m]);
    sums[m] = fma(numbers[4], b.x, sums[m]);
    sums[m] = fma(numbers[5], b.y, sums[m]);
    sums[m] = fma(numbers[6], b.z, sums[m]);
    sums[m] = fma(numbers[7], b.w, sums[m]);
  }
}
template <uint BITS, uint M>
METAL_FUNC float staged_sums(Stored<false> kind, constant pagoda_args::Scales& scales, threadgroup const float* staged,
                             uint lane) {
  return 0.0f;
}
template <typename T, uint BITS, uint M>
METAL_FUNC void multiply_line(Stored<false> kind, thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                              threadgroup const float* staged, float x_sums, uint chunk, thread float (&sums)[M]) {
  LineTerms<BITS> terms;
  line_terms(line, terms);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    float numbers[8];
    tile_numbers(line, terms, j, T(0.0f), numbers);
    multiply_numbers<M>(numbers, staged + chunk * kChunk + 8 * j, sums);
  }
}
)msl"},
    {"stored.h",
R"msl(#include "codes.h"
#include "matmul.h"
constant constexpr uint kStored4 = 104;
constant constexpr uint kStored8 = 108;
constant constexpr uint kFine8 = 208;
constant constexpr uint kHasMins = 1;
constant constexpr uint kTwoLevels = 2;
constant constexpr uint kBfloats = 4;
constant constexpr uint kWideGroups = 8;
constant constexpr uint kSigned = 16;
constant constexpr uint kFloats = 32;
constant constexpr uint kFloatCodes = 64;
template <bool IS_STORED>
struct Stored {};
template <>
struct Share<kStored4> {
  uint2 a;
  uint first;
  uint second;
};
template <>
struct Share<kStored8> {
  uint4 a;
  uint first;
  uint second;
};
template <>
struct Share<kFine8> {
  uint4 a;
  uint first;
  uint second;
  uint third;
};
METAL_FUNC device const uint* record_of(device const ushort* steps, constant pagoda_args::Scales& scales, ulong at) {
  return (device const uint*)(steps) + uint(at >> scales.log_unit) * scales.words;
}
METAL_FUNC uint second_of(constant pagoda_args::Scales& scales, ulong at) {
  return scales.next + (uint(at) & ((1u << scales.log_unit) - 1)) / kChunk * scales.step;
}
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong row, uint columns, thread Share<kStored4>& to) {
  const ulong at = row + columns;
  device const uint* record = record_of(steps, scales, at);
  to.a = *(device const uint2*)(w + (uint(row / 8) + columns / 8));
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong row, uint columns, thread Share<kStored8>& to) {
  const ulong at = row + columns;
  device const uint* record = record_of(steps, scales, at);
  to.a = *(device const uint4*)(w + (uint(row / 4) + columns / 4));
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}
METAL_FUNC void load_share(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                           ulong row, uint columns, thread Share<kFine8>& to) {
  const ulong at = row + columns;
  device const uint* record = record_of(steps, scales, at);
  const uint second = second_of(scales, at);
  to.a = *(device const uint4*)(w + (uint(row / 4) + columns / 4));
  to.first = record[0];
  to.second = record[second];
  to.third = record[second + scales.step / 2];
}
METAL_FUNC uint pair_of_codes(uint nibbles, uint shift) {
  return fma_bfloats(0x3f803f80u, shift, and_or(nibbles, 0x00780078u, 0x41804180u));
}
METAL_FUNC void share_words(thread const Share<kStored4>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const float shift = -16.0f - float(scales.zero);
  const uint shifts = pack_exact(shift, shift);
  words[0] = pair_of_codes(share.a.x << 3, shifts);
  words[4] = pair_of_codes(share.a.y << 3, shifts);
#pragma unroll
  for (uint j = 1; j < 4; ++j) {
    words[j] = pair_of_codes(share.a.x >> (4 * j - 3), shifts);
    words[4 + j] = pair_of_codes(share.a.y >> (4 * j - 3), shifts);
  }
}
METAL_FUNC float half_in(uint bits) { return float(as_type<half>(ushort(bits & 0xffffu))); }
METAL_FUNC float float8_in(uint byte) { return 256.0f * half_in((byte & 127u) << 7 | (byte & 128u) << 8); }
METAL_FUNC uint pair_of_floats(uint bytes) {
#ifdef __MSL_PAIRED_MMA__
  return fma_bfloats((bytes & 0x007f007fu) << 4 | (bytes & 0x00800080u) << 8, 0x7b807b80u, 0x80008000u);
#else
  return pack_exact(float8_in(bytes & 255u), float8_in(bytes >> 16 & 255u));
#endif
}
METAL_FUNC uint2 stored_words(uint word, bool is_float, float zero) {
  return is_float ? uint2(pair_of_floats(word), pair_of_floats(word >> 8)) : words_of_codes(word, 8388608.0f + zero);
}
METAL_FUNC float stored_number(uint code, constant pagoda_args::Scales& scales) {
  return (scales.kind & kFloatCodes) != 0 ? float8_in(code) : float(code) - float(scales.zero);
}
METAL_FUNC void share_words(thread const Share<kStored8>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  const bool is_float = (scales.kind & kFloatCodes) != 0;
  const float zero = float(scales.zero);
  const uint2 a = stored_words(share.a.x, is_float, zero);
  const uint2 b = stored_words(share.a.y, is_float, zero);
  const uint2 c = stored_words(share.a.z, is_float, zero);
  const uint2 d = stored_words(share.a.w, is_float, zero);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}
METAL_FUNC void share_words(thread const Share<kFine8>& share, constant pagoda_args::Scales& scales,
                            thread uint (&words)[kChunkTiles]) {
  bytes_to_words(share.a, scales.zero, words);
}
METAL_FUNC float scale_in(uint bits, uint kind) {
  return (kind & kBfloats) != 0 ? as_type<float>(bits << 16) : half_in(bits);
}
METAL_FUNC float lower_scale(uint byte, uint kind) {
  return (kind & kSigned) != 0 ? byte_minus(byte ^ 128u, 8388736.0f) : byte_minus(byte, 8388608.0f);
}
METAL_FUNC void group_terms(uint first, uint second, uint kind, thread float (&terms)[4]) {
  if ((kind & kTwoLevels) != 0) {
    const float scale = half_in(first);
    const float min = half_in(first >> 16);
    terms[0] = scale * lower_scale(second & 255u, kind);
    terms[1] = scale * lower_scale(second >> 8 & 255u, kind);
    terms[2] = -(min * lower_scale(second >> 16 & 255u, kind));
    terms[3] = -(min * lower_scale(second >> 24, kind));
    return;
  }
  if ((kind & kFloats) != 0) {
    terms[0] = as_type<float>(first);
    terms[1] = terms[0];
    terms[2] = as_type<float>(second);
    terms[3] = terms[2];
    return;
  }
  const bool is_wide = (kind & kWideGroups) != 0;
  terms[0] = scale_in(first & 0xffffu, kind);
  terms[1] = is_wide ? terms[0] : scale_in(first >> 16, kind);
  terms[2] = is_wide ? scale_in(first >> 16, kind) : scale_in(second & 0xffffu, kind);
  terms[3] = is_wide ? terms[2] : scale_in(second >> 16, kind);
}
METAL_FUNC void share_terms(thread const Share<kStored4>& share, constant pagoda_args::Scales& scales,
                            thread float (&terms)[4]) {
  group_terms(share.first, share.second, scales.kind, terms);
}
METAL_FUNC void share_terms(thread const Share<kStored8>& share, constant pagoda_args::Scales& scales,
                            thread float (&terms)[4]) {
  group_terms(share.first, share.second, scales.kind, terms);
}
METAL_FUNC void share_terms(thread const Share<kFine8>& share, constant pagoda_args::Scales& scales,
                            thread float (&terms)[8]) {
  if ((scales.kind & kTwoLevels) == 0) {
#pragma unroll
    for (uint g = 0; g < 4; ++g) {
      terms[g] = 0.5f * float8_in(share.first >> (8 * g) & 255u);
      terms[4 + g] = 0.0f;
    }
    return;
  }
  const float scale = half_in(share.first);
  const float min = half_in(share.first >> 16);
#pragma unroll
  for (uint g = 0; g < 4; ++g) {
    terms[g] = scale * lower_scale(share.second >> (8 * g) & 255u, scales.kind);
    terms[4 + g] = -(min * lower_scale(share.third >> (8 * g) & 255u, scales.kind));
  }
}
METAL_FUNC void add_scaled(thread SumTile& sum, thread const SumTile& part, float factor, threadgroup uint* scratch,
                           uint lane) {
#ifdef __MSL_PAIRED_MMA__
  msl_add_scaled(sum, part, factor);
#else
  threadgroup float* diagonal = (threadgroup float*)(scratch);
  const uint row = lane / 4;
  const uint column = lane % 4 * 2;
  diagonal[2 * lane] = column == row ? factor : 0.0f;
  diagonal[2 * lane + 1] = column + 1 == row ? factor : 0.0f;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  SumTile factors;
  simdgroup_load(factors, (threadgroup const float*)(diagonal), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_multiply_accumulate(sum, factors, part, sum);
#endif
}
template <typename T, uint GROUPS, uint N, uint R, uint M>
METAL_FUNC void add_groups(thread SumTile (&acc)[R][M], uint first, thread const uint (&w)[N][kChunkTiles],
                           thread const float (&terms)[N][2 * GROUPS], thread const uint (&x)[M][kChunkTiles],
                           bool has_mins, threadgroup uint* scratch, uint lane) {
  constexpr uint TILES = kChunkTiles / GROUPS;
  simdgroup_matrix<T, 8, 8> left[N][kChunkTiles];
  const simdgroup_matrix<T, 8, 8> ones = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f));
#pragma unroll
  for (uint i = 0; i < N; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch, lane);
#pragma unroll
    for (uint g = 0; g < GROUPS; ++g) {
      SumTile part[N];
      SumTile x_sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
#pragma unroll
      for (uint i = 0; i < N; ++i) {
        part[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      }
#ifdef __MSL_PAIRED_MMA__
#pragma unroll
      for (uint j = g * TILES; j < (g + 1) * TILES; j += 2) {
#pragma unroll
        for (uint i = 0; i < N; i += 2) {
          msl_multiply_accumulate_pairs(part[i], part[min(i + 1, N - 1)], left[i][j], left[min(i + 1, N - 1)][j],
                                        left[i][j + 1], left[min(i + 1, N - 1)][j + 1], right[j], right[j + 1],
                                        i + 1 < N);
        }
        if (has_mins) {
          msl_multiply_accumulate_pairs(x_sum, x_sum, ones, ones, ones, ones, right[j], right[j + 1], false);
        }
      }
#else
#pragma unroll
      for (uint j = g * TILES; j < (g + 1) * TILES; ++j) {
#pragma unroll
        for (uint i = 0; i < N; ++i) {
          simdgroup_multiply_accumulate(part[i], left[i][j], right[j], part[i]);
        }
        if (has_mins) {
          simdgroup_multiply_accumulate(x_sum, ones, right[j], x_sum);
        }
      }
#endif
#pragma unroll
      for (uint i = 0; i < N; ++i) {
        add_scaled(acc[first + i][t], part[i], terms[i][g], scratch, lane);
        if (has_mins) {
          add_scaled(acc[first + i][t], x_sum, terms[i][GROUPS + g], scratch, lane);
        }
      }
    }
  }
}
template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_shares(Stored<false> kind, thread SumTile (&acc)[R][M], thread const Share<BITS> (&share)[R],
                                thread const uint (&x)[M][kChunkTiles], constant pagoda_args::Scales& scales,
                                threadgroup uint* scratch, uint lane) {
  uint words[R][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    share_words(share[i], scales, words[i]);
  }
  chunk_multiply<T, R, M>(acc, words, x, scratch, lane);
}
template <typename T, uint BITS, uint R, uint M>
METAL_FUNC void multiply_shares(Stored<true> kind, thread SumTile (&acc)[R][M], thread const Share<BITS> (&share)[R],
                                thread const uint (&x)[M][kChunkTiles], constant pagoda_args::Scales& scales,
                                threadgroup uint* scratch, uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  uint words[R][kChunkTiles];
  float terms[R][2 * GROUPS];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    share_words(share[i], scales, words[i]);
    share_terms(share[i], scales, terms[i]);
  }
  add_groups<T, GROUPS, R, R, M>(acc, 0, words, terms, x, (scales.kind & kHasMins) != 0, scratch, lane);
}
template <uint BITS>
METAL_FUNC void stage_terms(Stored<false> kind, thread const Share<BITS>& share, constant pagoda_args::Scales& scales,
                            threadgroup float* to, uint row, uint quarter) {}
template <uint BITS>
METAL_FUNC void stage_terms(Stored<true> kind, thread const Share<BITS>& share, constant pagoda_args::Scales& scales,
                            threadgroup float* to, uint row, uint quarter) {
  constexpr uint TERMS = BITS > 200 ? 8 : 4;
  float terms[TERMS];
  share_terms(share, scales, terms);
#pragma unroll
)msl"
R"msl(  for (uint i = 0; i < TERMS; ++i) {
    if (i % 4 == quarter) {
      to[row * TERMS + i] = terms[i];
    }
  }
}
METAL_FUNC uint staged_row(uint tid, uint i) { return 64 * (i / 2) + 16 * (tid / 32) + 8 * (i % 2) + tid % 32 / 4; }
)msl"},
    {"stored_scalar.h",
R"msl(#include "scalar.h"
template <>
struct Line<kStored4> {
  uint4 a[2];
  uint first;
  uint second;
};
template <>
struct Line<kStored8> {
  uint4 a[4];
  uint first;
  uint second;
};
template <>
struct Line<kFine8> {
  uint4 a[4];
  uint first;
  uint second;
  uint third;
};
METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<kStored4>& to) {
  device const uint* record = record_of(steps, scales, at);
  to.a[0] = *(device const uint4*)(w + at / 8);
  to.a[1] = *(device const uint4*)(w + at / 8 + 4);
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}
METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<kStored8>& to) {
  device const uint* record = record_of(steps, scales, at);
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 4 + 4 * i);
  }
  to.first = record[0];
  to.second = record[second_of(scales, at)];
}
METAL_FUNC void load_line(device const uint* w, device const ushort* steps, constant pagoda_args::Scales& scales,
                          ulong at, thread Line<kFine8>& to) {
  device const uint* record = record_of(steps, scales, at);
  const uint second = second_of(scales, at);
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    to.a[i] = *(device const uint4*)(w + at / 4 + 4 * i);
  }
  to.first = record[0];
  to.second = record[second];
  to.third = record[second + scales.step / 2];
}
template <uint BITS>
METAL_FUNC void line_scales(thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                            thread float (&terms)[4]) {
  group_terms(line.first, line.second, scales.kind, terms);
}
template <uint BITS>
METAL_FUNC void line_scales(thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                            thread float (&terms)[8]) {
  Share<BITS> share;
  share.a = line.a[0];
  share.first = line.first;
  share.second = line.second;
  share.third = line.third;
  share_terms(share, scales, terms);
}
METAL_FUNC void tile_codes(thread const Line<kStored4>& line, bool is_float, uint zero, uint j,
                           thread float (&codes)[8]) {
  float one[2];
  float base[2][3];
#pragma unroll
  for (uint g = 0; g < 2; ++g) {
    one[g] = 1.0f;
#pragma unroll
    for (uint i = 0; i < 3; ++i) {
      base[g][i] = -as_type<float>((142u - 4 * i) << 23) - float(zero);
    }
  }
  nibble_numbers<kStored4>(line, one, base, j, codes);
}
template <uint BITS>
METAL_FUNC void tile_codes(thread const Line<BITS>& line, bool is_float, uint zero, uint j, thread float (&codes)[8]) {
  if (is_float) {
#pragma unroll
    for (uint q = 0; q < 4; ++q) {
      const uint word = j % 2 == 0 ? line.a[q][j / 2] : line.a[q][j / 2] >> 8;
      codes[2 * q] = float8_in(word & 255u);
      codes[2 * q + 1] = float8_in(word >> 16 & 255u);
    }
    return;
  }
  const float first = 8388608.0f + float(zero);
  const float second = 32768.0f + float(zero);
#pragma unroll
  for (uint q = 0; q < 4; ++q) {
    const uint word = j % 2 == 0 ? line.a[q][j / 2] : line.a[q][j / 2] >> 16;
    codes[2 * q] = as_type<float>((word & 255u) | 0x4b000000u) - first;
    codes[2 * q + 1] = as_type<float>((word & 0xff00u) | 0x47000000u) - second;
  }
}
template <uint BITS, uint M>
METAL_FUNC float staged_sums(Stored<true> kind, constant pagoda_args::Scales& scales, threadgroup const float* staged,
                             uint lane) {
  constexpr uint GROUPS = BITS > 200 ? 8 : 4;
  constexpr uint COLUMNS = kStaged / GROUPS;
  float sum = 0.0f;
  if ((scales.kind & kHasMins) != 0) {
    threadgroup const float* x = staged + lane / GROUPS % M * kStaged + lane % GROUPS * COLUMNS;
#pragma unroll
    for (uint i = 0; i < COLUMNS; i += 4) {
      const float4 v = *(threadgroup const float4*)(x + i);
      sum += v.x;
      sum += v.y;
      sum += v.z;
      sum += v.w;
    }
  }
  return sum;
}
template <typename T, uint BITS, uint M>
METAL_FUNC void multiply_line(Stored<true> kind, thread const Line<BITS>& line, constant pagoda_args::Scales& scales,
                              threadgroup const float* staged, float x_sums, uint chunk, thread float (&sums)[M]) {
  constexpr uint GROUPS = BITS > 200 ? 4 : 2;
  constexpr uint TILES = kChunkTiles / GROUPS;
  float terms[2 * GROUPS];
  line_scales(line, scales, terms);
  const bool is_float = (scales.kind & kFloatCodes) != 0;
#pragma unroll
  for (uint g = 0; g < GROUPS; ++g) {
    float parts[M];
#pragma unroll
    for (uint m = 0; m < M; ++m) {
      parts[m] = 0.0f;
    }
#pragma unroll
    for (uint j = g * TILES; j < (g + 1) * TILES; ++j) {
      float codes[8];
      tile_codes(line, is_float, scales.zero, j, codes);
      multiply_numbers<M>(codes, staged + chunk * kChunk + 8 * j, parts);
    }
#pragma unroll
    for (uint m = 0; m < M; ++m) {
      sums[m] = fma(terms[g], parts[m], sums[m]);
      if ((scales.kind & kHasMins) != 0) {
        const float x_sum = simd_shuffle(x_sums, ushort((2 * m + chunk) * GROUPS + g));
        sums[m] = fma(terms[GROUPS + g], x_sum, sums[m]);
      }
    }
  }
}
)msl"},
    {"tiles.h",
R"msl(#include "common.h"
constant constexpr uint kChunk = 64;
constant constexpr uint kChunkTiles = 8;
constant constexpr uint kTileScratch = 2 * kChunkTiles * 32;
typedef simdgroup_matrix<float, 8, 8> SumTile;
METAL_FUNC uint pack_half(float first, float second) {
#ifdef __MSL_PAIRED_MMA__
  return msl_pack_half(first, second);
#else
  return uint(as_type<ushort>(half(first))) | uint(as_type<ushort>(half(second))) << 16;
#endif
}
METAL_FUNC uint pack_bfloat(float first, float second) {
#ifdef __MSL_PAIRED_MMA__
  return msl_pack_bfloat(first, second);
#else
  return uint(as_type<ushort>(bfloat(first))) | uint(as_type<ushort>(bfloat(second))) << 16;
#endif
}
METAL_FUNC uint pack_exact(float first, float second) { return as_type<uint>(first) >> 16 | as_type<uint>(second); }
METAL_FUNC uint and_or(uint a, uint mask, uint bits) {
#ifdef __MSL_PAIRED_MMA__
  return msl_and_or(a, mask, bits);
#else
  return (a & mask) | bits;
#endif
}
METAL_FUNC uint fma_bfloats(uint a, uint b, uint c) {
#ifdef __MSL_PAIRED_MMA__
  return msl_fma_bfloats(a, b, c);
#else
  const float first = fma(as_type<float>(a << 16), as_type<float>(b << 16), as_type<float>(c << 16));
  const float second =
      fma(as_type<float>(a & 0xffff0000u), as_type<float>(b & 0xffff0000u), as_type<float>(c & 0xffff0000u));
  return pack_exact(first, second);
#endif
}
METAL_FUNC void set_words(uint4 a, uint4 b, thread uint (&words)[kChunkTiles]) {
  words[0] = a.x;
  words[1] = a.y;
  words[2] = a.z;
  words[3] = a.w;
  words[4] = b.x;
  words[5] = b.y;
  words[6] = b.z;
  words[7] = b.w;
}
template <typename T, bool TRANSPOSED>
METAL_FUNC void make_tiles(thread const uint (&words)[kChunkTiles],
                           thread simdgroup_matrix<T, 8, 8> (&tiles)[kChunkTiles], threadgroup uint* scratch,
                           uint lane) {
#ifdef __MSL_PAIRED_MMA__
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    msl_set_word<T, TRANSPOSED>(tiles[j], words[j]);
  }
#else
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    simdgroup_load(tiles[j], (threadgroup const T*)(scratch + j * 32), 8, ulong2(0, 0), TRANSPOSED);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
}
template <typename T>
METAL_FUNC void make_row_tiles(uint4 words, thread simdgroup_matrix<T, 8, 8> (&tiles)[4], threadgroup uint* scratch,
                               uint lane) {
#ifdef __MSL_PAIRED_MMA__
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    msl_set_row_word<T>(tiles[j], words[j]);
  }
#else
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    scratch[j * 32 + lane] = words[j];
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
  for (uint j = 0; j < 4; ++j) {
    simdgroup_load(tiles[j], (threadgroup const T*)(scratch + j * 32), 8);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
}
template <typename T, uint R, uint M>
METAL_FUNC void pair_multiply(thread SumTile (&acc)[R][M], uint first, thread const uint (&w)[2][kChunkTiles],
                              thread const uint (&x)[M][kChunkTiles], threadgroup uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[2][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#ifdef __MSL_PAIRED_MMA__
  simdgroup_matrix<T, 8, 8> right[M][kChunkTiles];
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    make_tiles<T, true>(x[t], right[t], scratch, lane);
  }
#pragma unroll
  for (uint j = 0; j < kChunkTiles; j += 2) {
#pragma unroll
    for (uint t = 0; t < M; ++t) {
      msl_multiply_accumulate_pairs(acc[first][t], acc[first + 1][t], left[0][j], left[1][j], left[0][j + 1],
                                    left[1][j + 1], right[t][j], right[t][j + 1], true);
    }
  }
#else
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch, lane);
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[first + i][t], left[i][j], right[j], acc[first + i][t]);
      }
    }
  }
#endif
}
template <typename T, uint R, uint M>
METAL_FUNC void chunk_multiply(thread SumTile (&acc)[R][M], thread const uint (&w)[R][kChunkTiles],
                               thread const uint (&x)[M][kChunkTiles], threadgroup uint* scratch, uint lane) {
  simdgroup_matrix<T, 8, 8> left[R][kChunkTiles];
#pragma unroll
  for (uint i = 0; i < R; ++i) {
    make_tiles<T, false>(w[i], left[i], scratch, lane);
  }
#pragma unroll
  for (uint t = 0; t < M; ++t) {
    simdgroup_matrix<T, 8, 8> right[kChunkTiles];
    make_tiles<T, true>(x[t], right, scratch + kTileScratch / 2, lane);
#ifdef __MSL_PAIRED_MMA__
#pragma unroll
    for (uint i = 0; i < R; i += 2) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; j += 2) {
        msl_multiply_accumulate_pairs(acc[i][t], acc[min(i + 1, R - 1)][t], left[i][j], left[min(i + 1, R - 1)][j],
                                      left[i][j + 1], left[min(i + 1, R - 1)][j + 1], right[j], right[j + 1],
                                      i + 1 < R);
      }
    }
#else
#pragma unroll
    for (uint i = 0; i < R; ++i) {
#pragma unroll
      for (uint j = 0; j < kChunkTiles; ++j) {
        simdgroup_multiply_accumulate(acc[i][t], left[i][j], right[j], acc[i][t]);
      }
    }
#endif
  }
}
METAL_FUNC void move_sum(thread SumTile& total, thread SumTile& part, threadgroup uint* scratch, uint lane) {
#ifdef __MSL_PAIRED_MMA__
  msl_add(total, part);
#else
  threadgroup float* sums = (threadgroup float*)(scratch);
  simdgroup_store(total, sums, 8);
  simdgroup_store(part, sums + 64, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sums[lane] = sums[lane] + sums[64 + lane];
  sums[32 + lane] = sums[32 + lane] + sums[96 + lane];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(total, (threadgroup const float*)(sums), 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  part = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
}
METAL_FUNC void store_words(thread const uint (&words)[kChunkTiles], threadgroup uint* to) {
  *(threadgroup uint4*)(to) = uint4(words[0], words[1], words[2], words[3]);
  *(threadgroup uint4*)(to + 4) = uint4(words[4], words[5], words[6], words[7]);
}
METAL_FUNC void load_words(threadgroup const uint* from, thread uint (&words)[kChunkTiles]) {
  set_words(*(threadgroup const uint4*)(from), *(threadgroup const uint4*)(from + 4), words);
}
)msl"},
    {"weights.h",
R"msl(#include "candidates.h"
METAL_FUNC float multiply_add(float a, float b, float c) {
  const float product = a * b;
  return product + c;
}
METAL_FUNC float weight_of(float x) {
  const float bounded = x > -87.0f ? x : -87.0f;
  const float shifted = multiply_add(bounded, 1.44269502f, 12582912.0f);
  const float n = shifted - 12582912.0f;
  float r = multiply_add(n, -0.693145752f, bounded);
  r = multiply_add(n, -1.42860677e-06f, r);
  float p = multiply_add(1.0f / 720.0f, r, 1.0f / 120.0f);
  p = multiply_add(p, r, 1.0f / 24.0f);
  p = multiply_add(p, r, 1.0f / 6.0f);
  p = multiply_add(p, r, 0.5f);
  p = multiply_add(p, r, 1.0f);
  p = multiply_add(p, r, 1.0f);
  const uint exponent = as_type<uint>(shifted) - 0x4b400000u + 127u;
  return x > -87.0f ? p * as_type<float>(exponent << 23) : 0.0f;
}
METAL_FUNC ulong whole_weight(float w) {
  const float scaled = w * 1048576.0f;
  const uint upper = uint(scaled);
  return (ulong(upper) << 20) + ulong((scaled - float(upper)) * 1048576.0f);
}
METAL_FUNC ulong multiply_high(ulong a, ulong b) {
  const ulong low = 0xffffffffu;
  const ulong middle = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (((a & low) * (b >> 32) + (middle & low)) >> 32);
}
METAL_FUNC float logit_of(uint key) { return as_type<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key); }
METAL_FUNC float logit_in(ulong candidate) { return logit_of(key_in(candidate)); }
METAL_FUNC float bucket_place(float x) { return min(x * -9.14285755f, 255.0f); }
METAL_FUNC uint bucket_of(float x) { return uint(bucket_place(x)); }
METAL_FUNC uint finer_bucket_of(float x) {
  const float place = bucket_place(x);
  const float rest = place - float(uint(place));
  return uint(rest * 256.0f);
}
METAL_FUNC void find_place(ulong own, bool is_share, ulong rest, ulong fraction, threadgroup ulong* own_masses,
                           threadgroup ulong* place, uint tid) {
  own_masses[tid] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ulong before = 0;
  ulong total = 0;
  for (uint i = 0; i < kThreads; ++i) {
    before += i < tid ? own_masses[i] : 0ul;
    total += own_masses[i];
  }
  const ulong target = is_share ? multiply_high(total, fraction) : rest;
  if (before <= target && target < before + own) {
    place[0] = tid;
    place[1] = target - before;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
)msl"},
    {"wide_tile.h",
R"msl(#include "stored.h"
constant constexpr uint kWideScratch = 5 * 128;
METAL_FUNC ulong tiled_word(uint rows, uint row, uint i) {
  const uint of_chunk = i % (kChunk / 2);
  return (ulong(i / (kChunk / 2)) * rows + row) * (kChunk / 2) + ((of_chunk % 8) ^ (row % 8)) * 4 + of_chunk / 8;
}
#ifdef __MSL_PAIRED_MMA__
template <uint BITS>
METAL_FUNC void wide_words(thread const Share<BITS>& share, constant pagoda_args::Scales& scales, uint zero,
                           thread uint (&words)[kChunkTiles]) {
  share_words(share, scales, words);
#pragma unroll
  for (uint j = 0; j < kChunkTiles; ++j) {
    words[j] = BITS == 16 ? words[j] ^ zero : words[j];
  }
}
template <typename T, uint BITS, uint TILES>
METAL_FUNC void multiply_wide(thread SumTile (&total)[2][TILES], device const uint* x, device const uint* w,
                              device const ushort* w_steps, uint rows, uint rows_left, thread const ulong (&w_at)[2],
                              thread Share<BITS> (&w_next)[2], constant pagoda_args::Matmul& args,
                              threadgroup uint* scratch, uint tid, uint lane) {
  constexpr uint STAGES = 4;
  constexpr uint AHEAD = 4;
  msl_ring<STAGES, TILES * 1024> ring(tid == 0, 8);
  const uint chunks = args.padded_cols / kChunk;
  const uint tile_rows = min(8 * TILES, rows_left);
  const uint zero = args.rows >> 31;
  wait_for_inputs();
  if (tid == 0) {
    for (uint s = 0; s < min(STAGES - 1, chunks); ++s) {
      ring.fetch(s, x + ulong(s) * rows * (kChunk / 2), tile_rows * kChunk * 2);
    }
  }
  SumTile acc[2][TILES];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint t = 0; t < TILES; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  uint column = 0;
  for (uint k = 0; k < chunks; ++k) {
    uint left[kChunkTiles / 2][4];
    uint words[2][kChunkTiles];
    wide_words<BITS>(w_next[0], args.scales, zero, words[0]);
    wide_words<BITS>(w_next[1], args.scales, zero, words[1]);
#pragma unroll
    for (uint j = 0; j < kChunkTiles / 2; ++j) {
      left[j][0] = words[0][2 * j];
      left[j][1] = words[1][2 * j];
      left[j][2] = words[0][2 * j + 1];
      left[j][3] = words[1][2 * j + 1];
    }
    const uint next = min(k + 1, chunks - 1) * kChunk;
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      load_share(w, w_steps, args.scales, w_at[i], next, w_next[i]);
      msl_prefetch((device const uchar*)(w) + (w_at[i] + min(k + AHEAD, chunks - 1) * kChunk) * BITS / 8);
    }
    const ulong right = msl_swizzled_rows(ring.await(k));
    msl_warpgroup_begin(acc);
#pragma unroll
    for (uint j = 0; j < kChunkTiles / 2; ++j) {
      msl_warpgroup_multiply(acc, T(0.0f), left[j], right + 2 * j, j > 0 || column > 0);
    }
    msl_warpgroup_commit();
    if (tid / 32 == 0) {
      if (lane == 0 && k + STAGES - 1 < chunks) {
        ring.fetch(k + STAGES - 1, x + ulong(k + STAGES - 1) * rows * (kChunk / 2), tile_rows * kChunk * 2);
      }
      simdgroup_barrier(mem_flags::mem_none);
    }
    msl_warpgroup_wait(acc);
    if (lane == 0) {
      ring.release(k);
    }
    column += kChunk;
    if (column == args.run || k + 1 == chunks) {
      column = 0;
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
#pragma unroll
        for (uint t = 0; t < TILES; ++t) {
          msl_add(total[i][t], acc[i][t]);
        }
      }
    }
  }
}
#else
template <typename T, uint BITS, uint TILES>
METAL_FUNC void multiply_wide(thread SumTile (&total)[2][TILES], device const uint* x, device const uint* w,
                              device const ushort* w_steps, uint rows, uint rows_left, thread const ulong (&w_at)[2],
                              thread Share<BITS> (&w_next)[2], constant pagoda_args::Matmul& args,
                              threadgroup uint* scratch, uint tid, uint lane) {
  SumTile acc[2][TILES];
#pragma unroll
  for (uint i = 0; i < 2; ++i) {
#pragma unroll
    for (uint t = 0; t < TILES; ++t) {
      acc[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
      total[i][t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }
  for (uint k0 = 0; k0 < args.padded_cols; k0 += kChunk) {
    uint words[2][kChunkTiles];
    uint x_words[TILES][kChunkTiles];
#pragma unroll
    for (uint i = 0; i < 2; ++i) {
      load_share(w, w_steps, args.scales, w_at[i], k0, w_next[i]);
      share_words(w_next[i], args.scales, words[i]);
    }
#pragma unroll
    for (uint t = 0; t < TILES; ++t) {
      const uint row = min(rows_left - 1, 8 * t + lane / 4);
#pragma unroll
      for (uint j = 0; j < kChunkTiles; ++j) {
        x_words[t][j] = x[tiled_word(rows, row, k0 / 2 + lane % 4 * kChunkTiles + j)];
      }
    }
    chunk_multiply<T, 2, TILES>(acc, words, x_words, scratch, lane);
    if ((k0 + kChunk) % args.run == 0 || k0 + kChunk == args.padded_cols) {
#pragma unroll
      for (uint i = 0; i < 2; ++i) {
#pragma unroll
        for (uint t = 0; t < TILES; ++t) {
          move_sum(total[i][t], acc[i][t], scratch, lane);
        }
      }
    }
  }
}
#endif
)msl"},
  };
  return kHeaders;
}
}  // namespace pagoda::device::gpu::generated
