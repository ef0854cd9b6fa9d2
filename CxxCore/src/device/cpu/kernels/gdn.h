// Kernel source: block-anchored Gated DeltaNet. S is read at the block boundary; each token adds a row (k, u, G).
//   u_t = beta_t (v_t - e^(G_t) S^T k_t - sum_{s<t} e^(G_t - G_s) (k_s . k_t) u_s)
//   o_t = e^(G_t) S^T q_t + sum_{s<=t} e^(G_t - G_s) (k_s . q_t) u_s
//   after row 15: S = e^G S + sum_s e^(G - G_s) k_s u_s^T
// Sums over d and s run in order in one chain per element, however many rows share a load of S, whose elements (S) are
// float or Bf16.
// Needs kStateRows (even) and kStateVectors (per panel): rows and vectors of Dv whose accumulators fit the registers;
// and kStatePanels, the number of panels for two rows.

constexpr int kPanelVectors = kGdnPanel / kLanes;
constexpr int64_t kFirstRows = 8;  // per panel, prefetched in decode while the keys are computed

PAGODA_INLINE int64_t panel_width(const GdnHead& h, int64_t j) { return h.dim - j < kGdnPanel ? h.dim - j : kGdnPanel; }

// k_dots[s] = rows[s] . k and q_dots[s] = rows[s] . q. Computed four rows at a time so that the sums are independent;
// results past `count` are unused.
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

// In decode: the state is read once, after the keys.
PAGODA_INLINE void prefetch_state(GdnState state, int64_t dk, int64_t dv) {
  constexpr int64_t kLine = 64;
  const int64_t element_bytes = state.is_bf16 ? 2 : 4;
  const std::byte* bytes = static_cast<const std::byte*>(state.data);
  for (int64_t j = 0; j < dv; j += kGdnPanel)
    for (int64_t i = 0; i < kFirstRows * kGdnPanel * element_bytes; i += kLine)
      __builtin_prefetch(bytes + j * dk * element_bytes + i);
}

static void gdn_keys(const GdnKeys& keys) {
  const int64_t dim = keys.dim;
  if (keys.rows == 1) prefetch_state(keys.state, dim, keys.state_columns);
  const float q_factor = 1.0f / __builtin_elementwise_sqrt(static_cast<float>(dim));
  for (int64_t r = 0; r < keys.rows; ++r) {
    const int64_t t = keys.first_row + r;
    normalise(keys.k + r * keys.k_stride, dim, 1.0f, keys.k_rows + t * dim);
    normalise(keys.q + r * keys.q_stride, dim, q_factor, keys.q_rows + t * dim);
    dot_rows(keys.k_rows, dim, t + 1, keys.k_rows + t * dim, keys.q_rows + t * dim, keys.kk + t * kGdnBlock,
             keys.kq + t * kGdnBlock);
  }
}

// to[r] = S^T x[r] for Vectors vectors in each of Panels panels [dk][width] of S; `count` columns exist from the first
// vector on. Results of consecutive panels are kGdnPanel apart. Ahead: also prefetches the panel after this one,
// which may belong to the next head.
template <bool Whole, int Rows, int Panels, int Vectors, bool Ahead = false, class S>
PAGODA_INLINE void state_times(const S* state, int64_t dk, int64_t width, int64_t count, const float* const* x,
                               float* to, int64_t to_stride) {
  Vec acc[Rows][Panels][Vectors] = {};
  for (int64_t d = 0; d < dk; ++d)
    for (int p = 0; p < Panels; ++p) {
      Vec s[Vectors];
      for (int i = 0; i < Vectors; ++i) {
        const S* from = state + (p * dk + d) * width + i * kLanes;
        if constexpr (Ahead) __builtin_prefetch(from + dk * width);
        s[i] = load_whole_or<Whole>(from, count - i * kLanes);
      }
      for (int r = 0; r < Rows; ++r)
        for (int i = 0; i < Vectors; ++i) acc[r][p][i] = fma(s[i], splat(x[r][d]), acc[r][p][i]);
    }
  for (int r = 0; r < Rows; ++r)
    for (int p = 0; p < Panels; ++p)
      for (int i = 0; i < Vectors; ++i) store(to + r * to_stride + p * kGdnPanel + i * kLanes, acc[r][p][i]);
}

