// Kernel text: Gated DeltaNet, block-anchored. S is read at the block boundary; a token adds a row (k, u, G).
//   u_t = beta_t (v_t - e^(G_t) S^T k_t - sum_{s<t} e^(G_t - G_s) (k_s . k_t) u_s)
//   o_t = e^(G_t) S^T q_t + sum_{s<=t} e^(G_t - G_s) (k_s . q_t) u_s
//   after row 15: S = e^G S + sum_s e^(G - G_s) k_s u_s^T
// Sums over d and over s run in order in one chain per element, whatever number of rows shares a load of S.
// Needs kStateRows (even) and kStateVectors: rows and vectors of Dv whose accumulators fit the registers.

// Decode reads a state once, from memory: so many of its rows ahead, and the first ones while the keys are made.
constexpr int kStateAhead = 16, kFirstStateRows = 32;

// k_dots[s] = rows[s] . k and q_dots[s] = rows[s] . q. Rows after the last that counts are multiplied as well, four at
// a time so that no sum waits for the one before: their dots are unused.
PAGODA_INLINE void dot_rows(const float* rows, int64_t dim, int64_t count, const float* k, const float* q,
                            float* k_dots, float* q_dots) {
  Vec k_lanes[kGdnBlock] = {}, q_lanes[kGdnBlock] = {};
  for (int64_t s = 0; s < count; s += 4) {
    Vec k_acc[4] = {}, q_acc[4] = {};
    const auto step = [&](int64_t d, int64_t left) PAGODA_LAMBDA {
      const Vec kv = load_up_to(k + d, left), qv = load_up_to(q + d, left);
      for (int i = 0; i < 4; ++i) {
        const Vec row = load_up_to(rows + (s + i) * dim + d, left);
        k_acc[i] = fma(row, kv, k_acc[i]);
        q_acc[i] = fma(row, qv, q_acc[i]);
      }
    };
    over(dim, step);
    for (int i = 0; i < 4; ++i) {
      k_lanes[s + i] = k_acc[i];
      q_lanes[s + i] = q_acc[i];
    }
  }
  store(k_dots, sums(k_lanes));
  store(q_dots, sums(q_lanes));
}

PAGODA_INLINE void normalise(const float* x, int64_t dim, float factor, float* to) {
  const Vec scale = splat(factor / __builtin_elementwise_sqrt(sum_of_squares(x, dim) + 1e-6f));
  over(dim,
       [&](int64_t d, int64_t count) PAGODA_LAMBDA { store_up_to(to + d, load_up_to(x + d, count) * scale, count); });
}

static void gdn_keys(const GdnKeys& keys) {
  if (keys.rows == 1)
    for (int64_t i = 0; i < kFirstStateRows * keys.state_stride; i += kLanes) __builtin_prefetch(keys.state + i);
  const int64_t dim = keys.dim;
  const float q_factor = 1.0f / __builtin_elementwise_sqrt(static_cast<float>(dim));
  for (int64_t r = 0; r < keys.rows; ++r) {
    const int64_t t = keys.first_row + r;
    normalise(keys.k + r * keys.k_stride, dim, 1.0f, keys.k_rows + t * dim);
    normalise(keys.q + r * keys.q_stride, dim, q_factor, keys.q_rows + t * dim);
    dot_rows(keys.k_rows, dim, t + 1, keys.k_rows + t * dim, keys.q_rows + t * dim, keys.kk + t * kGdnBlock,
             keys.kq + t * kGdnBlock);
  }
}

// to[r] = S^T x[r] for 16 Vectors columns of S, whose rows are `stride` apart; `count` columns exist.
template <bool Whole, int Ahead, int Rows, int Vectors>
PAGODA_INLINE void state_times(const float* state, int64_t dk, int64_t stride, int64_t count, const float* const* x,
                               float* to, int64_t to_stride) {
  Vec acc[Rows][Vectors] = {};
  for (int64_t d = 0; d < dk; ++d) {
    Vec s[Vectors];
    for (int i = 0; i < Vectors; ++i) {
      if constexpr (Ahead > 0) __builtin_prefetch(state + (d + Ahead) * stride + i * kLanes);
      s[i] = load_whole_or<Whole>(state + d * stride + i * kLanes, count - i * kLanes);
    }
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < Vectors; ++i) acc[r][i] = fma(s[i], splat(x[r][d]), acc[r][i]);
  }
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Vectors; ++i) store(to + r * to_stride + i * kLanes, acc[r][i]);
}

