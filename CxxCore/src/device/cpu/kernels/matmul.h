// Kernel source: x W^T. An output element sums k in 16 lanes, one chain per lane, then reduces the lanes: the same for
// one row and for many. Needs kTileRows and kTileOutputs, sized so that the accumulators fit the registers.

constexpr int64_t kDirectOutputs = 4;  // weight streams read in parallel when there are few rows
constexpr int64_t kPanelDepth = 512;   // columns of weights kept as floats in L1 while all rows stream past
constexpr int64_t kPanelRows = 96;     // rows whose accumulators are spilled between two panels

// Adds k columns to acc; `x_count` elements of x exist, the rest of the last vector counts as zero.
template <int Rows, int Outputs, class W>
PAGODA_INLINE void multiply(Vec (&acc)[Rows][Outputs], const float* x, int64_t x_stride, const W* w, int64_t w_stride,
                            int64_t x_count) {
  int64_t k = 0;
  for (; k + kLanes <= x_count; k += kLanes) {
    Vec wv[Outputs];
    for (int n = 0; n < Outputs; ++n) wv[n] = load(w + n * w_stride + k);
    for (int m = 0; m < Rows; ++m) {
      const Vec xv = load(x + m * x_stride + k);
      for (int n = 0; n < Outputs; ++n) acc[m][n] = fma(xv, wv[n], acc[m][n]);
    }
  }
  if (k == x_count) return;
  for (int m = 0; m < Rows; ++m) {
    const Vec xv = load_part(x + m * x_stride + k, x_count - k);
    for (int n = 0; n < Outputs; ++n) acc[m][n] = fma(xv, load(w + n * w_stride + k), acc[m][n]);
  }
}

PAGODA_INLINE void finish(const MatmulTile& t, int64_t m, int64_t n, Vec lanes) {
  const float total = sum(lanes);
  t.out[m * t.out_stride + n] = t.bias ? total + t.bias[n] : total;
}

// Few rows: weights go from memory straight to registers; the second row finds them in cache.
template <int Outputs, class W>
static void multiply_direct(const MatmulTile& t, int64_t n) {
  const W* w = static_cast<const W*>(t.w) + n * t.w_stride;
  for (int64_t m = 0; m < t.m; ++m) {
    Vec acc[1][Outputs] = {};
    multiply<1, Outputs>(acc, t.x + m * t.x_stride, 0, w, t.w_stride, t.k);
    for (int i = 0; i < Outputs; ++i) finish(t, m, n + i, acc[0][i]);
  }
}

template <int Rows, int Outputs>
static void multiply_parked(Vec* parked, const float* x, int64_t x_stride, const float* panel, int64_t x_count) {
  Vec acc[Rows][Outputs];
  for (int m = 0; m < Rows; ++m)
    for (int n = 0; n < Outputs; ++n) acc[m][n] = parked[m * Outputs + n];
  multiply<Rows, Outputs>(acc, x, x_stride, panel, kPanelDepth, x_count);
  for (int m = 0; m < Rows; ++m)
    for (int n = 0; n < Outputs; ++n) parked[m * Outputs + n] = acc[m][n];
}

// The remaining rows, fewer than a tile.
template <int Rows, int Outputs>
PAGODA_INLINE void multiply_rest(int64_t rows, Vec* parked, const float* x, int64_t x_stride, const float* panel,
                                 int64_t x_count) {
  if constexpr (Rows > 0) {
    if (rows == Rows) multiply_parked<Rows, Outputs>(parked, x, x_stride, panel, x_count);
    else multiply_rest<Rows - 1, Outputs>(rows, parked, x, x_stride, panel, x_count);
  }
}

// Many rows (at most kPanelRows): a panel of weights is widened once and used for all.
template <int Outputs, class W>
static void multiply_panels(const MatmulTile& t, int64_t n) {
  alignas(64) float panel[Outputs * kPanelDepth];
  Vec parked[kPanelRows * Outputs];
  for (int64_t i = 0; i < t.m * Outputs; ++i) parked[i] = Vec{};
  const W* w = static_cast<const W*>(t.w) + n * t.w_stride;
  for (int64_t k = 0; k < t.k; k += kPanelDepth) {
    const int64_t depth = t.k - k < kPanelDepth ? t.k - k : kPanelDepth;
    for (int i = 0; i < Outputs; ++i)
      for (int64_t j = 0; j < depth; j += kLanes) store(panel + i * kPanelDepth + j, load(w + i * t.w_stride + k + j));
    const float* x = t.x + k;
    int64_t m = 0;
    for (; m + kTileRows <= t.m; m += kTileRows)
      multiply_parked<kTileRows, Outputs>(parked + m * Outputs, x + m * t.x_stride, t.x_stride, panel, depth);
    multiply_rest<kTileRows - 1, Outputs>(t.m - m, parked + m * Outputs, x + m * t.x_stride, t.x_stride, panel, depth);
  }
  for (int64_t m = 0; m < t.m; ++m)
    for (int i = 0; i < Outputs; ++i) finish(t, m, n + i, parked[m * Outputs + i]);
}

template <class W>
static void matmul(const MatmulTile& t) {
  int64_t n = 0;
  if (t.m < kTileRows || t.m > kPanelRows) {
    for (; n + kDirectOutputs <= t.n; n += kDirectOutputs) multiply_direct<kDirectOutputs, W>(t, n);
    for (; n < t.n; ++n) multiply_direct<1, W>(t, n);
  } else {
    for (; n + kTileOutputs <= t.n; n += kTileOutputs) multiply_panels<kTileOutputs, W>(t, n);
    for (; n < t.n; ++n) multiply_panels<1, W>(t, n);
  }
}
