// Kernel text: attention over a bf16 cache on AMX tiles, for one query as for many. Queries and weights are rounded to
// bf16 as the cache is; scores, their maximum, weights and all sums are floats. Order: a score is summed over the head
// dim, a value over the positions of its partition, 32 at a time, as every bf16 product here (kernels.h, PackedTile);
// the total of the weights in four chains, position % 4. A weight that a query does not see is zero and changes
// nothing.

constexpr int64_t kQueryTiles = kMaxQueries / kTileQueries, kSteps = kPartition / kStepKeys;

struct TileWork : Partials {
  int64_t num_tiles;  // of 16 queries
  std::byte* q;       // [tile][dim / 32][16 pairs of dims][16 queries] pairs of bf16, times scale and log2 e
  std::byte* scores;  // [tile][kPartition][16 queries] floats; then, in the same place, weights
  std::byte* values;  // [kSteps][dim / 16][16 pairs of positions][16 dims] pairs of bf16
  std::byte* keys;    // [16][dim] bf16, where a block is shorter than that
  IntVec begin[kQueryTiles], end[kQueryTiles];  // places of the partition that each query sees
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
  work.keys = work.values + kPartition * a.dim * 2;
  pack_queries(a, work);
}

// What each query sees of the partition from `first` on; padding queries see nothing.
PAGODA_INLINE void see(const AttentionTile& a, int64_t first, TileWork& work) {
  for (int64_t j = 0; j < work.num_tiles * kTileQueries; ++j) {
    const int64_t end = a.first_position + j / a.num_heads + 1 - first, begin = a.window > 0 ? end - a.window : 0;
    const bool is_query = j < work.num_queries;
    work.begin[j / kTileQueries][j % kTileQueries] = static_cast<int32_t>(begin > 0 ? begin : 0);
    work.end[j / kTileQueries][j % kTileQueries] =
        static_cast<int32_t>(!is_query || end < 0 ? 0 : (end < kPartition ? end : kPartition));
  }
}

// A row of the cache.
PAGODA_INLINE const std::byte* row_at(const KvCache& cache, const AttentionTile& a, int64_t position) {
  const int64_t block = position / a.block_size, place = position - block * a.block_size;
  return static_cast<const std::byte*>(cache.data) +
         (a.blocks[block] * cache.block_stride + place * cache.place_stride) * 2;
}

// Calls `use(position, row)` for a range of positions. Goes block by block: a division for each row took a sixth of the
// time of one query.
template <class Use>
PAGODA_INLINE void for_rows(const KvCache& cache, const AttentionTile& a, Range positions, Use use) {
  for (int64_t position = positions.begin; position < positions.end;) {
    const std::byte* row = row_at(cache, a, position);
    int64_t end = position + a.block_size - position % a.block_size;
    if (end > positions.end) end = positions.end;
    for (; position < end; ++position, row += cache.place_stride * 2) use(position, row);
  }
}

PAGODA_INLINE void fetch_rows(const KvCache& cache, const AttentionTile& a, Range positions) {
  for_rows(cache, a, positions, [&](int64_t, const std::byte* row) PAGODA_LAMBDA {
    for (int64_t i = 0; i < a.dim * 2; i += 64) _mm_prefetch(row + i, _MM_HINT_T1);
  });
}

struct KeyTile {
  const std::byte* rows;
  int64_t stride;  // bytes
};

// 16 rows of keys from `position` on, a multiple of 16: as they lie in a block, or copied from several.
PAGODA_INLINE KeyTile keys_at(const AttentionTile& a, int64_t position, Range seen, TileWork& work) {
  const KvCache keys{a.k, a.k_block_stride, a.k_place_stride};
  if (a.block_size % 16 == 0) return {row_at(keys, a, position), a.k_place_stride * 2};
  for (int64_t i = position; i < position + 16; ++i) {
    const int64_t nearest = i < seen.begin ? seen.begin : (i < seen.end ? i : seen.end - 1);
    __builtin_memcpy(work.keys + (i - position) * a.dim * 2, row_at(keys, a, nearest), static_cast<size_t>(a.dim) * 2);
  }
  return {work.keys, a.dim * 2};
}

// Scores of all queries. Keys are the left factor: their rows lie in the cache as a tile wants them.
PAGODA_INLINE void score_tiles(const AttentionTile& a, int64_t first, Range seen, TileWork& work) {
  const KvCache values{a.v, a.v_block_stride, a.v_place_stride};
  for (int64_t position = seen.begin / 16 * 16; position < seen.end; position += 16) {
    const auto [k, stride] = keys_at(a, position, seen, work);
    fetch_rows(values, a,
               {position > seen.begin ? position : seen.begin, position + 16 < seen.end ? position + 16 : seen.end});
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
        if (!is_pair) continue;
        _tile_loadd(3, q + a.dim / 32 * kTile, 64);
        _tile_dpbf16ps(1, 2, 3);
      }
      _tile_stored(0, scores, 64);
      if (is_pair) _tile_stored(1, scores + kScoreTile, 64);
    }
  }
}

