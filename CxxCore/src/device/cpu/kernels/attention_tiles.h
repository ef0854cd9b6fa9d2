// Kernel source: attention over a bf16 cache on AMX tiles, for any number of queries. Queries and weights are rounded
// to bf16 like the cache; scores, their maximum, weights and all sums are floats. Order: a score is summed over the
// head dim, and a value over the positions of its partition, 32 at a time, like every bf16 product here (kernels.h,
// PackedTile); the total of the weights in four chains, position % 4. The weight of an invisible position is zero and
// changes nothing.

constexpr int64_t kQueryTiles = kMaxQueries / kTileQueries, kSteps = kPartition / kStepKeys;

struct TileWork : Partials {
  int64_t num_tiles;  // of 16 queries
  std::byte* q;       // [tile][dim / 32][16 pairs of dims][16 queries] pairs of bf16, times scale and log2 e
  std::byte* scores;  // [tile][kPartition][16 queries] floats; overwritten by the weights
  std::byte* values;  // [kSteps][value_dim / 16][16 pairs of positions][16 dims] pairs of bf16
  std::byte* keys;    // [16][dim] bf16, for blocks shorter than 16 positions
  IntVec begin[kQueryTiles], end[kQueryTiles];  // offsets in the partition that each query sees
  Ahead values_ahead, keys_ahead;  // prefetch: this partition's values, read after its scores; the next one's keys
};
constexpr int64_t kScoreTile = kPartition * kTileQueries * 4;  // bytes

typedef uint64_t LongVec __attribute__((ext_vector_type(8)));

PAGODA_INLINE void pack_queries(const AttentionTile& a, TileWork& work) {
  const Vec factor = splat(a.scale * 1.44269504f);
  for (int64_t t = 0; t < work.num_tiles; ++t)
    for (int64_t d = 0; d < a.dim; d += 32) {
      BitVec rows[16] = {};
      for (int64_t j = 0; j < kTileQueries && t * kTileQueries + j < work.num_queries; ++j) {
        Bf16 narrow[32];
        const float* q = query(a, t * kTileQueries + j) + d;
        store(narrow, load(q) * factor);
        store(narrow + 16, load(q + 16) * factor);
        rows[j] = load_as<BitVec>(narrow);
      }
      transpose(rows);
      __builtin_memcpy(work.q + (t * a.dim + d) / 32 * kTile, rows, kTile);
    }
}

PAGODA_INLINE void start_tiles(const AttentionTile& a, TileWork& work) {
  work.q = reinterpret_cast<std::byte*>(place_partials(a, work));
  work.num_tiles = (work.num_queries + kTileQueries - 1) / kTileQueries;
  work.scores = work.q + kMaxQueries * a.dim * 2;
  work.values = work.scores + kQueryTiles * kScoreTile;
  work.keys = work.values + kPartition * a.value_dim * 2;
  pack_queries(a, work);
}

// Which positions of the partition at `first` each query sees; padding queries see none.
PAGODA_INLINE void see(const AttentionTile& a, int64_t first, TileWork& work) {
  for (int64_t j = 0; j < work.num_tiles * kTileQueries; ++j) {
    const int64_t row = a.is_causal ? j / a.num_heads : 0, end = a.first_position + row + 1 - first,
                  begin = a.window > 0 ? end - a.window : 0;
    const bool is_query = j < work.num_queries;
    work.begin[j / kTileQueries][j % kTileQueries] = static_cast<int32_t>(begin > 0 ? begin : 0);
    work.end[j / kTileQueries][j % kTileQueries] =
        static_cast<int32_t>(!is_query || end < 0 ? 0 : (end < kPartition ? end : kPartition));
  }
}

struct KeyTile {
  const std::byte* rows;
  int64_t stride;  // bytes
};

