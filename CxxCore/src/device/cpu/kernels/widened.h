// Kernel source: bf16 weights times many rows: a range of K is widened to f32 once, in weights and rows, and then
// multiplied. Results are stored between ranges, which changes no bit: each is added to once per 32 columns, as in
// packed.h. Needs kWideRows and kWideBlocks, whose even and odd sums fit the registers.

constexpr int64_t kMinWideRows = 2 * kWideRows + 1;             // fewer rows widen on the fly
constexpr int64_t kWideColumns = 256;                           // two thirds of L1
constexpr int64_t kWideFloats = kWideColumns * kBlockChannels;  // per block
constexpr int64_t kWaitingFloats = kWaitingRows * kWideBlocks * kBlockChannels;
static_assert((kWaitingFloats + kWideBlocks * kWideFloats + kWideRows * kWideColumns) * 4 <= kPackedScratch);

// Columns [begin, end) of some blocks: 16 channels of each column at `weights`, kWideFloats per block.
struct WideStretch {
  int64_t block, begin, end;
  bool is_last;
  float *weights, *x;  // x: space for kWideRows rows, kWideColumns apart
};

// Splits pairs of bf16 into floats at even and at odd indices.
PAGODA_INLINE void widen_pairs(const std::byte* from, Vec& even, Vec& odd) {
  const BitVec pairs = load_as<BitVec>(from);
  even = __builtin_bit_cast(Vec, pairs << 16);
  odd = __builtin_bit_cast(Vec, pairs & 0xffff0000u);
}

template <int Blocks>
static void widen_weights(const PackedTile& t, const WideStretch& s) {
  for (int j = 0; j < Blocks; ++j)
    for (int64_t column = s.begin; column < s.end; column += 2) {
      const std::byte* from = t.weights + (s.block + j) * t.block_bytes + column * 2 * kBlockChannels;
      float* to = s.weights + j * kWideFloats + (column - s.begin) * kBlockChannels;
      Vec even, odd;
      __builtin_prefetch(from + kPrefetch);
      widen_pairs(from, even, odd);
      store(to, even);
      store(to + kBlockChannels, odd);
    }
}

// x of 32 columns as 16 even ones, then 16 odd ones.
template <int Rows>
PAGODA_INLINE void widen_rows(const PackedTile& t, const WideStretch& s, int64_t m) {
  for (int r = 0; r < Rows; ++r)
    for (int64_t column = s.begin; column < s.end; column += 32) {
      float* to = s.x + r * kWideColumns + column - s.begin;
      Vec even, odd;
      widen_pairs(t.x + (m + r) * t.x_stride + column * 2, even, odd);
      store(to, even);
      store(to + 16, odd);
    }
}

// `waiting`: the spilled results of rows [m, m + Rows) and these blocks.
template <int Rows, int Blocks>
static void multiply_wide(const PackedTile& t, const WideStretch& s, int64_t m, float* waiting) {
  widen_rows<Rows>(t, s, m);
  Vec total[Rows][Blocks] = {};
  if (s.begin > 0) __builtin_memcpy(total, waiting, sizeof total);
  for (int64_t column = 0; column < s.end - s.begin; column += 32) {
    Vec even[Rows][Blocks] = {}, odd[Rows][Blocks] = {};
    for (int l = 0; l < 16; ++l) {
      const float* w = s.weights + (column + 2 * l) * kBlockChannels;
      Vec w_even[Blocks], w_odd[Blocks];
      for (int j = 0; j < Blocks; ++j) {
        w_even[j] = load(w + j * kWideFloats);
        w_odd[j] = load(w + j * kWideFloats + kBlockChannels);
      }
      for (int r = 0; r < Rows; ++r) {
        const float* x = s.x + r * kWideColumns + column + l;
        for (int j = 0; j < Blocks; ++j) {
          even[r][j] = fma(splat(x[0]), w_even[j], even[r][j]);
          odd[r][j] = fma(splat(x[16]), w_odd[j], odd[r][j]);
        }
      }
    }
    for (int r = 0; r < Rows; ++r)
      for (int j = 0; j < Blocks; ++j) total[r][j] += even[r][j] + odd[r][j];
  }
  if (!s.is_last) {
    __builtin_memcpy(waiting, total, sizeof total);
    return;
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Blocks; ++j) store_channels(t, m + r, s.block + j, total[r][j]);
}

// Blocks [block, block + Blocks) for rows [begin, end).
template <int Blocks>
static void multiply_widened(const PackedTile& t, int64_t block, int64_t begin, int64_t end) {
  float* scratch = reinterpret_cast<float*>(t.scratch);
  const int64_t columns = t.groups * kPackedColumns;
  for (int64_t column = 0; column < columns; column += kWideColumns) {
    const int64_t until = column + kWideColumns < columns ? column + kWideColumns : columns;
    const WideStretch s{block,
                        column,
                        until,
                        until == columns,
                        scratch + kWaitingFloats,
                        scratch + kWaitingFloats + kWideBlocks * kWideFloats};
    widen_weights<Blocks>(t, s);
    const auto waiting = [&](int64_t m) { return scratch + (m - begin) * Blocks * kBlockChannels; };
    int64_t m = begin;
    for (; m + kWideRows <= end; m += kWideRows) multiply_wide<kWideRows, Blocks>(t, s, m, waiting(m));
    for (; m < end; ++m) multiply_wide<1, Blocks>(t, s, m, waiting(m));
  }
}

static void few_rows_bf16(const PackedTile& t) {
  int64_t block = 0;
  for (; block + kBf16Blocks <= t.blocks; block += kBf16Blocks) {
    int64_t m = 0;
    for (; m + 2 <= t.m; m += 2)
      for (int64_t j = 0; j < kBf16Blocks; j += kBf16Blocks / 2) multiply_bf16<2, kBf16Blocks / 2>(t, m, block + j);
    if (m < t.m) multiply_bf16<1, kBf16Blocks>(t, m, block);
  }
  for (; block < t.blocks; ++block)
    for (int64_t m = 0; m < t.m; ++m) multiply_bf16<1, 1>(t, m, block);
}

static void matmul_bf16(const PackedTile& t) {
  const FlushDenormals flush;
  if (t.m < kMinWideRows) return few_rows_bf16(t);
  for (int64_t begin = 0; begin < t.m; begin += kWaitingRows) {
    const int64_t end = begin + kWaitingRows < t.m ? begin + kWaitingRows : t.m;
    int64_t block = 0;
    for (; block + kWideBlocks <= t.blocks; block += kWideBlocks) multiply_widened<kWideBlocks>(t, block, begin, end);
    for (; block < t.blocks; ++block) multiply_widened<1>(t, block, begin, end);
  }
}

extern const Packed kPacked = {4, {matmul_bf16, matmul_int8<Int8Weights>, matmul_int4}, matmul_stored};