// All rows against one strip of S. The strip is copied first: its rows, a power of two apart in S, share a few places
// of the nearest cache and would push each other out between two passes. num_x is even.
template <bool Whole, int Vectors>
PAGODA_INLINE void strip_times(const float* state, int64_t dk, int64_t dv, int64_t count, const float* const* x,
                               int64_t num_x, float* strip, float* to, int64_t to_stride) {
  constexpr int64_t kWidth = Vectors * kLanes;
  for (int64_t d = 0; d < dk; ++d)
    for (int64_t i = 0; i < kWidth; i += kLanes)
      store(strip + d * kWidth + i, load_whole_or<Whole>(state + d * dv + i, count - i));
  int64_t r = 0;
  for (; r + kStateRows <= num_x; r += kStateRows)
    state_times<true, 0, kStateRows, Vectors>(strip, dk, kWidth, kWidth, x + r, to + r * to_stride, to_stride);
  for (; r < num_x; r += 2)
    state_times<true, 0, 2, Vectors>(strip, dk, kWidth, kWidth, x + r, to + r * to_stride, to_stride);
}

// u and o of row t for columns [j, j + 16 Vectors). sk, sq: S^T k_t and S^T q_t.
template <bool Whole, int Vectors>
PAGODA_INLINE void finish_columns(const GdnHead& h, int64_t r, int64_t j, float decay, const float* ck, const float* cq,
                                  const float* sk, const float* sq) {
  const int64_t t = h.keys->first_row + r, count = h.dim - j;
  Vec u[Vectors], o[Vectors];
  for (int i = 0; i < Vectors; ++i) {
    u[i] = fma(splat(-decay), load(sk + j + i * kLanes),
               load_whole_or<Whole>(h.v + r * h.v_stride + j + i * kLanes, count - i * kLanes));
    o[i] = load(sq + j + i * kLanes) * splat(decay);
  }
  for (int64_t s = 0; s < t; ++s)
    for (int i = 0; i < Vectors; ++i) {
      const Vec us = load_whole_or<Whole>(h.u_rows + s * h.dim + j + i * kLanes, count - i * kLanes);
      u[i] = fma(splat(-ck[s]), us, u[i]);
      o[i] = fma(splat(cq[s]), us, o[i]);
    }
  for (int i = 0; i < Vectors; ++i) {
    u[i] *= splat(h.beta[r]);
    o[i] = fma(splat(cq[t]), u[i], o[i]);
    store_whole_or<Whole>(h.u_rows + t * h.dim + j + i * kLanes, u[i], count - i * kLanes);
    store_whole_or<Whole>(h.out + r * h.out_stride + j + i * kLanes, o[i], count - i * kLanes);
  }
}

template <bool Whole>
static void finish_row(const GdnHead& h, int64_t r, const float* sk, const float* sq) {
  const int64_t t = h.keys->first_row + r;
  const Vec fade = exp(splat(h.g_rows[t]) - load(h.g_rows));  // e^(G_t - G_s); entries after t are stale and unused
  const float decay = exp(splat(h.g_rows[t]))[0];
  float ck[kGdnBlock], cq[kGdnBlock];
  store(ck, fade * load(h.keys->kk + t * kGdnBlock));
  store(cq, fade * load(h.keys->kq + t * kGdnBlock));
  int64_t j = 0;
  for (; j + 4 * kLanes <= h.dim; j += 4 * kLanes) finish_columns<Whole, 4>(h, r, j, decay, ck, cq, sk, sq);
  for (; j < h.dim; j += kLanes) finish_columns<Whole, 1>(h, r, j, decay, ck, cq, sk, sq);
}

// S of rows [d, d + Rows) and columns [j, j + 16 Vectors). wk: [kGdnBlock][Dk], e^(G - G_s) k_s.
template <bool Whole, int Rows, int Vectors>
PAGODA_INLINE void update_tile(const GdnHead& h, const float* wk, int64_t dk, int64_t d, int64_t j, float decay) {
  const int64_t count = h.dim - j;
  Vec acc[Rows][Vectors];
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Vectors; ++i)
      acc[r][i] = load_whole_or<Whole>(h.state + (d + r) * h.dim + j + i * kLanes, count - i * kLanes) * splat(decay);
  for (int s = 0; s < kGdnBlock; ++s)
    for (int i = 0; i < Vectors; ++i) {
      const Vec u = load_whole_or<Whole>(h.u_rows + s * h.dim + j + i * kLanes, count - i * kLanes);
      for (int r = 0; r < Rows; ++r) acc[r][i] = fma(splat(wk[s * dk + d + r]), u, acc[r][i]);
    }
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Vectors; ++i)
      store_whole_or<Whole>(h.state + (d + r) * h.dim + j + i * kLanes, acc[r][i], count - i * kLanes);
}