// Values of two positions side by side, for the step and pair they belong to. Positions nobody sees count as zero: what
// an earlier owner of the block left there may not be finite.
PAGODA_INLINE void pack_pair(const std::byte* even, const std::byte* odd, int64_t dim, std::byte* to) {
  const __m512i order = (__m512i)(LongVec){0, 4, 1, 5, 2, 6, 3, 7};
  for (int64_t d = 0; d < dim; d += 32, to += 2 * kTile) {
    const __m512i e = even ? _mm512_permutexvar_epi64(order, _mm512_loadu_si512(even + d * 2)) : _mm512_setzero_si512();
    const __m512i o = odd ? _mm512_permutexvar_epi64(order, _mm512_loadu_si512(odd + d * 2)) : _mm512_setzero_si512();
    _mm512_storeu_si512(to, _mm512_unpacklo_epi16(e, o));
    _mm512_storeu_si512(to + kTile, _mm512_unpackhi_epi16(e, o));
  }
}

PAGODA_INLINE void pack_values(const AttentionTile& a, int64_t first, Range places, Range seen, TileWork& work) {
  const KvCache keys{a.k, a.k_block_stride, a.k_place_stride}, values{a.v, a.v_block_stride, a.v_place_stride};
  const std::byte* rows[kPartition] = {};
  for_rows(values, a, seen,
           [&](int64_t position, const std::byte* row) PAGODA_LAMBDA { rows[position - first] = row; });
  const int64_t end = a.first_position + a.rows;
  for (int64_t place = places.begin; place < places.end; place += 2) {
    const int64_t next = first + place + kPartition;
    if (place % 16 == 0) fetch_rows(keys, a, {next, next + 16 < end ? next + 16 : end});
    pack_pair(rows[place], rows[place + 1], a.dim,
              work.values + place / kStepKeys * a.dim / 16 * kTile + place % kStepKeys / 2 * 64);
  }
}

// The partial's sums of values, 32 dims at a time.
PAGODA_INLINE void add_tiles(const AttentionTile& a, Range places, TileWork& work) {
  for (int64_t d = 0; d < a.dim; d += 32)
    for (int64_t t = 0; t < work.num_tiles; ++t) {
      _tile_zero(0);
      _tile_zero(1);
      for (int64_t step = places.begin / kStepKeys; step * kStepKeys < places.end; ++step) {
        const std::byte* v = work.values + (step * a.dim + d) / 16 * kTile;
        _tile_loadd(2, work.scores + t * kScoreTile + step * kTile, 64);
        _tile_loadd(3, v, 64);
        _tile_dpbf16ps(0, 2, 3);
        _tile_loadd(3, v + kTile, 64);
        _tile_dpbf16ps(1, 2, 3);
      }
      float* out = work.part.out + t * kTileQueries * work.padded + d;
      const int64_t rows = work.num_queries - t * kTileQueries;
      if (rows >= kTileQueries) {
        _tile_stored(0, out, work.padded * 4);
        _tile_stored(1, out + 16, work.padded * 4);
        continue;
      }
      alignas(64) float sums[2][kTileQueries][16];
      _tile_stored(0, sums[0], 64);
      _tile_stored(1, sums[1], 64);
      for (int64_t j = 0; j < rows; ++j)
        for (int half = 0; half < 2; ++half) store(out + j * work.padded + half * 16, load(sums[half][j]));
    }
}

template <class Lanes>
PAGODA_INLINE void weigh(Range places, TileWork& work) {
  for (int64_t t = 0; t < work.num_tiles; ++t)
    weigh_tile<Lanes>(work.scores + t * kScoreTile, places, work.begin[t], work.end[t],
                      work.part.max + t * kTileQueries, work.part.total + t * kTileQueries);
}

static void attend_tiles(const AttentionTile& a, int64_t partition, TileWork& work) {
  const int64_t first = partition * kPartition;
  const Range seen = reach(a, partition);
  if (is_empty(seen)) return clear(work.part, work);
  const Range places{(seen.begin - first) / kStepKeys * kStepKeys,
                     (seen.end - first + kStepKeys - 1) / kStepKeys * kStepKeys};
  configure_tiles(16);
  see(a, first, work);
  score_tiles(a, first, seen, work);
  if (work.num_queries <= 4) weigh<FewQueries>(places, work);
  else weigh<ManyQueries>(places, work);
  pack_values(a, first, places, seen, work);
  add_tiles(a, places, work);
  _tile_release();
}

struct TileAttention {
  using Work = TileWork;
  static void start(const AttentionTile& a, Work& work) { start_tiles(a, work); }
  static void attend(const AttentionTile& a, int64_t partition, Work& work) { attend_tiles(a, partition, work); }
};
