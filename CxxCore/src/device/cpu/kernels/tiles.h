// Kernel source: packed weights times rows on AMX tiles. A result tile is 16 rows x 16 channels; a step over 64 bytes
// of K multiplies a tile of x (16 rows) by 1 KiB of weights (16 channels). Two blocks of channels share each tile of x.
// K is processed in chunks whose weights stay in L1 while all rows stream past; results are spilled between chunks,
// which changes no bit: integers are exact, and a float result is added to once per step, as in packed.h.

constexpr int64_t kTileRows = 16, kTileResults = kTileRows * kBlockChannels;
constexpr int64_t kStepBytes = 1024;              // weights of one step and block
constexpr int64_t kChunkSteps = 12;               // at most: 24 KiB of weights, half of L1, which rows share
constexpr int64_t kRowsBytes = int64_t{1} << 20;  // rows processed per pass: half of a core's L2
constexpr int64_t kMaxRows = 512;                 // at most
constexpr int64_t kResultsBytes = kMaxRows * 2 * kBlockChannels * 4;
constexpr int64_t kMinInt8Rows = 7, kMinInt4Rows = 9,
                  kMinBf16Rows = 2;  // with fewer rows the VNNI kernels are faster (measured)
static_assert(kResultsBytes + 2 * kChunkSteps * kStepBytes <= kPackedScratch);

// Tiles 0 and 1 hold results, 2 rows of x, 3 weights.
PAGODA_INLINE void configure_tiles(int64_t rows) {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64};
    uint8_t rows[16] = {};
  } config;
  for (int i = 0; i < 4; ++i) config.rows[i] = static_cast<uint8_t>(i == 3 ? 16 : rows);
  _tile_loadconfig(&config);
}

// Prefetches the weights of the next blocks, a few lines per step of the current ones.
struct Prefetch {
  const std::byte *at, *end;
  int64_t lines_per_step, stride;  // stride: between the two blocks; 0 with one block
  [[gnu::always_inline]] inline void step() {
    for (int64_t i = 0; i < lines_per_step && at < end; ++i, at += 64) {
      _mm_prefetch(at, _MM_HINT_T1);
      if (stride) _mm_prefetch(at + stride, _MM_HINT_T1);
    }
  }
};

// Unpacks 4-bit weights to int8.
struct Unpacked {
  std::byte* to;
  int64_t first_column;
  [[gnu::always_inline]] inline void add(const Bytes (&w)[1], int64_t column) {
    __builtin_memcpy(to + (column - first_column) * kBlockChannels, &w[0], sizeof(Bytes));
  }
};

// The differences between formats: columns per step, location of a chunk's weights, and the final scaling.
struct Bf16Tiles {
  static constexpr PackedFormat kFormat = kPackedBf16;
  static constexpr int64_t kMinRows = kMinBf16Rows, kStepColumns = 32;
  static const std::byte* weights(const PackedTile& t, int64_t block, int64_t step, int64_t) {
    return t.weights + block * t.block_bytes + step * kStepBytes;
  }
  static int64_t stride(const PackedTile& t) { return t.block_bytes; }
  static Vec result(const PackedTile&, int64_t, int64_t, IntVec bits) { return __builtin_bit_cast(Vec, bits); }
};
struct Int8Tiles : Bf16Tiles {
  static constexpr PackedFormat kFormat = kPacked8;
  static constexpr int64_t kMinRows = kMinInt8Rows, kStepColumns = 64;
  static Vec result(const PackedTile& t, int64_t m, int64_t block, IntVec sum) { return scaled(t, m, block, sum); }
};
struct Int4Tiles : Int8Tiles {
  static constexpr PackedFormat kFormat = kPacked4;
  static constexpr int64_t kMinRows = kMinInt4Rows;
  static const std::byte* weights(const PackedTile& t, int64_t block, int64_t step, int64_t end) {
    for (int64_t j = 0; j < 2 && block + j < t.blocks; ++j) {
      Unpacked unpacked{t.scratch + kResultsBytes + j * kChunkSteps * kStepBytes, step * kStepColumns};
      for (int64_t column = step * kStepColumns; column < end * kStepColumns; column += kChunk)
        Int4Weights::lines<1>(t, block + j, column, unpacked);
    }
    return t.scratch + kResultsBytes;
  }
  static int64_t stride(const PackedTile&) { return kChunkSteps * kStepBytes; }
};

