// Kernel source: packed weights times rows of int8 or bf16. Needs kInt8Rows, kOnePassRows, kOnePassSums,
// kInt8Blocks and kBf16Blocks, sized to the registers, kUnsignedWeights, and dot(): sums += w x over 4 columns of 16
// channels (64 bytes of w), for one row. kUnsignedWeights: dot() takes w + 128 as an unsigned byte; 128 times the sum
// of x is subtracted up front.

template <int Rows, int Blocks>
struct IntegerSums {
  IntVec sums[Rows][Blocks];
  const std::byte* x;
  int64_t x_stride;
  // For rows [m, m + Rows), starting at `column`.
  [[gnu::always_inline]] inline IntegerSums(const PackedTile& t, int64_t m, int64_t column)
      : x(t.x + m * t.x_stride + column), x_stride(t.x_stride) {
    for (int r = 0; r < Rows; ++r)
      for (int j = 0; j < Blocks; ++j) sums[r][j] = kUnsignedWeights ? IntVec(-128 * t.x_sums[m + r]) : IntVec{};
  }
  [[gnu::always_inline]] inline void add(const Bytes (&w)[Blocks], int64_t column) {
    // If a line spans several registers, compilers stop unrolling early and spill the sums.
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r) {
      const uint32_t four = load_as<uint32_t>(x + r * x_stride + column);
      for (int j = 0; j < Blocks; ++j) sums[r][j] = dot(sums[r][j], w[j], four);
    }
  }
  [[gnu::always_inline]] inline void finish(const PackedTile& t, int64_t m, int64_t block) const {
    for (int j = 0; j < Blocks; ++j)
      for (int r = 0; r < Rows; ++r) store_channels(t, m + r, block + j, scaled(t, m + r, block + j, sums[r][j]));
  }
};

template <class Weights, int Rows, int Blocks>
static void multiply_int8(const PackedTile& t, int64_t m, int64_t block) {
  IntegerSums<Rows, Blocks> all(t, m, 0);
  for (int64_t column = 0; column < t.groups * kPackedColumns; column += kChunk)
    Weights::template lines<Blocks>(t, block, column, all);
  all.finish(t, m, block);
}

// A product of two bf16 is exact in f32, so fusing makes no difference; denormals count as zero, as they do in matrix
// units.
template <int Rows, int Blocks>
static void multiply_bf16(const PackedTile& t, int64_t m, int64_t block) {
  Vec total[Rows][Blocks] = {};
  for (int64_t column = 0; column < t.groups * kPackedColumns; column += 32) {
    Vec even[Rows][Blocks] = {}, odd[Rows][Blocks] = {};
    const int64_t to_next = ahead(t, Blocks, column * 2 * kBlockChannels);
    for (int l = 0; l < 16; ++l) {
      Vec w_even[Blocks], w_odd[Blocks];
      for (int j = 0; j < Blocks; ++j) {
        const std::byte* p = t.weights + (block + j) * t.block_bytes + column * 2 * kBlockChannels + l * 64;
        __builtin_prefetch(p + to_next);
        const BitVec pair = load_as<BitVec>(p);
        w_even[j] = __builtin_bit_cast(Vec, pair << 16);
        w_odd[j] = __builtin_bit_cast(Vec, pair & 0xffff0000u);
      }
      for (int r = 0; r < Rows; ++r) {
        const uint32_t pair = load_as<uint32_t>(t.x + (m + r) * t.x_stride + column * 2 + l * 4);
        const Vec x_even = splat(__builtin_bit_cast(float, pair << 16)),
                  x_odd = splat(__builtin_bit_cast(float, pair & 0xffff0000u));
        for (int j = 0; j < Blocks; ++j) {
          even[r][j] = fma(x_even, w_even[j], even[r][j]);
          odd[r][j] = fma(x_odd, w_odd[j], odd[r][j]);
        }
      }
    }
    for (int r = 0; r < Rows; ++r)
      for (int j = 0; j < Blocks; ++j) total[r][j] += even[r][j] + odd[r][j];
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Blocks; ++j) store_channels(t, m + r, block + j, total[r][j]);
}

// Calls run.template operator()<Rows>(m) for rows [begin, end), kInt8Rows at a time.
template <class Run>
PAGODA_INLINE void over_rows(int64_t begin, int64_t end, Run&& run) {
  int64_t m = begin;
  for (; m + kInt8Rows <= end; m += kInt8Rows) run.template operator()<kInt8Rows>(m);
  const int64_t rest = end - m;
  if constexpr (kInt8Rows > 3)
    if (rest == 3) return run.template operator()<3>(m);
  if constexpr (kInt8Rows > 2)
    if (rest == 2) return run.template operator()<2>(m);
  if (rest == 1) run.template operator()<1>(m);
}

// All rows in one pass, more than kInt8Rows; with half the blocks at a time if the sums of all, or the unpacking of
// 4-bit weights, would not fit in the registers.
template <class Weights, int Rows, int Blocks>
PAGODA_INLINE bool int8_in_one_pass(const PackedTile& t, int64_t block) {
  if constexpr (Rows <= kInt8Rows) return false;
  else {
    if (t.m != Rows) return int8_in_one_pass<Weights, Rows - 1, Blocks>(t, block);
    constexpr bool kFits = Weights::kIsPlain && Rows * Blocks <= kOnePassSums;
    constexpr int kTogether = Blocks == 1 || kFits ? Blocks : Blocks / 2;
    for (int j = 0; j < Blocks; j += kTogether) multiply_int8<Weights, Rows, kTogether>(t, 0, block + j);
    return true;
  }
}

// Computes blocks [block, block + Blocks) for all rows, so that the blocks' weights stay in the cache.
template <class Weights, int Blocks>
static void int8_rows(const PackedTile& t, int64_t block) {
  if (int8_in_one_pass<Weights, kOnePassRows, Blocks>(t, block)) return;
  over_rows(0, t.m, [&]<int Rows>(int64_t m) PAGODA_LAMBDA { multiply_int8<Weights, Rows, Blocks>(t, m, block); });
}

template <class Weights>
static void matmul_int8(const PackedTile& t) {
  int64_t block = 0;
  for (; block + kInt8Blocks <= t.blocks; block += kInt8Blocks) int8_rows<Weights, kInt8Blocks>(t, block);
  for (; block < t.blocks; ++block) int8_rows<Weights, 1>(t, block);
}