// 16 rows of keys starting at `position`, a multiple of 16: in place in a block, or copied from several.
PAGODA_INLINE KeyTile keys_at(const AttentionTile& a, int64_t position, Range seen, TileWork& work) {
  const KvCache keys{a.k, a.k_block_stride, a.k_row_stride};
  if (a.block_size % 16 == 0) return {row_at(keys, a, position), a.k_row_stride * 2};
  for (int64_t i = position; i < position + 16; ++i) {
    const int64_t nearest = i < seen.begin ? seen.begin : (i < seen.end ? i : seen.end - 1);
    __builtin_memcpy(work.keys + (i - position) * a.dim * 2, row_at(keys, a, nearest), static_cast<size_t>(a.dim) * 2);
  }
  return {work.keys, a.dim * 2};
}

// Scores of all queries. Keys are the left factor: cache rows already have the layout of a tile.
PAGODA_INLINE void score_tiles(const AttentionTile& a, int64_t first, Range seen, TileWork& work) {
  start(work.values_ahead, {a.v, a.v_block_stride, a.v_row_stride}, a, seen);
  const int64_t times =
      times_of(work.values_ahead, (seen.end / 16 - seen.begin / 16 + 1) * a.dim / 32 * ((work.num_tiles + 1) / 2));
  for (int64_t position = seen.begin / 16 * 16; position < seen.end; position += 16) {
    const auto [k, stride] = keys_at(a, position, seen, work);
    for (int64_t t = 0; t < work.num_tiles; t += 2) {
      const std::byte* q = work.q + t * a.dim / 32 * kTile;
      std::byte* scores = work.scores + t * kScoreTile + (position - first) * 64;
      const bool is_pair = t + 1 < work.num_tiles;
      _tile_zero(0);
      _tile_zero(1);
      for (int64_t d = 0; d < a.dim; d += 32, q += kTile) {
        _tile_loadd(2, k + d * 2, stride);
        _tile_loadd(3, q, 64);
        _tile_dpbf16ps(0, 2, 3);
        fetch(work.values_ahead, times);
        if (!is_pair) continue;
        _tile_loadd(3, q + a.dim / 32 * kTile, 64);
        _tile_dpbf16ps(1, 2, 3);
      }
      _tile_stored(0, scores, 64);
      if (is_pair) _tile_stored(1, scores + kScoreTile, 64);
    }
  }
}

// Interleaves the values of two positions for their step and pair. Positions that no query sees count as zero: data
// left by an earlier owner of the block may not be finite.
PAGODA_INLINE void pack_pair(const std::byte* even, const std::byte* odd, int64_t dim, std::byte* to) {
  const __m512i order = (__m512i)(LongVec){0, 4, 1, 5, 2, 6, 3, 7};
  for (int64_t d = 0; d < dim; d += 32, to += 2 * kTile) {
    const __m512i e = even ? _mm512_permutexvar_epi64(order, _mm512_loadu_si512(even + d * 2)) : _mm512_setzero_si512();
    const __m512i o = odd ? _mm512_permutexvar_epi64(order, _mm512_loadu_si512(odd + d * 2)) : _mm512_setzero_si512();
    _mm512_storeu_si512(to, _mm512_unpacklo_epi16(e, o));
    _mm512_storeu_si512(to + kTile, _mm512_unpackhi_epi16(e, o));
  }
}

PAGODA_INLINE void pack_values(const AttentionTile& a, int64_t first, Range offsets, Range seen, TileWork& work) {
  const auto row = [&](int64_t offset) PAGODA_LAMBDA {
    const int64_t position = first + offset;
    return position >= seen.begin && position < seen.end ? work.values_ahead.rows[position - seen.begin] : nullptr;
  };
  const int64_t times = times_of(work.keys_ahead, offsets.end - offsets.begin);  // half of the remaining rows
  for (int64_t offset = offsets.begin; offset < offsets.end; offset += 2) {
    fetch(work.keys_ahead, times);
    pack_pair(row(offset), row(offset + 1), a.value_dim,
              work.values + offset / kStepKeys * a.value_dim / 16 * kTile + offset % kStepKeys / 2 * 64);
  }
}

