// Kernel source of Qwen4-Exp: sums over rows of residual streams, scores of index keys. Products: 16 lanes, then a
// horizontal sum.

static float dot_product(const float* x, const float* y, int64_t n) {
  Vec total = {};
  over(n, [&](int64_t i, int64_t count)
              PAGODA_LAMBDA { total = fma(load_up_to(x + i, count), load_up_to(y + i, count), total); });
  return sum(total);
}

static float index_score(const IndexScore& s) {
  float score = 0;
  for (int64_t head = 0; head < s.num_heads; ++head) {
    const float product = dot_product(s.q + head * s.q_stride, s.key, s.dim);
    score += product > 0 ? product : 0;
  }
  return score;
}

static void gated_sum(const float* x, const float* gate, int64_t n, float* out) {
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA {
    const Vec product = load_up_to(x + i, count) * sigmoid(load_up_to(gate + i, count));
    store_up_to(out + i, load_up_to(out + i, count) + product, count);
  });
}

static void add_scaled(const float* x, float factor, int64_t n, float* out) {
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA {
    store_up_to(out + i, fma(load_up_to(x + i, count), splat(factor), load_up_to(out + i, count)), count);
  });
}

static void add_silu(const float* x, const float* sum, int64_t n, float* out) {
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA {
    const Vec addition = load_up_to(x + i, count) + silu(load_up_to(sum + i, count));
    store_up_to(out + i, load_up_to(out + i, count) + addition, count);
  });
}
