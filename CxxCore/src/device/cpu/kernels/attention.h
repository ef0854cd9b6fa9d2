// Kernel source: attention of a few queries over the paged cache: online softmax, 32 positions at a time, in partitions
// of 256 absolute positions, merged in order. Scores: 16 lanes over the head dim, then a horizontal sum. Sums over
// positions: in order of position. No order depends on how many queries or partitions share a task.
// Needs kScoreQueries, kScorePositions (divides 16), kValueQueries, kValueVectors.

// With few queries, widening a stored row in each pass is cheaper than keeping a float copy.
constexpr int64_t kDirectQueries = 8;

struct AttentionWork : Partials {
  float* q;       // [num_queries][key_padded]
  float* copies;  // [kChunkPositions][key_padded or padded]
  Range visible[kMaxQueries];
  alignas(64) float decay[kMaxQueries];  // factor for the partition's earlier sums in this chunk
  alignas(64) float scores[kMaxQueries][kChunkPositions];
};

// Reduces Count vectors of partial sums, Width lanes each, to one, in the order of sums().
template <int Width, int Count>
PAGODA_INLINE Vec fold_all(Vec* v) {
  if constexpr (Count == 1) {
    return v[0];
  } else {
    for (int i = 0; i < Count / 2; ++i) v[i] = fold<Width>(v[2 * i], v[2 * i + 1]);
    return fold_all<Width / 2, Count / 2>(v);
  }
}

// scores[query][position] for Queries queries and 16 positions of the chunk, starting at `group`.
template <int Queries, class T, class A>
static void score(const float* q, int64_t padded, const RowChunk<T>& k, int64_t group, Ahead<A>& ahead, float scale,
                  float (*scores)[kChunkPositions]) {
  Vec folded[Queries][kLanes / kScorePositions];
  for (int64_t first = 0; first < kLanes; first += kScorePositions) {
    Vec acc[Queries][kScorePositions] = {};
    for (int64_t d = 0; d < padded; d += kLanes) {
      if (d % Ahead<A>::kLine == 0) Ahead<A>::fetch(ahead);
      Vec key[kScorePositions];
      for (int i = 0; i < kScorePositions; ++i) key[i] = load(k.rows[group + first + i] + d);
      for (int j = 0; j < Queries; ++j) {
        const Vec qv = load(q + j * padded + d);
        for (int i = 0; i < kScorePositions; ++i) acc[j][i] = fma(qv, key[i], acc[j][i]);
      }
    }
    for (int j = 0; j < Queries; ++j) folded[j][first / kScorePositions] = fold_all<kLanes, kScorePositions>(acc[j]);
  }
  const Vec factor = splat(scale) * load(k.scales + group);
  for (int j = 0; j < Queries; ++j)
    store(scores[j] + group, fold_all<kLanes / kScorePositions, kLanes / kScorePositions>(folded[j]) * factor);
}

template <int Queries, class T, class A>
PAGODA_INLINE void score_up_to(int64_t count, const float* q, int64_t padded, const RowChunk<T>& k, int64_t group,
                               Ahead<A>& ahead, float scale, float (*scores)[kChunkPositions]) {
  if constexpr (Queries > 1)
    if (count < Queries) return score_up_to<Queries - 1>(count, q, padded, k, group, ahead, scale, scores);
  score<Queries>(q, padded, k, group, ahead, scale, scores);
}

// Queries vary fastest: the keys of 16 positions stay in L1 while the queries stream past.
template <class T, class A>
PAGODA_INLINE void score_queries(const RowChunk<T>& k, Ahead<A> ahead, float scale, AttentionWork& work) {
  for (int64_t group = 0; group < kChunkPositions; group += kLanes)
    for (int64_t j = 0; j < work.num_queries; j += kScoreQueries)
      score_up_to<kScoreQueries>(work.num_queries - j, work.q + j * work.key_padded, work.key_padded, k, group, ahead,
                                 scale, work.scores + j);
}