// The partial's sums of values, 32 dims at a time; merging them immediately keeps them in L1.
template <bool kMerge>
PAGODA_INLINE void add_tiles(const AttentionTile& a, Range offsets, TileWork& work) {
  const int64_t times =
      times_of(work.keys_ahead, (offsets.end - offsets.begin) / kStepKeys * work.num_tiles * a.value_dim / 32);
  for (int64_t d = 0; d < a.value_dim; d += 32)
    for (int64_t t = 0; t < work.num_tiles; ++t) {
      _tile_zero(0);
      _tile_zero(1);
      for (int64_t step = offsets.begin / kStepKeys; step * kStepKeys < offsets.end; ++step) {
        const std::byte* v = work.values + (step * a.value_dim + d) / 16 * kTile;
        _tile_loadd(2, work.scores + t * kScoreTile + step * kTile, 64);
        _tile_loadd(3, v, 64);
        _tile_dpbf16ps(0, 2, 3);
        fetch(work.keys_ahead, times);
        _tile_loadd(3, v + kTile, 64);
        _tile_dpbf16ps(1, 2, 3);
      }
      alignas(64) float sums[2][kTileQueries][16];
      _tile_stored(0, sums[0], 64);
      _tile_stored(1, sums[1], 64);
      const int64_t first = t * kTileQueries;
      for (int64_t j = first; j < first + kTileQueries && j < work.num_queries; ++j)
        for (int half = 0; half < 2; ++half) {
          const int64_t at = j * work.padded + d + half * 16;
          const Vec v = load(sums[half][j - first]);
          if constexpr (kMerge) merge_sums(work, j, work.part.total[j], v, work.merged.out + at);
          else store(work.part.out + at, v);
        }
    }
}

template <class Lanes>
PAGODA_INLINE void weigh(Range offsets, TileWork& work) {
  // An eighth of the keys: with one query this loop is short.
  const int64_t times = times_of(work.keys_ahead, 8 * work.num_tiles * (offsets.end - offsets.begin) / kStepKeys);
  const auto between = [&]() PAGODA_LAMBDA { fetch(work.keys_ahead, times); };
  for (int64_t t = 0; t < work.num_tiles; ++t) {
    const bool sees_all = _mm512_reduce_max_epi32((__m512i)work.begin[t]) <= offsets.begin &&
                          _mm512_reduce_min_epi32((__m512i)work.end[t]) >= offsets.end;
    std::byte* scores = work.scores + t * kScoreTile;
    float *max = work.part.max + t * kTileQueries, *total = work.part.total + t * kTileQueries;
    if (sees_all) weigh_tile<Lanes, true>(scores, offsets, work.begin[t], work.end[t], max, total, between);
    else weigh_tile<Lanes, false>(scores, offsets, work.begin[t], work.end[t], max, total, between);
  }
}

template <bool kMerge>
static void attend_tiles(const AttentionTile& a, int64_t partition, TileWork& work) {
  const int64_t first = partition * kPartition;
  const Range seen = reach(a, partition);
  if (is_empty(seen)) return kMerge ? void() : clear(work.part, work);
  const Range offsets{(seen.begin - first) / kStepKeys * kStepKeys,
                      (seen.end - first + kStepKeys - 1) / kStepKeys * kStepKeys};
  configure_tiles(16);
  see(a, first, work);
  score_tiles(a, first, seen, work);
  start(work.keys_ahead, {a.k, a.k_block_stride, a.k_row_stride}, a, reach(a, partition + a.stride));
  if (work.num_queries <= 4) weigh<FewQueries>(offsets, work);
  else weigh<ManyQueries>(offsets, work);
  pack_values(a, first, offsets, seen, work);
  if constexpr (kMerge) merge_totals(work.part, work);
  add_tiles<kMerge>(a, offsets, work);
  _tile_release();
}

struct TileAttention {
  using Work = TileWork;
  static void start(const AttentionTile& a, Work& work) { start_tiles(a, work); }
  static void attend(const AttentionTile& a, int64_t partition, Work& work) { attend_tiles<false>(a, partition, work); }
  static void add(const AttentionTile& a, int64_t partition, Work& work) { attend_tiles<true>(a, partition, work); }
};
