// Kernel source: turns a tile's scores into weights, the left factor of their product with the values. Bits do not
// depend on the number of queries: each has its own lanes.

constexpr int64_t kTile = 1024;                       // bytes: 16 rows of 64
constexpr int64_t kTileQueries = 16, kStepKeys = 32;  // queries per tile; positions per product with values

// 16 x 16 transpose.
PAGODA_INLINE void transpose(BitVec (&v)[16]) {
  BitVec w[16];
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i += 2) {
    w[i] = (BitVec)_mm512_unpacklo_epi32((__m512i)v[i], (__m512i)v[i + 1]);
    w[i + 1] = (BitVec)_mm512_unpackhi_epi32((__m512i)v[i], (__m512i)v[i + 1]);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      v[i + 2 * j] = (BitVec)_mm512_unpacklo_epi64((__m512i)w[i + j], (__m512i)w[i + 2 + j]);
      v[i + 2 * j + 1] = (BitVec)_mm512_unpackhi_epi64((__m512i)w[i + j], (__m512i)w[i + 2 + j]);
    }
  // v[4 a + b]: each of its four quarters c holds element 4 c + b of vectors 4 a to 4 a + 3.
#pragma clang loop unroll(full)
  for (int b = 0; b < 4; ++b) {
    const __m512i low = _mm512_shuffle_i32x4((__m512i)v[b], (__m512i)v[4 + b], 0x88),
                  low2 = _mm512_shuffle_i32x4((__m512i)v[8 + b], (__m512i)v[12 + b], 0x88),
                  high = _mm512_shuffle_i32x4((__m512i)v[b], (__m512i)v[4 + b], 0xdd),
                  high2 = _mm512_shuffle_i32x4((__m512i)v[8 + b], (__m512i)v[12 + b], 0xdd);
    w[b] = (BitVec)_mm512_shuffle_i32x4(low, low2, 0x88);
    w[4 + b] = (BitVec)_mm512_shuffle_i32x4(high, high2, 0x88);
    w[8 + b] = (BitVec)_mm512_shuffle_i32x4(low, low2, 0xdd);
    w[12 + b] = (BitVec)_mm512_shuffle_i32x4(high, high2, 0xdd);
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < 16; ++i) v[i] = w[i];
}

// Rounds to bf16, nearest even: 16 of `first`, then 16 of `second`.
PAGODA_INLINE __m512i rounded(Vec first, Vec second) {
  return (__m512i)_mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
}

// Source index of each of 32 elements.
struct Order {
  alignas(64) uint16_t from[32];
};
template <class From>
constexpr Order order_of(From from) {
  Order order{};
  for (int i = 0; i < 32; ++i) order.from[i] = static_cast<uint16_t>(from(i));
  return order;
}
PAGODA_INLINE __m512i ordered(__m512i v, const Order& order) {
  return _mm512_permutexvar_epi16(_mm512_load_si512(order.from), v);
}

// 2^x for x <= 0, to 3e-6, far below the rounding error of a weight; underflows to zero below 2^-126.
PAGODA_INLINE Vec exp2_of(Vec x) {
  x = x < splat(-160.0f) ? splat(-160.0f) : x;
  const Vec n = (x + splat(0x1.8p23f)) - splat(0x1.8p23f), r = x - n;  // to nearest; cheaper than vrndscaleps
  Vec p = splat(9.58285e-3f);  // minimax polynomial on |r| <= 1/2 with value 1 at 0
  p = fma(p, r, splat(5.590643e-2f));
  p = fma(p, r, splat(2.4024099e-1f));
  p = fma(p, r, splat(6.9312419e-1f));
  p = fma(p, r, splat(1.0f));
  return (Vec)_mm512_scalef_ps((__m512)p, (__m512)n);
}

// A vector holds one position of 16 queries.
struct ManyQueries {
  static constexpr int kKeys = 1;
  PAGODA_INLINE Vec load(const std::byte* scores) { return load_as<Vec>(scores); }
  PAGODA_INLINE IntVec of_lanes(IntVec of_queries) { return of_queries; }
  PAGODA_INLINE IntVec offsets(int64_t first) { return IntVec{} + static_cast<int32_t>(first); }
  PAGODA_INLINE Vec max_of_keys(Vec v) { return v; }
  PAGODA_INLINE Vec sum_chains(const Vec (&totals)[4]) { return (totals[0] + totals[1]) + (totals[2] + totals[3]); }

  static constexpr Order kSideBySide = order_of([](int i) { return i % 2 * 16 + i / 2; });
  BitVec pairs[16];  // [pair of positions][query]
  PAGODA_INLINE void take(ManyQueries& step, int i, Vec even, Vec odd) {
    step.pairs[i] = (BitVec)ordered(rounded(even, odd), kSideBySide);
  }
  PAGODA_INLINE void store(ManyQueries& step, std::byte* to) {
    transpose(step.pairs);
    __builtin_memcpy(to, step.pairs, kTile);
  }
};