// The last `rows` of x, an even number up to Rows, in one pass.
template <bool Whole, int Rows, int Vectors, bool Ahead, class S>
PAGODA_INLINE void last_rows_times(int64_t rows, const S* state, int64_t dk, int64_t width, int64_t count,
                                   const float* const* x, float* to, int64_t to_stride) {
  if constexpr (Rows > 0) {
    if (rows == Rows) state_times<Whole, Rows, 1, Vectors, Ahead>(state, dk, width, count, x, to, to_stride);
    else last_rows_times<Whole, Rows - 2, Vectors, Ahead>(rows, state, dk, width, count, x, to, to_stride);
  }
}

// Multiplies all rows by Vectors vectors of a panel, which stays in L1 during all passes. num_x is even. The first pass
// prefetches.
template <bool Whole, int Vectors, class S>
PAGODA_INLINE void panel_times(const S* state, int64_t dk, int64_t width, int64_t count, const float* const* x,
                               int64_t num_x, float* to, int64_t to_stride) {
  if (num_x < kStateRows)
    return last_rows_times<Whole, kStateRows - 2, Vectors, true>(num_x, state, dk, width, count, x, to, to_stride);
  state_times<Whole, kStateRows, 1, Vectors, true>(state, dk, width, count, x, to, to_stride);
  int64_t r = kStateRows;
  for (; r + kStateRows <= num_x; r += kStateRows)
    state_times<Whole, kStateRows, 1, Vectors>(state, dk, width, count, x + r, to + r * to_stride, to_stride);
  last_rows_times<Whole, kStateRows - 2, Vectors, false>(num_x - r, state, dk, width, count, x + r, to + r * to_stride,
                                                         to_stride);
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
PAGODA_INLINE void finish_all_columns(const GdnHead& h, int64_t r, float decay, const float* ck, const float* cq,
                                      const float* sk, const float* sq) {
  int64_t j = 0;
  for (; j + 4 * kLanes <= h.dim; j += 4 * kLanes) finish_columns<Whole, 4>(h, r, j, decay, ck, cq, sk, sq);
  for (; j < h.dim; j += kLanes) finish_columns<Whole, 1>(h, r, j, decay, ck, cq, sk, sq);
}

template <bool Whole>
static void finish_row(const GdnHead& h, int64_t r, const float* sk, const float* sq) {
  const int64_t t = h.keys->first_row + r;
  const Vec fade = exp(splat(h.g_rows[t]) - load(h.g_rows));  // e^(G_t - G_s); entries after t are stale and unused
  const float decay = exp(splat(h.g_rows[t]))[0];
  float ck[kGdnBlock], cq[kGdnBlock];
  store(ck, fade * load(h.keys->kk + t * kGdnBlock));
  store(cq, fade * load(h.keys->kq + t * kGdnBlock));
  finish_all_columns<Whole>(h, r, decay, ck, cq, sk, sq);
}

// Updates rows [d, d + Rows) and columns [j, j + 16 Vectors) of S at `state`, row stride `width`. wk: [kGdnBlock][Dk],
// e^(G - G_s) k_s. decay: of each of the rows.
template <bool Whole, int Rows, int Vectors, class S>
PAGODA_INLINE void update_tile(const GdnHead& h, const float* wk, S* state, int64_t width, int64_t j,
                               const float* decay) {
  const int64_t count = h.dim - j;
  Vec acc[Rows][Vectors];
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Vectors; ++i)
      acc[r][i] = load_whole_or<Whole>(state + r * width + i * kLanes, count - i * kLanes) * splat(decay[r]);
  for (int s = 0; s < kGdnBlock; ++s)
    for (int i = 0; i < Vectors; ++i) {
      const Vec u = load_whole_or<Whole>(h.u_rows + s * h.dim + j + i * kLanes, count - i * kLanes);
      for (int r = 0; r < Rows; ++r) acc[r][i] = fma(splat(wk[s * h.keys->dim + r]), u, acc[r][i]);
    }
  for (int r = 0; r < Rows; ++r)
    for (int i = 0; i < Vectors; ++i)
      store_whole_or<Whole>(state + r * width + i * kLanes, acc[r][i], count - i * kLanes);
}

template <bool Whole, int Vectors, class S>
PAGODA_INLINE void update_columns(const GdnHead& h, const float* wk, S* state, int64_t width, int64_t j,
                                  const float* decay) {
  const int64_t dk = h.keys->dim;
  int64_t d = 0;
  for (; d + kStateRows <= dk; d += kStateRows)
    update_tile<Whole, kStateRows, Vectors>(h, wk + d, state + d * width, width, j, decay + d);
  for (; d < dk; ++d) update_tile<Whole, 1, Vectors>(h, wk + d, state + d * width, width, j, decay + d);
}