// `steps` steps of K for 16 rows and Blocks blocks; calls between() in every step.
template <class Format, int Blocks, class Between>
PAGODA_INLINE void multiply_tile(const std::byte* x, int64_t x_stride, const std::byte* weights, int64_t stride,
                                 int64_t steps, bool is_first, int32_t* results, Between between) {
  if (is_first) {
    _tile_zero(0);
    _tile_zero(1);
  } else {
    _tile_loadd(0, results, 64);
    _tile_loadd(1, results + kTileResults, 64);
  }
  for (int64_t step = 0; step < steps; ++step, x += 64, weights += kStepBytes) {
    _tile_loadd(2, x, x_stride);
    _tile_loadd(3, weights, 64);
    if constexpr (Format::kFormat == kPackedBf16) _tile_dpbf16ps(0, 2, 3);
    else _tile_dpbssd(0, 2, 3);
    if constexpr (Blocks == 2) {
      _tile_loadd(3, weights + stride, 64);
      if constexpr (Format::kFormat == kPackedBf16) _tile_dpbf16ps(1, 2, 3);
      else _tile_dpbssd(1, 2, 3);
    }
    between();
  }
  _tile_stored(0, results, 64);
  _tile_stored(1, results + kTileResults, 64);
}

// Prefetches the lines that 16 rows of results will be stored to: rows are far apart, and a store miss stalls.
PAGODA_INLINE void expect_stores(const PackedTile& t, int64_t block, int64_t m) {
  for (int64_t r = 0; r < kTileRows; ++r) {
    const float* out = t.out + (m + r) * t.out_stride + block * kBlockChannels;
    __builtin_prefetch(out, 1);
    __builtin_prefetch(out + kBlockChannels, 1);
  }
}

// Scales and stores the results of 16 rows, a few rows per step of the next 16 rows' products, which take as long.
template <class Format, int Blocks>
struct Finish {
  const PackedTile& t;
  int64_t block, m = 0, end = 0;  // rows
  const int32_t* results = nullptr;
  [[gnu::always_inline]] inline void rows(int64_t count) {
    for (; count > 0 && m < end; --count, ++m, results += kBlockChannels)
      for (int j = 0; j < Blocks; ++j)
        store_channels(t, m, block + j, Format::result(t, m, block + j, load_as<IntVec>(results + j * kTileResults)));
  }
};

// Rows [begin, end).
template <class Format, int Blocks>
static void multiply_blocks(const PackedTile& t, int64_t block, int64_t begin, int64_t end) {
  const std::byte* ahead = t.weights + (block + Blocks) * t.block_bytes;
  const int64_t all_steps = t.groups * kPackedColumns / Format::kStepColumns,
                row_tiles = (end - begin + kTileRows - 1) / kTileRows, tile_steps = row_tiles * all_steps,
                chunks = (all_steps + kChunkSteps - 1) / kChunkSteps, chunk_steps = (all_steps + chunks - 1) / chunks;
  Prefetch next{ahead, ahead + t.block_bytes, (t.block_bytes / 64 + tile_steps - 1) / tile_steps,
                Blocks == 2 ? t.block_bytes : 0};
  int32_t* results = reinterpret_cast<int32_t*>(t.scratch);
  Finish<Format, Blocks> finish{t, block};
  for (int64_t step = 0; step < all_steps; step += chunk_steps) {
    const int64_t until = step + chunk_steps < all_steps ? step + chunk_steps : all_steps,
                  rows_per_step = (kTileRows + until - step - 1) / (until - step);
    const std::byte* weights = Format::weights(t, block, step, until);
    for (int64_t i = 0; i < row_tiles; ++i) {
      const int64_t m = begin + i * kTileRows;
      int32_t* const sums = results + (chunks == 1 ? i % 2 : i) * 2 * kTileResults;  // two, if none are spilled
      if (until == all_steps) expect_stores(t, block, m);
      multiply_tile<Format, Blocks>(t.x + m * t.x_stride + step * 64, t.x_stride, weights, Format::stride(t),
                                    until - step, step == 0, sums, [&]() PAGODA_LAMBDA {
                                      next.step();
                                      finish.rows(rows_per_step);
                                    });
      if (until == all_steps) {
        finish.rows(kTileRows);
        finish.m = m;
        finish.end = m + kTileRows < end ? m + kTileRows : end;
        finish.results = sums;
      }
    }
  }
  finish.rows(kTileRows);
}

template <class Format>
static void multiply_rows(const PackedTile& t) {
  if (t.m < Format::kMinRows) return vnni::kPacked.matmul[Format::kFormat](t);
  configure_tiles(t.m < kTileRows ? t.m : kTileRows);
  const int64_t rows = kRowsBytes / t.x_stride / kTileRows * kTileRows, together = rows < kTileRows  ? kTileRows
                                                                                   : rows < kMaxRows ? rows
                                                                                                     : kMaxRows;
  for (int64_t begin = 0; begin < t.m; begin += together) {
    const int64_t end = begin + together < t.m ? begin + together : t.m;
    int64_t block = 0;
    for (; block + 2 <= t.blocks; block += 2) multiply_blocks<Format, 2>(t, block, begin, end);
    if (block < t.blocks) multiply_blocks<Format, 1>(t, block, begin, end);
  }
  _tile_release();
}