// A vector holds four positions of the first four queries, a quarter each: decoding four heads per KV head would
// otherwise leave three quarters empty.
struct FewQueries {
  static constexpr int kKeys = 4;
  PAGODA_INLINE Vec load(const std::byte* scores) {
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(reinterpret_cast<const float*>(scores)));
    v = _mm512_insertf32x4(v, _mm_loadu_ps(reinterpret_cast<const float*>(scores + 64)), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(reinterpret_cast<const float*>(scores + 128)), 2);
    return (Vec)_mm512_insertf32x4(v, _mm_loadu_ps(reinterpret_cast<const float*>(scores + 192)), 3);
  }
  PAGODA_INLINE IntVec of_lanes(IntVec v) {
    return __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
  }
  PAGODA_INLINE IntVec offsets(int64_t first) {
    return (IntVec){0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3} + static_cast<int32_t>(first);
  }
  PAGODA_INLINE Vec neighbour(Vec v) { return (Vec)_mm512_shuffle_f32x4((__m512)v, (__m512)v, 0xb1); }
  PAGODA_INLINE Vec other_half(Vec v) { return (Vec)_mm512_shuffle_f32x4((__m512)v, (__m512)v, 0x4e); }
  PAGODA_INLINE Vec max_of_keys(Vec v) {
    const Vec n = neighbour(v), pairs = n > v ? n : v, o = other_half(pairs);
    return o > pairs ? o : pairs;
  }
  PAGODA_INLINE Vec sum_chains(const Vec (&totals)[1]) {
    const Vec pairs = totals[0] + neighbour(totals[0]);
    return pairs + other_half(pairs);
  }

  static constexpr Order kByQuery = order_of([](int i) { return i % 8 / 4 * 16 + i % 4 * 4 + i / 8; });
  alignas(64) std::byte rows[4][4][16];  // [eight positions][query]
  PAGODA_INLINE void take(FewQueries& step, int i, Vec first, Vec second) {
    _mm512_store_si512(step.rows[i], ordered(rounded(first, second), kByQuery));
  }
  PAGODA_INLINE void store(FewQueries& step, std::byte* to) {
    for (int i = 0; i < 4; ++i)
      for (int q = 0; q < 4; ++q) __builtin_memcpy(to + q * 64 + i * 16, step.rows[i][q], 16);
  }
};

// Converts [positions][16 queries] scores in place to [step][16 queries][32 positions] weights: a step's weights take
// half the memory of its scores and are written after those were read. Positions outside [begin, end) get weight 0.
// Order of a total: four chains, position % 4.
template <class Lanes, bool kSeesAll, class Between>
PAGODA_INLINE void weigh_tile(std::byte* tile, Range offsets, IntVec begin, IntVec end, float* max_out, float* total,
                              Between between) {
  constexpr int kVectors = kStepKeys / Lanes::kKeys, kChains = 4 / Lanes::kKeys;
  begin = Lanes::of_lanes(begin);
  end = Lanes::of_lanes(end);
  const auto score = [&](int64_t offset) PAGODA_LAMBDA {
    if constexpr (kSeesAll) return Lanes::load(tile + offset * 64);
    const IntVec at = Lanes::offsets(offset);
    return ((begin <= at) & (end > at)) ? Lanes::load(tile + offset * 64) : splat(-__builtin_inff());
  };
  Vec most[4];
  for (Vec& m : most) m = splat(-__builtin_inff());
  for (int64_t offset = offsets.begin; offset < offsets.end; offset += 4 * Lanes::kKeys)
    for (int i = 0; i < 4; ++i) {
      const Vec s = score(offset + i * Lanes::kKeys);
      most[i] = s > most[i] ? s : most[i];
    }
  for (int i = 1; i < 4; ++i) most[0] = most[i] > most[0] ? most[i] : most[0];
  most[0] = Lanes::max_of_keys(most[0]);
  const Vec max = most[0] > splat(-__builtin_inff()) ? most[0] : Vec{};  // a query that sees nothing: all weights are 0
  Vec totals[kChains] = {};
  for (int64_t offset = offsets.begin; offset < offsets.end; offset += kStepKeys) {
    Lanes step;
#pragma clang loop unroll(full)
    for (int i = 0; i < kVectors; i += 2) {
      const Vec first = exp2_of(score(offset + i * Lanes::kKeys) - max),
                second = exp2_of(score(offset + (i + 1) * Lanes::kKeys) - max);
      totals[i % kChains] += first;
      totals[(i + 1) % kChains] += second;
      Lanes::take(step, i / 2, first, second);
    }
    Lanes::store(step, tile + offset / kStepKeys * kTile);
    between();
  }
  store(max_out, most[0] * splat(0.693147181f));
  store(total, Lanes::sum_chains(totals));
}