// S = decay S + wk u. decay: [Dk].
template <bool Whole, class S>
static void update_state(const GdnHead& h, const float* wk, const float* decay) {
  for (int64_t j = 0; j < h.dim; j += kGdnPanel) {
    S* panel = static_cast<S*>(h.state.data) + j * h.keys->dim;
    const int64_t width = panel_width(h, j);
    int64_t i = 0;
    for (; i + kStateVectors * kLanes <= width; i += kStateVectors * kLanes)
      update_columns<Whole, kStateVectors>(h, wk, panel + i, width, j + i, decay);
    for (; i < width; i += kLanes) update_columns<Whole, 1>(h, wk, panel + i, width, j + i, decay);
  }
}

template <bool Whole, class S>
static void close_block(const GdnHead& h, float* wk) {
  const int64_t dk = h.keys->dim;
  const float total = h.g_rows[kGdnBlock - 1];
  float fade[kGdnBlock];
  store(fade, exp(splat(total) - load(h.g_rows)));
  for (int64_t s = 0; s < kGdnBlock; ++s)
    for (int64_t d = 0; d < dk; d += kLanes)
      store_whole_or<Whole>(wk + s * dk + d, load_whole_or<Whole>(h.keys->k_rows + s * dk + d, dk - d) * splat(fade[s]),
                            dk - d);
  const Vec decay = exp(splat(total));
  float* decays = wk + kGdnBlock * dk;
  for (int64_t d = 0; d < dk; d += kLanes) store_whole_or<Whole>(decays + d, decay, dk - d);
  update_state<Whole, S>(h, wk, decays);
}

// S^T x for all x, [num_x][stride].
template <bool Whole, class S>
PAGODA_INLINE void multiply_state(const GdnHead& h, const float* const* x, int64_t num_x, float* to, int64_t stride) {
  const int64_t dk = h.keys->dim;
  const S* state = static_cast<const S*>(h.state.data);
  int64_t j = 0;
  if (num_x == 2)  // decode: S is read once from memory, several panels in parallel
    for (; j + kStatePanels * kGdnPanel <= h.dim; j += kStatePanels * kGdnPanel)
      state_times<Whole, 2, kStatePanels, kPanelVectors>(state + j * dk, dk, kGdnPanel, h.dim - j, x, to + j, stride);
  for (; j < h.dim; j += kGdnPanel) {
    const S* panel = state + j * dk;
    const int64_t width = panel_width(h, j);
    int64_t i = 0;
    for (; i + kStateVectors * kLanes <= width; i += kStateVectors * kLanes)
      panel_times<Whole, kStateVectors>(panel + i, dk, width, width - i, x, num_x, to + j + i, stride);
    for (; i < width; i += kLanes) panel_times<Whole, 1>(panel + i, dk, width, width - i, x, num_x, to + j + i, stride);
  }
}

// Whole: both dims are multiples of 16, as in every common model.
template <bool Whole, class S>
static void run_head(const GdnHead& h) {
  const GdnKeys& keys = *h.keys;
  const float* x[2 * kGdnBlock];
  for (int64_t r = 0; r < keys.rows; ++r) {
    x[2 * r] = keys.k_rows + (keys.first_row + r) * keys.dim;
    x[2 * r + 1] = keys.q_rows + (keys.first_row + r) * keys.dim;
  }
  // All at once, well before they are read: a vector load right after a scalar store to one of its lanes would stall.
  float decay = keys.first_row > 0 ? h.g_rows[keys.first_row - 1] : 0.0f;
  for (int64_t r = 0; r < keys.rows; ++r) h.g_rows[keys.first_row + r] = decay += h.g[r];
  const int64_t stride = (h.dim + kLanes - 1) / kLanes * kLanes + kLanes;  // not a power of two
  float* products = h.scratch;                                             // [2 rows][stride]: S^T k, S^T q of each row
  float* wk = products + 2 * kGdnBlock * stride;
  multiply_state<Whole, S>(h, x, 2 * keys.rows, products, stride);
  for (int64_t r = 0; r < keys.rows; ++r)
    finish_row<Whole>(h, r, products + 2 * r * stride, products + (2 * r + 1) * stride);
  if (keys.first_row + keys.rows == kGdnBlock) close_block<Whole, S>(h, wk);
}

template <class S>
static void run_head_of(const GdnHead& h) {
  if (h.dim % kLanes == 0 && h.keys->dim % kLanes == 0) run_head<true, S>(h);
  else run_head<false, S>(h);
}

static void gdn_head(const GdnHead& h) {
  if (h.state.is_bf16) run_head_of<Bf16>(h);
  else run_head_of<float>(h);
}
