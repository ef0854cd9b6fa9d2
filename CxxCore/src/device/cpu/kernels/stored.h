// Kernel source: weights in the formats of files times rows of int8. A span of K of some blocks is unpacked once
// (stored_panels.h), then multiplied with all rows; results are stored between spans, which changes no bit. Needs
// kInt8Rows, kInt8Blocks, kUnsignedWeights, and dot() as in packed.h.

// What a span's products need: how much dot()'s codes are above the format's values, and the group that each 32 columns
// belong to.
struct SpanShape {
  int64_t block, begin, columns;
  int zero;
  int group_shift;  // groups of 32 << shift columns
  bool is_last;
};

// Sums of Lines lines from `line` on, times scales, plus minima times the sums of x.
template <int Rows, int Blocks, int Lines, bool kHasMin>
PAGODA_INLINE void add_group(const Panel* panels, const std::byte* (&x)[Rows], const int32_t (&x_sums)[Rows],
                             int64_t line, int64_t group, int zero, Vec (&parts)[Rows][Blocks]) {
  IntVec sums[Rows][Blocks];
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Blocks; ++j) sums[r][j] = IntVec(-zero * x_sums[r]);
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
    const Vec scale = load(panels[j].scales[group]), min = load(panels[j].mins[group]);
    for (int r = 0; r < Rows; ++r) {
      Vec part = __builtin_convertvector(sums[r][j], Vec) * scale;
      if constexpr (kHasMin) part += min * splat(static_cast<float>(x_sums[r]));
      parts[r][j] += part;
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
  const std::byte *rows[Rows], *x[Rows];
  for (int r = 0; r < Rows; ++r) x[r] = (rows[r] = t.x + (m + r) * t.x_stride) + s.begin;
  for (int64_t column = 0; column < s.columns; column += 32) {
    const int64_t chunk = (s.begin + column) / 32;
    Vec parts[Rows][Blocks] = {};
    int32_t low[Rows], high[Rows];
    for (int r = 0; r < Rows; ++r) {
      low[r] = load_as<int32_t>(rows[r] + grouped_sums_at(t.padded) + chunk * 8);
      high[r] = load_as<int32_t>(rows[r] + grouped_sums_at(t.padded) + chunk * 8 + 4);
    }
    if constexpr (kHalves) {
      add_group<Rows, Blocks, 4, kHasMin>(panels, x, low, column / 4, column / 16, s.zero, parts);
      add_group<Rows, Blocks, 4, kHasMin>(panels, x, high, column / 4 + 4, column / 16 + 1, s.zero, parts);
    } else {
      for (int r = 0; r < Rows; ++r) low[r] += high[r];
      add_group<Rows, Blocks, 8, kHasMin>(panels, x, low, column / 4, column / 32 >> s.group_shift, s.zero, parts);
    }
    for (int r = 0; r < Rows; ++r) {
      const Vec scale = splat(load_as<float>(rows[r] + grouped_scales_at(t.padded) + chunk * 4));
      for (int j = 0; j < Blocks; ++j) totals[r][j] += parts[r][j] * scale;
    }
  }
  if (!s.is_last) {
    __builtin_memcpy(waiting, totals, sizeof totals);
    return;
  }
  for (int r = 0; r < Rows; ++r)
    for (int j = 0; j < Blocks; ++j) {
      const int64_t n = (s.block + first + j) * kBlockChannels, count = t.n - n;
      if (t.bias) totals[r][j] += load_up_to(t.bias + n, count);
      store_up_to(t.out + (m + r) * t.out_stride + n, totals[r][j], count);
    }
}

// Blocks [block, block + Blocks) for rows [begin, end).
template <int Blocks, bool kHasMin, bool kHalves>
static void stored_blocks(const StoredTile& t, int64_t block, int64_t begin, int64_t end) {
  const QuantFormat& f = *t.format;
  const bool is_wide = f.bits == 8 || f.table != CodeTable::none;
  Panel* panels = reinterpret_cast<Panel*>(t.scratch + kSpanBytes);
  for (int64_t column = 0; column < t.cols; column += kSpan) {
    const int64_t columns = t.cols - column < kSpan ? t.cols - column : kSpan;
    const SpanShape s{block,
                      column,
                      columns,
                      f.zero - (is_wide && !kUnsignedWeights ? 128 : 0),
                      f.group == 64    ? 1
                      : f.group == 128 ? 2
                                       : 0,
                      column + columns == t.cols};
    for (int j = 0; j < Blocks; ++j) unpack_panel(t, block + j, column, columns, panels[j]);
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
