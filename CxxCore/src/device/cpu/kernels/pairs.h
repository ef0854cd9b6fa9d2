// Kernel source: packed weights times rows with NEON's matrix instructions, which multiply 2 rows by 2 channels over 8
// bytes of K. A line of weights (run 8: 16 channels x 8 bytes) is 8 operands of 2 channels; 8 accumulators of 2 x 2
// cover 2 rows x 16 channels. An odd last row is multiplied together with whatever memory follows it.
// K is processed in chunks whose weights stay in L1 while all rows stream past; sums are spilled between chunks, which
// changes no bit. bf16: one chain over K per result, in the instruction's own arithmetic (pairs of products, rounded to
// odd, denormals are zero), so results differ from other code paths in the last bits.

constexpr int64_t kLineBytes = 128;               // per line of a block of weights; 8 of them per row of x
constexpr int64_t kOperands = 8;                  // per line
constexpr int kTilePairs = 3;                     // of rows: 24 sums, 3 operands of x, 5 registers for weights
constexpr int64_t kChunkLines = 128;              // 16 KiB of weights
constexpr int64_t kRowsBytes = int64_t{1} << 20;  // rows processed per pass: half of a core's L2
constexpr int64_t kMaxRows = 512;                 // at most
constexpr int64_t kSumsBytes = kMaxRows * kBlockChannels * 4;
static_assert(kSumsBytes + kChunkLines * kLineBytes <= kPackedScratch);

// Calls step(half, operand, first, second) for the operands of 32 columns of a 4-bit block: `first` belongs to line
// `half` of the four (as int8), `second` to line 2 + half.
template <class Step>
PAGODA_INLINE void unpack_4bit(const PackedTile& t, int64_t block, int64_t column, Step&& step) {
  const std::byte* from = t.weights + block * t.block_bytes + column * (kBlockChannels / 2);
  const std::byte* steps = t.steps + block * t.step_bytes + column;
  const uint8x16_t all_steps = load_as<uint8x16_t>(steps),
                   all_offsets = veorq_u8(load_as<uint8x16_t>(steps + kBlockChannels), vdupq_n_u8(0x80));
#pragma clang loop unroll(full)  // otherwise the sums of `step` would stay in memory
  for (int i = 0; i < kOperands; ++i) {
    const uint8x16_t channels = vcombine_u8(vdup_n_u8(static_cast<uint8_t>(2 * i)),
                                            vdup_n_u8(static_cast<uint8_t>(2 * i + 1))),
                     times = vqtbl1q_u8(all_steps, channels), offset = vqtbl1q_u8(all_offsets, channels);
    for (int half = 0; half < 2; ++half) {
      const uint8x16_t both = load_as<uint8x16_t>(from + half * kLineBytes + i * 16);
      step(half, i, vreinterpretq_s8_u8(vmlaq_u8(offset, vandq_u8(both, vdupq_n_u8(15)), times)),
           vreinterpretq_s8_u8(vmlaq_u8(offset, vshrq_n_u8(both, 4), times)));
    }
  }
  for (int64_t ahead = 0; ahead < 2 * kLineBytes; ahead += 64) __builtin_prefetch(from + kPrefetch + ahead);
}

// The differences between formats: accumulators, location of a chunk's weights, and the final scaling.
struct Int8Pairs {
  typedef int32x4_t Sum;
  static constexpr int64_t kBytes = 1;  // per column
  PAGODA_INLINE Sum multiply(Sum sum, int8x16_t x, int8x16_t w) { return vmmlaq_s32(sum, x, w); }
  PAGODA_INLINE const std::byte* weights(const PackedTile& t, int64_t block, int64_t line, int64_t) {
    return t.weights + block * t.block_bytes + line * kLineBytes;
  }
  PAGODA_INLINE Vec result(const PackedTile& t, int64_t m, int64_t block, IntVec sum) {
    return scaled(t, m, block, sum);
  }
};
struct Int4Pairs : Int8Pairs {
  static const std::byte* weights(const PackedTile& t, int64_t block, int64_t line, int64_t end) {
    std::byte* to = t.scratch + kSumsBytes;
    for (int64_t l = line; l < end; l += 4, to += 4 * kLineBytes)
      unpack_4bit(t, block, l * 8, [&](int half, int i, int8x16_t first, int8x16_t second) PAGODA_LAMBDA {
        __builtin_memcpy(to + half * kLineBytes + i * 16, &first, 16);
        __builtin_memcpy(to + (2 + half) * kLineBytes + i * 16, &second, 16);
      });
    return t.scratch + kSumsBytes;
  }
};
struct Bf16Pairs : Int8Pairs {
  typedef float32x4_t Sum;
  static constexpr int64_t kBytes = 2;
  PAGODA_INLINE Sum multiply(Sum sum, int8x16_t x, int8x16_t w) {
    return vbfmmlaq_f32(sum, vreinterpretq_bf16_s8(x), vreinterpretq_bf16_s8(w));
  }
  PAGODA_INLINE Vec result(const PackedTile&, int64_t, int64_t, IntVec bits) { return __builtin_bit_cast(Vec, bits); }
};

// Loads 8 bytes of each of two rows.
PAGODA_INLINE int8x16_t load_pair(const std::byte* x, int64_t x_stride) {
  return vcombine_s8(load_as<int8x8_t>(x), load_as<int8x8_t>(x + x_stride));
}

