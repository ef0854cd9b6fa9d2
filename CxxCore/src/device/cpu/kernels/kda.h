// Kernel source: block-anchored gated delta rule with a decay vector per token. As gdn.h, with D_(s,t) the product of
// the decays of rows s + 1 to t, and D_t that of rows 0 to t:
//   u_t = beta_t (v_t - S^T (D_t k_t) - sum_{s<t} (sum_d D_(s,t) k_s k_t) u_s)
//   o_t = S^T (D_t q_t) + sum_{s<=t} (sum_d D_(s,t) k_s q_t) u_s
//   after row 15: S = D_15 S + sum_s (D_(s,15) k_s) u_s^T
// Products grow from row t backwards and never exceed 1: quotients of products from the boundary on would overflow.

// log(1 + e^x) to a few ulps. log u = log(m 2^n), m in [sqrt(1/2), sqrt(2)], as 2 atanh((m - 1) / (m + 1)); the
// rounding error of 1 + e^x is added to first order.
PAGODA_INLINE Vec softplus(Vec x) {
  const Vec one = splat(1.0f), z = exp(x), u = one + z;
  const IntVec bits = __builtin_bit_cast(IntVec, u) - 0x3f3504f3;  // of sqrt(1/2)
  const IntVec exponent = bits >> 23;
  const Vec m = __builtin_bit_cast(Vec, (bits & 0x7fffff) + 0x3f3504f3);
  const Vec s = (m - one) / (m + one), s2 = s * s;
  Vec p = splat(2.0f / 9.0f);
  p = fma(p, s2, splat(2.0f / 7.0f));
  p = fma(p, s2, splat(2.0f / 5.0f));
  p = fma(p, s2, splat(2.0f / 3.0f));
  p = fma(p, s2, splat(2.0f));
  const Vec n = __builtin_convertvector(exponent, Vec);
  const Vec log = fma(n, splat(0x1.62e4p-1f), fma(n, splat(0x1.7f7d1cp-20f), fma(p, s, (z - (u - one)) / u)));
  return x > splat(20.0f) ? x : log;
}

// Keys and decays of row t, its products with the rows before it, and D_t k_t and D_t q_t. product: [Dk] scratch.
static void kda_row(const KdaHead& h, int64_t r, float* q, float* product, float* ck, float* cq, float* faded_k,
                    float* faded_q) {
  const int64_t t = h.first_row + r, dk = h.dk;
  float *k = h.k_rows + t * dk, *decays = h.g_rows + t * dk;
  normalise(h.k + r * h.k_stride, dk, 1.0f, k);
  normalise(h.q + r * h.q_stride, dk, 1.0f / __builtin_elementwise_sqrt(static_cast<float>(dk)), q);
  Vec k_lanes[kGdnBlock] = {}, q_lanes[kGdnBlock] = {};
  over(dk, [&](int64_t d, int64_t left) PAGODA_LAMBDA {
    const Vec x = load_up_to(h.a + r * h.a_stride + d, left) + load_up_to(h.bias + d, left);
    const Vec decay = exp(splat(h.rate) * softplus(x));
    store_up_to(decays + d, decay, left);
    store_up_to(product + d, decay, left);
    q_lanes[t] = fma(load_up_to(k + d, left), load_up_to(q + d, left), q_lanes[t]);
  });
  for (int64_t s = t - 1; s >= 0; --s) {
    Vec k_sum = {}, q_sum = {};
    over(dk, [&](int64_t d, int64_t left) PAGODA_LAMBDA {
      const Vec so_far = load_up_to(product + d, left), row = load_up_to(h.k_rows + s * dk + d, left) * so_far;
      k_sum = fma(row, load_up_to(k + d, left), k_sum);
      q_sum = fma(row, load_up_to(q + d, left), q_sum);
      store_up_to(product + d, so_far * load_up_to(h.g_rows + s * dk + d, left), left);
    });
    k_lanes[s] = k_sum;
    q_lanes[s] = q_sum;
  }
  store(ck, sums(k_lanes));
  store(cq, sums(q_lanes));
  over(dk, [&](int64_t d, int64_t left) PAGODA_LAMBDA {
    const Vec so_far = load_up_to(product + d, left);
    store_up_to(faded_k + d, load_up_to(k + d, left) * so_far, left);
    store_up_to(faded_q + d, load_up_to(q + d, left) * so_far, left);
  });
}

// wk: [kGdnBlock][Dk], D_(s,15) k_s; product: [Dk], D_15.
template <bool Whole, class S>
static void close_kda_block(const KdaHead& h, const GdnHead& head, float* wk, float* product) {
  const int64_t dk = h.dk;
  for (int64_t d = 0; d < dk; d += kLanes) {
    Vec so_far = splat(1.0f);
    for (int64_t s = kGdnBlock - 1; s >= 0; --s) {
      store_whole_or<Whole>(wk + s * dk + d, load_whole_or<Whole>(h.k_rows + s * dk + d, dk - d) * so_far, dk - d);
      so_far = so_far * load_whole_or<Whole>(h.g_rows + s * dk + d, dk - d);
    }
    store_whole_or<Whole>(product + d, so_far, dk - d);
  }
  update_state<Whole, S>(head, wk, product);
}

template <bool Whole, class S>
static void run_kda_head(const KdaHead& h) {
  alignas(64) float ck[kGdnBlock][kGdnBlock], cq[kGdnBlock][kGdnBlock];
  const int64_t dk = h.dk, stride = (h.dv + kLanes - 1) / kLanes * kLanes + kLanes;  // not a power of two
  float *q = h.scratch, *product = q + dk, *faded = product + dk;                    // faded: [2 rows][Dk]
  float *products = faded + 2 * kGdnBlock * dk, *wk = products + 2 * kGdnBlock * stride;
  const float* x[2 * kGdnBlock];
  for (int64_t r = 0; r < h.rows; ++r) {
    float *faded_k = faded + 2 * r * dk, *faded_q = faded_k + dk;
    x[2 * r] = faded_k;
    x[2 * r + 1] = faded_q;
    kda_row(h, r, q, product, ck[r], cq[r], faded_k, faded_q);
  }
  GdnKeys keys{};
  keys.first_row = h.first_row;
  keys.rows = h.rows;
  keys.dim = dk;
  const GdnHead head{&keys,  h.v,  h.v_stride, h.out,    h.out_stride, nullptr,
                     h.beta, h.dv, h.state,    h.u_rows, nullptr,      nullptr};
  multiply_state<Whole, S>(head, x, 2 * h.rows, products, stride);
  for (int64_t r = 0; r < h.rows; ++r)
    finish_all_columns<Whole>(head, r, 1.0f, ck[r], cq[r], products + 2 * r * stride, products + (2 * r + 1) * stride);
  if (h.first_row + h.rows == kGdnBlock) close_kda_block<Whole, S>(h, head, wk, product);
}

template <class S>
static void run_kda_head_of(const KdaHead& h) {
  if (h.dv % kLanes == 0 && h.dk % kLanes == 0) run_kda_head<true, S>(h);
  else run_kda_head<false, S>(h);
}

static void kda_head(const KdaHead& h) {
  if (h.rows == 1) prefetch_state(h.state, h.dk, h.dv);
  if (h.state.is_bf16) run_kda_head_of<Bf16>(h);
  else run_kda_head_of<float>(h);
}
