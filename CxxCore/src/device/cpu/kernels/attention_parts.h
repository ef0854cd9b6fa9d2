// Kernel text: what all forms of attention share: partials of a partition, which are merged in order, and the walk over
// partitions of 256 absolute positions. A form fills the partial of one partition.

struct Range {
  int64_t begin, end;
};
PAGODA_INLINE bool is_empty(Range r) { return r.begin >= r.end; }

struct KvCache {
  const void* data;  // at the KV head
  int64_t block_stride, place_stride;
};

struct Partial {
  float *max, *total, *out;  // [kMaxQueries], [kMaxQueries], [num_queries][padded]
};
PAGODA_INLINE Partial partial_at(float* p) { return {p, p + kMaxQueries, p + 2 * kMaxQueries}; }

// Sums of a tile's queries; the first member of what a form works with.
struct Partials {
  int64_t num_queries, padded;  // padded: head dim up to whole vectors
  Partial part, merged;
  alignas(64) float old_factors[kLanes], new_factors[kLanes];  // of merge()
};

PAGODA_INLINE void clear(const Partial& partial, const Partials& work) {
  for (int64_t j = 0; j < kMaxQueries; j += kLanes) {
    store(partial.max + j, splat(-__builtin_inff()));
    store(partial.total + j, Vec{});
  }
  for (int64_t i = 0; i < work.num_queries * work.padded; i += kLanes) store(partial.out + i, Vec{});
}

// Both partials at the start of the tile's scratch; returns what lies behind them.
PAGODA_INLINE float* place_partials(const AttentionTile& a, Partials& work) {
  work.num_queries = a.rows * a.num_heads;
  work.padded = (a.dim + kLanes - 1) / kLanes * kLanes;
  const int64_t size = partial_floats(work.num_queries, a.dim);
  work.part = partial_at(a.scratch);
  work.merged = partial_at(a.scratch + size);
  return a.scratch + 2 * size;
}

PAGODA_INLINE const float* query(const AttentionTile& a, int64_t j) {
  return a.q + j / a.num_heads * a.q_row_stride + j % a.num_heads * a.q_head_stride;
}

// Positions that some row of the tile sees.
PAGODA_INLINE Range reach(const AttentionTile& a) {
  const int64_t oldest = a.window > 0 && a.first_position >= a.window ? a.first_position - a.window + 1 : 0;
  return {oldest, a.first_position + a.rows};
}
// The part of a partition that some row of the tile sees.
PAGODA_INLINE Range reach(const AttentionTile& a, int64_t partition) {
  const Range seen = reach(a);
  const int64_t begin = partition * kPartition, end = begin + kPartition;
  return {seen.begin > begin ? seen.begin : begin, seen.end < end ? seen.end : end};
}

// Adds the next partition to those before it; a query that sees nothing there stays as it is.
PAGODA_INLINE void merge(const Partial& part, Partials& work) {
  const Partial& into = work.merged;
  for (int64_t j = 0; j < work.num_queries; ++j) {
    if (j % kLanes == 0) {  // factors of 16 queries at a time: what the sums are multiplied with
      const Vec old_max = load(into.max + j), new_max = load(part.max + j), max = old_max > new_max ? old_max : new_max;
      store(work.old_factors, exp(old_max - max));
      store(work.new_factors, exp(new_max - max));
      store(into.max + j, max);
    }
    if (part.total[j] == 0.0f) continue;
    const Vec old_factor = splat(work.old_factors[j % kLanes]), new_factor = splat(work.new_factors[j % kLanes]);
    into.total[j] = fma(splat(part.total[j]), new_factor, splat(into.total[j]) * old_factor)[0];
    for (int64_t i = j * work.padded; i < (j + 1) * work.padded; i += kLanes)
      store(into.out + i, fma(load(part.out + i), new_factor, load(into.out + i) * old_factor));
  }
}

PAGODA_INLINE void finish(const AttentionTile& a, const Partials& work) {
  for (int64_t j = 0; j < work.num_queries; ++j) {
    float* out = a.out + j / a.num_heads * a.out_row_stride + j % a.num_heads * a.out_head_stride;
    const Vec total = splat(work.merged.total[j]);
    for (int64_t d = 0; d < a.dim; d += kLanes)
      store_up_to(out + d, load(work.merged.out + j * work.padded + d) / total, a.dim - d);
  }
}

template <class Form>
static void attention(const AttentionTile& a) {
  typename Form::Work work;
  Form::start(a, work);
  clear(work.merged, work);
  const Range seen = reach(a);
  for (int64_t partition = seen.begin / kPartition; partition * kPartition < seen.end; ++partition) {
    Form::attend(a, partition, work);
    merge(work.part, work);
  }
  finish(a, work);
}

template <class Form>
static void attend_partition(const AttentionTile& a, int64_t partition, float* partial) {
  typename Form::Work work;
  Form::start(a, work);
  work.part = partial_at(partial);
  Form::attend(a, partition, work);
}
