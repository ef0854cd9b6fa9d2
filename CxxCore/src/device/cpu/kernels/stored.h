// Kernel source: weights in the formats of files times rows of int8. A span of K of some blocks is unpacked once
// (stored_panels.h), then multiplied with all rows; results are stored between spans, which changes no bit. Needs
// kInt8Rows, kInt8Blocks, kUnsignedWeights, and dot() as in packed.h.

struct SpanShape {
  int64_t block, begin, columns;
  int zero;  // what dot()'s codes are above the format's values
  int group_shift;
  bool is_last;
};

// Sums of values and codes of some rows, minus the zero times the sum of values, which are exact; and the latter as
// floats.
template <int Rows>
struct RowSums {
  alignas(64) int32_t offsets[Rows][kBlockChannels];
  alignas(64) float values[Rows][kBlockChannels];
};

// Adds Lines lines from `line` on, times scales, plus minima times the sums of x, to parts. `sum_at`: place in `of`.
template <int Rows, int Blocks, int Lines, bool kHasMin, bool kIsFirst>
PAGODA_INLINE void add_group(const Panel* panels, const std::byte* (&x)[Rows], const RowSums<Rows>& of, int64_t sum_at,
                             int64_t line, int64_t group, Vec (&parts)[Rows][Blocks]) {
  IntVec sums[Rows][Blocks];
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Blocks; ++j) sums[r][j] = IntVec(of.offsets[r][sum_at]);
#pragma clang loop unroll(full)
  for (int l = 0; l < Lines; ++l) {
    Bytes w[Blocks];
    for (int j = 0; j < Blocks; ++j) w[j] = load_as<Bytes>(panels[j].lines + (line + l) * 64);
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r) {
      const uint32_t four = load_as<uint32_t>(x[r] + (line + l) * 4);
      for (int j = 0; j < Blocks; ++j) sums[r][j] = dot(sums[r][j], w[j], four);
    }
  }
  for (int j = 0; j < Blocks; ++j) {
    const Vec scale = load(panels[j].scales[group]);
    for (int r = 0; r < Rows; ++r) {
      const Vec sum = __builtin_convertvector(sums[r][j], Vec);
      parts[r][j] = kIsFirst ? sum * scale : fused(sum, scale, parts[r][j]);
      if constexpr (kHasMin) parts[r][j] = fused(load(panels[j].mins[group]), splat(of.values[r][sum_at]), parts[r][j]);
    }
  }
}

// Blocks from the span's block `first` on. `waiting`: the spilled results of rows [m, m + Rows) and these blocks.
template <int Rows, int Blocks, bool kHasMin, bool kHalves>
static void multiply_span(const StoredTile& t, const SpanShape& s, const Panel* panels, int64_t m, int first,
                          std::byte* waiting) {
  panels += first;
  Vec totals[Rows][Blocks] = {};
  if (s.begin > 0) __builtin_memcpy(totals, waiting, sizeof totals);
  const std::byte *x[Rows], *scales[Rows];
  RowSums<Rows> of;
  for (int r = 0; r < Rows; ++r) {
    const std::byte* row = t.x + (m + r) * t.x_stride;
    x[r] = row + s.begin;
    scales[r] = row + grouped_scales_at(t.padded) + s.begin / kRowGroup * 4;
    const IntVec sums = row_sums<kHalves>(row + grouped_sums_at(t.padded) + s.begin / kSumGroup * 4),
                 offsets = sums * -s.zero;
    __builtin_memcpy(of.offsets[r], &offsets, sizeof offsets);
    store(of.values[r], __builtin_convertvector(sums, Vec));
  }
  for (int64_t chunk = 0; chunk * 32 < s.columns; ++chunk) {
    Vec parts[Rows][Blocks];
    if constexpr (kHalves) {
      add_group<Rows, Blocks, 4, kHasMin, true>(panels, x, of, chunk * 2, chunk * 8, chunk * 2, parts);
      add_group<Rows, Blocks, 4, kHasMin, false>(panels, x, of, chunk * 2 + 1, chunk * 8 + 4, chunk * 2 + 1, parts);
    } else {
      add_group<Rows, Blocks, 8, kHasMin, true>(panels, x, of, chunk * 2, chunk * 8, chunk >> s.group_shift, parts);
    }
    for (int r = 0; r < Rows; ++r) {
      const Vec scale = splat(load_as<float>(scales[r] + chunk * 4));
      for (int j = 0; j < Blocks; ++j) totals[r][j] = fused(parts[r][j], scale, totals[r][j]);
    }
  }
  if (!s.is_last) {
    __builtin_memcpy(waiting, totals, sizeof totals);
    return;
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Blocks; ++j) store_results(t, m + r, s.block + first + j, totals[r][j]);
}

// Blocks [block, block + Blocks) for rows [begin, end).
template <int Blocks, bool kHasMin, bool kHalves>
static void stored_blocks(const StoredTile& t, int64_t block, int64_t begin, int64_t end) {
  const QuantFormat& f = *t.format;
  // dot() takes bytes without sign, or with one: codes of 8 bits then need a shift even if their zero is 0.
  const int shift = kUnsignedWeights ? 0 : f.bits == 8 && f.zero == 0 ? 128 : f.zero;
  Panel* panels = reinterpret_cast<Panel*>(t.scratch + kSpanBytes);
  for (int64_t column = 0; column < t.cols; column += kSpan) {
    const int64_t columns = t.cols - column < kSpan ? t.cols - column : kSpan;
    const SpanShape s{block, column, columns, f.zero - shift, group_shift(f), column + columns == t.cols};
    for (int j = 0; j < Blocks; ++j) unpack_panel(t, shift, span_place(t, block + j, column, Blocks), panels[j]);
    over_rows(begin, end, [&]<int Rows>(int64_t m) PAGODA_LAMBDA {
      // Each row and block has three vectors of sums: more than eight do not fit in the registers.
      constexpr int kTogether = Rows * Blocks > 8 && Blocks % 2 == 0 ? Blocks / 2 : Blocks;
      for (int j = 0; j < Blocks; j += kTogether)
        multiply_span<Rows, kTogether, kHasMin, kHalves>(
            t, s, panels, m, j, t.scratch + ((m - begin) * Blocks + Rows * j) * kBlockChannels * 4);
    });
  }
}

template <bool kHasMin, bool kHalves>
static void stored_rows(const StoredTile& t) {
  for (int64_t begin = 0; begin < t.m; begin += kSpanRows) {
    const int64_t end = begin + kSpanRows < t.m ? begin + kSpanRows : t.m;
    int64_t block = 0;
    for (; block + kInt8Blocks <= t.blocks; block += kInt8Blocks)
      stored_blocks<kInt8Blocks, kHasMin, kHalves>(t, block, begin, end);
    for (; block < t.blocks; ++block) stored_blocks<1, kHasMin, kHalves>(t, block, begin, end);
  }
}

void matmul_stored(const StoredTile& t) {
  const bool has_halves = t.format->group == 16;
  if (t.format->has_min) has_halves ? stored_rows<true, true>(t) : stored_rows<true, false>(t);
  else has_halves ? stored_rows<false, true>(t) : stored_rows<false, false>(t);
}