template <bool Whole, int Vectors>
PAGODA_INLINE void update_strip(const GdnHead& h, const float* wk, int64_t j, float decay) {
  const int64_t dk = h.keys->dim;
  int64_t d = 0;
  for (; d + kStateRows <= dk; d += kStateRows) update_tile<Whole, kStateRows, Vectors>(h, wk, dk, d, j, decay);
  for (; d < dk; ++d) update_tile<Whole, 1, Vectors>(h, wk, dk, d, j, decay);
}

template <bool Whole>
static void close_block(const GdnHead& h, float* wk) {
  const int64_t dk = h.keys->dim;
  const float total = h.g_rows[kGdnBlock - 1];
  float fade[kGdnBlock];
  store(fade, exp(splat(total) - load(h.g_rows)));
  for (int64_t s = 0; s < kGdnBlock; ++s)
    for (int64_t d = 0; d < dk; d += kLanes)
      store_whole_or<Whole>(wk + s * dk + d, load_whole_or<Whole>(h.keys->k_rows + s * dk + d, dk - d) * splat(fade[s]),
                            dk - d);
  const float decay = exp(splat(total))[0];
  int64_t j = 0;
  for (; j + kStateVectors * kLanes <= h.dim; j += kStateVectors * kLanes)
    update_strip<Whole, kStateVectors>(h, wk, j, decay);
  for (; j < h.dim; j += kLanes) update_strip<Whole, 1>(h, wk, j, decay);
}

// Whole: both dims are multiples of 16, as in every model of note.
template <bool Whole>
static void run_head(const GdnHead& h) {
  const GdnKeys& keys = *h.keys;
  const float* x[2 * kGdnBlock];
  for (int64_t r = 0; r < keys.rows; ++r) {
    x[2 * r] = keys.k_rows + (keys.first_row + r) * keys.dim;
    x[2 * r + 1] = keys.q_rows + (keys.first_row + r) * keys.dim;
  }
  // All at once, long before they are read: a vector load that follows a store of one of its lanes waits for it.
  float decay = keys.first_row > 0 ? h.g_rows[keys.first_row - 1] : 0.0f;
  for (int64_t r = 0; r < keys.rows; ++r) h.g_rows[keys.first_row + r] = decay += h.g[r];
  const int64_t stride = (h.dim + kLanes - 1) / kLanes * kLanes + kLanes;  // no power of two
  float* products = h.scratch;                                             // [2 rows][stride]: S^T k, S^T q of each row
  float* wk = products + 2 * kGdnBlock * stride;
  float* strip = wk + kGdnBlock * keys.dim;
  constexpr int kWide = kStateRows * kStateVectors / 2;
  int64_t j = 0;
  if (keys.rows == 1)  // decode: two rows only, so more columns at once, and one pass
    for (; j + kWide * kLanes <= h.dim; j += kWide * kLanes)
      state_times<Whole, kStateAhead, 2, kWide>(h.state + j, keys.dim, h.dim, h.dim - j, x, products + j, stride);
  for (; j + kStateVectors * kLanes <= h.dim; j += kStateVectors * kLanes)
    strip_times<Whole, kStateVectors>(h.state + j, keys.dim, h.dim, h.dim - j, x, 2 * keys.rows, strip, products + j,
                                      stride);
  for (; j < h.dim; j += kLanes)
    strip_times<Whole, 1>(h.state + j, keys.dim, h.dim, h.dim - j, x, 2 * keys.rows, strip, products + j, stride);
  for (int64_t r = 0; r < keys.rows; ++r)
    finish_row<Whole>(h, r, products + 2 * r * stride, products + (2 * r + 1) * stride);
  if (keys.first_row + keys.rows == kGdnBlock) close_block<Whole>(h, wk);
}

static void gdn_head(const GdnHead& h) {
  if (h.dim % kLanes == 0 && h.keys->dim % kLanes == 0) run_head<true>(h);
  else run_head<false>(h);
}
