// Kernel source: weights in the formats of files times rows on AMX tiles. A result tile is 16 rows x 16 channels of one
// group of columns. The tiles of a span are stored to memory; then vectors scale and add them in the order of stored.h,
// which takes most of the time. Rejected: multiplying the next span's tiles between those vectors, which was a third
// slower, because reads wait for tiles that are being stored.

constexpr int64_t kMinStoredRows = 12;  // with 8 rows the VNNI kernels are faster, with 16 these (measured)

// Tiles 0 and 1 hold results, 2 rows of x, 3 weights of 32 columns.
PAGODA_INLINE void configure_groups() {
  struct alignas(64) {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 32, 64};
    uint8_t rows[16] = {16, 16, 16, 8};
  } config;
  _tile_loadconfig(&config);
}

// 16 rows of a span.
struct TileSpan {
  const std::byte *x, *scales, *sums;  // of the first row
  int64_t x_stride, chunks;
  int group_shift;
};

// Sums of 16 rows and Blocks blocks over the groups of a span: codes minus their zero, or, of 8 bits, without sign.
template <int Blocks, bool kUnsignedCodes>
PAGODA_INLINE void sum_groups(const TileSpan& s, const Panel* panels, int32_t (*sums)[kSpan / 32][kTileResults]) {
  const auto add = [&]<int kTile>(int64_t chunk) PAGODA_LAMBDA {
    _tile_zero(kTile);
    _tile_loadd(3, panels[kTile].lines + chunk * 32 * kBlockChannels, 64);
    if constexpr (kUnsignedCodes) _tile_dpbsud(kTile, 2, 3);
    else _tile_dpbssd(kTile, 2, 3);
    _tile_stored(kTile, sums[kTile][chunk], 64);
  };
  for (int64_t chunk = 0; chunk < s.chunks; ++chunk) {
    _tile_loadd(2, s.x + chunk * 32, s.x_stride);
    add.template operator()<0>(chunk);
    if constexpr (Blocks == 2) add.template operator()<1>(chunk);
  }
}

// Adds the sums of a span, scaled, to the totals [Rows] of one block.
template <int Rows, bool kHasMin>
static void add_sums(const TileSpan& s, const Panel& panel, const int32_t (*sums)[kTileResults], Vec* totals) {
  alignas(64) float values[kHasMin ? Rows : 1][kBlockChannels];
  if constexpr (kHasMin)
    for (int r = 0; r < Rows; ++r)
      store(values[r], __builtin_convertvector(row_sums<false>(s.sums + r * s.x_stride), Vec));
  Vec all[Rows];
  for (int r = 0; r < Rows; ++r) all[r] = totals[r];
  for (int64_t chunk = 0; chunk < s.chunks; ++chunk) {
    const int64_t group = chunk >> s.group_shift;
    const Vec scale = load(panel.scales[group]), min = load(panel.mins[group]);
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r) {
      const IntVec sum = load_as<IntVec>(sums[chunk] + r * kBlockChannels);
      Vec part = __builtin_convertvector(sum, Vec) * scale;
      if constexpr (kHasMin) part = fused(min, splat(values[r][chunk * 2]), part);
      all[r] = fused(part, splat(load_as<float>(s.scales + r * s.x_stride + chunk * 4)), all[r]);
    }
  }
  for (int r = 0; r < Rows; ++r) totals[r] = all[r];
}

// A span for the first Rows of 16 rows: totals [Blocks][16].
template <int Rows, int Blocks, bool kHasMin, bool kUnsignedCodes>
static void multiply_tile_span(const TileSpan& s, const Panel* panels, Vec* totals) {
  alignas(64) int32_t sums[Blocks][kSpan / 32][kTileResults];
  sum_groups<Blocks, kUnsignedCodes>(s, panels, sums);
  for (int j = 0; j < Blocks; ++j) add_sums<Rows, kHasMin>(s, panels[j], sums[j], totals + j * kTileRows);
}

// Blocks [block, block + blocks) for rows [begin, end).
template <bool kHasMin, bool kUnsignedCodes>
static void stored_tile_blocks(const StoredTile& t, int64_t block, int64_t blocks, int64_t begin, int64_t end) {
  Panel* panels = reinterpret_cast<Panel*>(t.scratch + kSpanBytes);
  Vec* totals = reinterpret_cast<Vec*>(t.scratch);  // [16 rows][blocks][16]
  const int64_t rounded = (end - begin + kTileRows - 1) / kTileRows * kTileRows;
  for (int64_t i = 0; i < rounded * blocks; ++i) totals[i] = Vec{};
  for (int64_t column = 0; column < t.cols; column += kSpan) {
    const int64_t columns = t.cols - column < kSpan ? t.cols - column : kSpan;
    for (int64_t j = 0; j < blocks; ++j)
      unpack_panel(t, kUnsignedCodes ? 0 : t.format->zero, span_place(t, block + j, column, blocks), panels[j]);
    for (int64_t m = begin; m < end; m += kTileRows) {
      const std::byte* row = t.x + m * t.x_stride;
      const TileSpan s{row + column,
                       row + grouped_scales_at(t.padded) + column / kRowGroup * 4,
                       row + grouped_sums_at(t.padded) + column / kSumGroup * 4,
                       t.x_stride,
                       columns / 32,
                       group_shift(*t.format)};
      const auto multiply = [&]<int Blocks>(int64_t j) PAGODA_LAMBDA {
        Vec* to = totals + (m - begin) * blocks + j * kTileRows;
        if (end - m <= 8) multiply_tile_span<8, Blocks, kHasMin, kUnsignedCodes>(s, panels + j, to);
        else multiply_tile_span<16, Blocks, kHasMin, kUnsignedCodes>(s, panels + j, to);
      };
      int64_t j = 0;
      for (; j + 2 <= blocks; j += 2) multiply.template operator()<2>(j);
      if (j < blocks) multiply.template operator()<1>(j);
    }
  }
  for (int64_t m = begin; m < end; ++m)
    for (int64_t j = 0; j < blocks; ++j) {
      const int64_t row = m - begin;
      store_results(t, m, block + j, totals[(row / kTileRows * blocks + j) * kTileRows + row % kTileRows]);
    }
}

template <bool kHasMin, bool kUnsignedCodes>
static void stored_tile_rows(const StoredTile& t) {
  configure_groups();
  for (int64_t begin = 0; begin < t.m; begin += kSpanRows)
    for (int64_t block = 0; block < t.blocks; block += kInt8Blocks) {
      const int64_t end = begin + kSpanRows < t.m ? begin + kSpanRows : t.m,
                    blocks = block + kInt8Blocks < t.blocks ? kInt8Blocks : t.blocks - block;
      stored_tile_blocks<kHasMin, kUnsignedCodes>(t, block, blocks, begin, end);
    }
  _tile_release();
}

static void matmul_stored(const StoredTile& t) {
  // Groups of 16 columns take two tiles per 32 columns, and are no faster than with VNNI.
  if (t.m < kMinStoredRows || t.format->group == 16) return vnni::matmul_stored(t);
  if (!t.format->has_min) stored_tile_rows<false, false>(t);
  else t.format->bits == 8 ? stored_tile_rows<true, true>(t) : stored_tile_rows<true, false>(t);
}

extern const Packed kPacked = {
    4, {multiply_rows<Bf16Tiles>, multiply_rows<Int8Tiles>, multiply_rows<Int4Tiles>}, matmul_stored};