// Stores 2 x 2 accumulators as rows of results; skips rows beyond t.m.
template <class Format>
PAGODA_INLINE void store_pair(const PackedTile& t, int64_t m, int64_t block, const typename Format::Sum* sums) {
  struct Rows {
    int64x2_t first[4], second[4];
  } rows;
  for (int i = 0; i < 4; ++i) {
    const int64x2_t a = __builtin_bit_cast(int64x2_t, sums[2 * i]), b = __builtin_bit_cast(int64x2_t, sums[2 * i + 1]);
    rows.first[i] = vzip1q_s64(a, b);
    rows.second[i] = vzip2q_s64(a, b);
  }
  store_channels(t, m, block, Format::result(t, m, block, load_as<IntVec>(rows.first)));
  if (m + 1 < t.m) store_channels(t, m + 1, block, Format::result(t, m + 1, block, load_as<IntVec>(rows.second)));
}

// Lines [line, end) of one block.
struct Chunk {
  int64_t block, line, end;
  bool is_first, is_last;
  const std::byte* weights;
};

// Rows [m, m + 2 Pairs); `waiting` holds their sums between chunks.
template <class Format, int Pairs>
static void multiply_pairs(const PackedTile& t, const Chunk& chunk, int64_t m, std::byte* waiting) {
  typename Format::Sum sums[Pairs][kOperands] = {};
  if (!chunk.is_first) __builtin_memcpy(sums, waiting, sizeof sums);
  const std::byte *w = chunk.weights, *x = t.x + m * t.x_stride + chunk.line * 8;
  for (int64_t line = chunk.line; line < chunk.end; ++line, w += kLineBytes, x += 8) {
    int8x16_t rows[Pairs];
    for (int p = 0; p < Pairs; ++p) rows[p] = load_pair(x + 2 * p * t.x_stride, t.x_stride);
    __builtin_prefetch(w + kPrefetch);
    __builtin_prefetch(w + kPrefetch + 64);
    for (int i = 0; i < kOperands; ++i) {
      const int8x16_t operand = load_as<int8x16_t>(w + i * 16);
      for (int p = 0; p < Pairs; ++p) sums[p][i] = Format::multiply(sums[p][i], rows[p], operand);
    }
  }
  if (!chunk.is_last) {
    __builtin_memcpy(waiting, sums, sizeof sums);
    return;
  }
  for (int p = 0; p < Pairs; ++p) store_pair<Format>(t, m + 2 * p, chunk.block, sums[p]);
}

// One or two rows times 4-bit weights, without unpacking to memory.
static void multiply_pair_4bit(const PackedTile& t) {
  for (int64_t block = 0; block < t.blocks; ++block) {
    int32x4_t sums[kOperands] = {};
    for (int64_t column = 0; column < t.groups * kPackedColumns; column += kChunk) {
      int8x16_t rows[4];
      for (int i = 0; i < 4; ++i) rows[i] = load_pair(t.x + column + i * 8, t.x_stride);
      unpack_4bit(t, block, column, [&](int half, int i, int8x16_t first, int8x16_t second) PAGODA_LAMBDA {
        sums[i] = vmmlaq_s32(sums[i], rows[half], first);
        sums[i] = vmmlaq_s32(sums[i], rows[2 + half], second);
      });
    }
    store_pair<Int8Pairs>(t, 0, block, sums);
  }
}

// Rows [begin, end) of one block.
template <class Format>
static void multiply_block(const PackedTile& t, int64_t block, int64_t begin, int64_t end) {
  const int64_t lines = t.groups * kPackedColumns * Format::kBytes / 8;
  for (int64_t line = 0; line < lines; line += kChunkLines) {
    const int64_t until = line + kChunkLines < lines ? line + kChunkLines : lines;
    const Chunk chunk{block, line, until, line == 0, until == lines, Format::weights(t, block, line, until)};
    int64_t m = begin;
    const auto waiting = [&] { return t.scratch + (m - begin) * kBlockChannels * 4; };
    for (; m + 2 * kTilePairs - 1 <= end; m += 2 * kTilePairs)
      multiply_pairs<Format, kTilePairs>(t, chunk, m, waiting());
    if (end - m > 2) multiply_pairs<Format, 2>(t, chunk, m, waiting());
    else if (end > m) multiply_pairs<Format, 1>(t, chunk, m, waiting());
  }
}

template <class Format>
static void matmul_pairs(const PackedTile& t) {
  const int64_t fit = kRowsBytes / t.x_stride / (2 * kTilePairs) * (2 * kTilePairs);
  constexpr int64_t kMost = kMaxRows / (2 * kTilePairs) * (2 * kTilePairs);
  const int64_t together = fit < 2 * kTilePairs ? 2 * kTilePairs : fit < kMost ? fit : kMost;
  for (int64_t begin = 0; begin < t.m; begin += together)
    for (int64_t block = 0; block < t.blocks; ++block)
      multiply_block<Format>(t, block, begin, begin + together < t.m ? begin + together : t.m);
}

static void matmul_4bit(const PackedTile& t) {
  if (t.m <= 2) multiply_pair_4bit(t);
  else matmul_pairs<Int4Pairs>(t);
}

extern const Packed kPacked = {
    8, {matmul_pairs<Bf16Pairs>, matmul_pairs<Int8Pairs>, matmul_4bit}, dotprod::matmul_stored};