// Turns scores of visible positions into weights times the values' scales, and all others into zero. Decay: one exp for
// 16 queries.
PAGODA_INLINE void weigh(AttentionWork& work, const float* value_scales) {
  const IntVec lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  alignas(64) float max[kMaxQueries];
  for (int64_t j = 0; j < work.num_queries; ++j) {
    max[j] = work.part.max[j];
    for (int i = 0; i < kChunkPositions; i += kLanes) {
      const IntVec offset = lane + i;
      const IntVec seen = (offset >= static_cast<int32_t>(work.visible[j].begin)) &
                          (offset < static_cast<int32_t>(work.visible[j].end));
      const Vec s = seen ? load(work.scores[j] + i) : splat(-__builtin_inff());
      const float m = largest(s);
      max[j] = m > max[j] ? m : max[j];
      store(work.scores[j] + i, s);
    }
  }
  for (int64_t j = 0; j < work.num_queries; j += kLanes)
    store(work.decay + j, exp(load(work.part.max + j) - load(max + j)));
  for (int64_t j = 0; j < work.num_queries; ++j) {
    if (is_empty(work.visible[j])) continue;
    Vec total = {};
    for (int i = 0; i < kChunkPositions; i += kLanes) {
      const Vec weight = exp(load(work.scores[j] + i) - splat(max[j]));
      total += weight;
      store(work.scores[j] + i, weight * load(value_scales + i));
    }
    work.part.total[j] = work.part.total[j] * work.decay[j] + sum(total);
    work.part.max[j] = max[j];
  }
}

// out = decay out + sum of weights times values over the positions that query j sees, for Queries queries with equal
// visibility and Vectors vectors starting at d.
template <int Queries, int Vectors, class T, class A>
static void add_values(const RowChunk<T>& v, Ahead<A>& ahead, AttentionWork& work, int64_t j, int64_t d) {
  const int64_t padded = work.padded;
  const Range range = work.visible[j];
  const float(*weights)[kChunkPositions] = work.scores + j;
  float* out = work.part.out + j * padded + d;
  Vec acc[Queries][Vectors];
  for (int n = 0; n < Queries; ++n)
    for (int i = 0; i < Vectors; ++i) acc[n][i] = load(out + n * padded + i * kLanes) * splat(work.decay[j + n]);
  for (int64_t p = range.begin; p < range.end; ++p) {
    if (p % static_cast<int64_t>(4 / sizeof(A)) == 0) Ahead<A>::fetch(ahead);
    Vec value[Vectors];
    for (int i = 0; i < Vectors; ++i) value[i] = load(v.rows[p] + d + i * kLanes);
    for (int n = 0; n < Queries; ++n)
      for (int i = 0; i < Vectors; ++i) acc[n][i] = fma(splat(weights[n][p]), value[i], acc[n][i]);
  }
  for (int n = 0; n < Queries; ++n)
    for (int i = 0; i < Vectors; ++i) store(out + n * padded + i * kLanes, acc[n][i]);
}

template <int Queries, int Vectors, class T, class A>
PAGODA_INLINE void add_values_up_to(int64_t count, const RowChunk<T>& v, Ahead<A>& ahead, AttentionWork& work,
                                    int64_t j, int64_t d) {
  if constexpr (Queries > 1)
    if (count < Queries) return add_values_up_to<Queries - 1, Vectors>(count, v, ahead, work, j, d);
  add_values<Queries, Vectors>(v, ahead, work, j, d);
}

// Adjacent queries that see the same positions share each load of a value.
template <int Vectors, class T, class A>
PAGODA_INLINE void add_column(const RowChunk<T>& v, Ahead<A>& ahead, AttentionWork& work, int64_t d) {
  for (int64_t j = 0, next; j < work.num_queries; j = next) {
    next = j + 1;
    while (next < work.num_queries && next - j < kValueQueries && is_same(work.visible[next], work.visible[j])) ++next;
    if (!is_empty(work.visible[j])) add_values_up_to<kValueQueries, Vectors>(next - j, v, ahead, work, j, d);
  }
}

// Queries vary fastest, as in score_queries.
template <class T, class A>
PAGODA_INLINE void add_queries(const RowChunk<T>& v, Ahead<A> ahead, AttentionWork& work) {
  int64_t d = 0;
  for (; d + kValueVectors * kLanes <= work.padded; d += kValueVectors * kLanes)
    add_column<kValueVectors>(v, ahead, work, d);
  for (; d < work.padded; d += kLanes) add_column<1>(v, ahead, work, d);
}

