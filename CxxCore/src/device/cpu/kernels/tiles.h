// Kernel text: packed weights times rows on AMX tiles. A tile of results is 16 rows x 16 channels; a step of 64 bytes
// of K multiplies a tile of x (16 rows) with 1 KiB of weights (16 channels). Sums leave the tiles as integers per group
// and are scaled in vector registers, in the order of packed.h.

constexpr int64_t kTileRows = 16;
constexpr int64_t kStepBytes = 1024;              // weights of one step
constexpr int64_t kRowsBytes = int64_t{1} << 20;  // rows that pass over the weights together: half of a core's L2
constexpr int64_t kMaxRows = 512;                 // of these, at most
constexpr int64_t kChunkSteps = 16;               // of K, bf16: 32 KiB of weights stay in L1 while rows pass
constexpr int64_t kTileResults = kTileRows * kBlockChannels;
static_assert(kMaxRows / kTileRows * 2 * kTileResults * sizeof(float) <= packed_scratch_bytes(0));
constexpr int64_t kMinInt8Rows = 6, kMinBf16Rows = 2;  // below, the VNNI kernels are faster (measured)

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

PAGODA_INLINE int64_t rows_together(const PackedTile& t) {
  const int64_t rows = kRowsBytes / t.x_stride / kTileRows * kTileRows;
  return rows < kTileRows ? kTileRows : rows < kMaxRows ? rows : kMaxRows;
}

// Brings the weights of the next block near, a few lines per step of this one.
struct Prefetch {
  const std::byte *at, *end;
  int64_t lines_per_step;
  [[gnu::always_inline]] inline void step() {
    for (int64_t i = 0; i < lines_per_step && at < end; ++i, at += 64) _mm_prefetch(at, _MM_HINT_T1);
  }
};

// Keeps a block of 4-bit weights as int8.
struct Unpacked {
  std::byte* to;
  [[gnu::always_inline]] inline void add(const Bytes (&w)[1], int64_t column) {
    __builtin_memcpy(to + column * kBlockChannels, &w[0], sizeof(Bytes));
  }
};

template <class Weights, int Rows>
static void int8_tile(const PackedTile& t, const std::byte* weights, int64_t block, int64_t m, Prefetch& next) {
  alignas(64) int32_t parked[2][kTileResults];  // sums of this group and of the one before
  const std::byte* x = t.x + m * t.x_stride;
  const F16* scales = reinterpret_cast<const F16*>(t.scales + block * t.scale_bytes);
  Vec total[Rows] = {};
  for (int64_t g = 0; g <= t.groups; ++g) {
    if (g < t.groups) {
      _tile_zero(0);
      for (int step = 0; step < 2; ++step, x += 64, weights += kStepBytes) {
        next.step();
        _tile_loadd(3, weights, 64);
        _tile_loadd(2, x, t.x_stride);
        _tile_dpbssd(0, 2, 3);
      }
    }
    if (g > 0) {  // while the tiles work on this group
      Vec scale = splat(1.0f);
      if constexpr (!Weights::kChannelScale) scale = load(scales + (g - 1) * kBlockChannels);
      for (int r = 0; r < Rows; ++r) {
        const IntVec sums = load_as<IntVec>(parked[(g - 1) & 1] + r * kBlockChannels);
        total[r] =
            fma(__builtin_convertvector(sums, Vec), scale * splat(t.x_scales[(m + r) * t.groups + g - 1]), total[r]);
      }
    }
    if (g < t.groups) _tile_stored(0, parked[g & 1], 64);
  }
  for (int r = 0; r < Rows && m + r < t.m; ++r) {
    if constexpr (Weights::kChannelScale) total[r] *= load(t.channel_scales + block * kBlockChannels);
    store_channels(t, m + r, block, total[r]);
  }
}

template <class Weights>
static void int8_block(const PackedTile& t, int64_t block, int64_t begin, int64_t end) {
  const std::byte* weights = t.weights + block * t.block_bytes;
  const int64_t steps = (end - begin + kTileRows - 1) / kTileRows * t.groups * 2;
  Prefetch next{weights + t.block_bytes, weights + 2 * t.block_bytes, (t.block_bytes / 64 + steps - 1) / steps};
  if (block + 1 == t.blocks) next.end = next.at;
  if constexpr (Weights::kChannelScale) {
    Unpacked unpacked{t.scratch};
    for (int64_t column = 0; column < t.groups * kPackedColumns; column += kChunk)
      Weights::template lines<1>(t, block, column, unpacked);
    weights = t.scratch;
  }
  for (int64_t m = begin; m < end; m += kTileRows)
    t.m <= 8 ? int8_tile<Weights, 8>(t, weights, block, m, next) : int8_tile<Weights, 16>(t, weights, block, m, next);
}