static void cap_scores(float softcap, AttentionWork& work) {
  for (int64_t j = 0; j < work.num_queries; ++j)
    for (float& score : work.scores[j]) score = softcap * __builtin_tanhf(score / softcap);
}

PAGODA_INLINE void start_rows(const AttentionTile& a, AttentionWork& work) {
  work.q = place_partials(a, work);
  work.copies = work.q + work.num_queries * work.key_padded;
  for (int64_t j = 0; j < work.num_queries; ++j)
    for (int64_t d = 0; d < work.key_padded; d += kLanes)
      store(work.q + j * work.key_padded + d, load_up_to(query(a, j) + d, a.dim - d));
}

// Which of the positions [0, kChunkPositions) after `first_position` each query sees.
PAGODA_INLINE void see(const AttentionTile& a, int64_t first_position, AttentionWork& work) {
  for (int64_t j = 0; j < work.num_queries; ++j) {
    const int64_t row = a.is_causal ? j / a.num_heads : 0, end = a.first_position + row + 1 - first_position,
                  begin = a.window > 0 ? end - a.window : 0;
    work.visible[j] = {begin > 0 ? begin : 0, end < kChunkPositions ? end : kChunkPositions};
  }
}

PAGODA_INLINE Range offsets_of(Range positions, int64_t first) {
  const int64_t begin = positions.begin - first, end = positions.end - first;
  return {begin > 0 ? begin : 0, end < kChunkPositions ? end : kChunkPositions};
}

// Computes work.part from the positions of one partition that the tile sees.
template <class T>
static void attend_rows(const AttentionTile& a, int64_t partition, AttentionWork& work) {
  clear(work.part, work);
  const KvCache keys{a.k, a.k_block_stride, a.k_row_stride}, values{a.v, a.v_block_stride, a.v_row_stride};
  const bool is_whole = a.dim == work.key_padded && a.value_dim == work.padded;
  const bool is_direct = is_whole && (sizeof(T) == sizeof(float) || work.num_queries <= kDirectQueries);
  const Range seen = reach(a, partition);
  if (is_empty(seen)) return;
  int64_t first = seen.begin / kChunkPositions * kChunkPositions;
  RowChunk<T> k, v;
  locate(keys, a, first, offsets_of(seen, first), k);
  for (; first < seen.end; first += kChunkPositions) {
    const Range offsets = offsets_of(seen, first);
    const int64_t next = first + kChunkPositions;
    see(a, first, work);
    locate(values, a, first, offsets, v);
    RowChunk<float> copy;
    if (!is_direct) widen_rows(k, offsets, a.dim, work.key_padded, work.copies, copy);
    const Ahead<T> to_values{a.v == a.k ? nullptr : v.rows, a.value_dim};
    if (is_direct) score_queries(k, to_values, a.scale, work);
    else score_queries(copy, to_values, a.scale, work);
    if (a.softcap > 0) cap_scores(a.softcap, work);
    weigh(work, v.scales);
    if (next < seen.end) locate(keys, a, next, offsets_of(seen, next), k);
    if (!is_direct) widen_rows(v, offsets, a.value_dim, work.padded, work.copies, copy);
    const Ahead<T> to_keys{next < seen.end ? k.rows : nullptr, a.dim};
    if (is_direct) add_queries(v, to_keys, work);
    else add_queries(copy, to_keys, work);
  }
}

// Attention in float arithmetic, for any cache type.
template <class T>
struct RowAttention {
  using Work = AttentionWork;
  static void start(const AttentionTile& a, Work& work) { start_rows(a, work); }
  static void attend(const AttentionTile& a, int64_t partition, Work& work) { attend_rows<T>(a, partition, work); }
  static void add(const AttentionTile& a, int64_t partition, Work& work) {
    attend(a, partition, work);
    merge(work.part, work);
  }
};

static void merge_partials(const AttentionTile& a, float* partials, int64_t num_partials) {
  Partials work;
  place_partials(a, work);
  clear(work.merged, work);
  const int64_t size = partial_floats(work.num_queries, a.value_dim);
  for (int64_t i = 0; i < num_partials; ++i) merge(partial_at(partials + i * size), work);
  finish(a, work);
}