template <class Weights, int Format>
static void matmul_int8(const PackedTile& t) {
  if (t.m < kMinInt8Rows) return vnni::kPacked.matmul[Format](t);
  configure_tiles(t.m < kTileRows ? t.m : kTileRows);
  const int64_t step = rows_together(t);
  for (int64_t begin = 0; begin < t.m; begin += step)
    for (int64_t block = 0; block < t.blocks; ++block)
      int8_block<Weights>(t, block, begin, begin + step < t.m ? begin + step : t.m);
  _tile_release();
}

// Steps [begin, end) of K for 16 rows. Results wait in `parked` between two chunks of K, which changes no bit: the unit
// adds to a result once per 32 columns, as packed.h does.
template <int Blocks>
PAGODA_INLINE void bf16_tile(const PackedTile& t, int64_t block, int64_t m, int64_t begin, int64_t end, float* parked,
                             Prefetch& next) {
  if (begin == 0) {
    _tile_zero(0);
    _tile_zero(1);
  } else {
    _tile_loadd(0, parked, 64);
    _tile_loadd(1, parked + kTileResults, 64);
  }
  const std::byte *x = t.x + m * t.x_stride + begin * 64,
                  *weights = t.weights + block * t.block_bytes + begin * kStepBytes;
  for (int64_t step = begin; step < end; ++step, x += 64, weights += kStepBytes) {
    next.step();
    _tile_loadd(2, x, t.x_stride);
    _tile_loadd(3, weights, 64);
    _tile_dpbf16ps(0, 2, 3);
    if constexpr (Blocks == 2) {
      _tile_loadd(3, weights + t.block_bytes, 64);
      _tile_dpbf16ps(1, 2, 3);
    }
  }
  _tile_stored(0, parked, 64);
  _tile_stored(1, parked + kTileResults, 64);
}

template <int Blocks>
static void bf16_blocks(const PackedTile& t, int64_t block, int64_t begin, int64_t end) {
  const std::byte* weights = t.weights + (block + Blocks) * t.block_bytes;
  const int64_t all_steps = t.groups * 4, row_tiles = (end - begin + kTileRows - 1) / kTileRows;
  const int64_t ahead = t.blocks - block - Blocks, bytes = (ahead < Blocks ? ahead : Blocks) * t.block_bytes;
  Prefetch next{weights, weights + bytes, (bytes / 64 + row_tiles * all_steps - 1) / (row_tiles * all_steps)};
  float* parked = reinterpret_cast<float*>(t.scratch);
  for (int64_t step = 0; step < all_steps; step += kChunkSteps)
    for (int64_t i = 0; i < row_tiles; ++i)
      bf16_tile<Blocks>(t, block, begin + i * kTileRows, step,
                        step + kChunkSteps < all_steps ? step + kChunkSteps : all_steps, parked + i * 2 * kTileResults,
                        next);
  for (int64_t m = begin; m < end; ++m, parked += kBlockChannels) {
    if (m > begin && (m - begin) % kTileRows == 0) parked += kTileResults;
    for (int j = 0; j < Blocks; ++j) store_channels(t, m, block + j, load(parked + j * kTileResults));
  }
}

static void matmul_bf16(const PackedTile& t) {
  if (t.m < kMinBf16Rows) return vnni::kPacked.matmul[kPackedBf16](t);
  configure_tiles(t.m < kTileRows ? t.m : kTileRows);
  const int64_t step = rows_together(t);
  for (int64_t begin = 0; begin < t.m; begin += step) {
    const int64_t end = begin + step < t.m ? begin + step : t.m;
    int64_t block = 0;
    for (; block + 2 <= t.blocks; block += 2) bf16_blocks<2>(t, block, begin, end);
    if (block < t.blocks) bf16_blocks<1>(t, block, begin, end);
  }
  _tile_release();
}

extern const Packed kPacked = {4,
                               {matmul_bf16, matmul_int8<Int8Weights, kPacked8>, matmul_int8<Int4Weights, kPacked4>}};
