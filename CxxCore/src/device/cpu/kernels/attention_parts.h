// Kernel source shared by all attention variants: partial results per partition of 256 absolute positions, merged in
// order, and the loop over partitions. A variant computes the partial result of a partition or adds it to others.

struct Range {
  int64_t begin, end;
};
PAGODA_INLINE bool is_empty(Range r) { return r.begin >= r.end; }

struct KvCache {
  const void* data;  // at the KV head
  int64_t block_stride, row_stride;
};

struct Partial {
  float *max, *total, *out;  // [kMaxQueries], [kMaxQueries], [num_queries][padded]
};
PAGODA_INLINE Partial partial_at(float* p) { return {p, p + kMaxQueries, p + 2 * kMaxQueries}; }

// Running sums of a tile's queries; the first member of each variant's work struct.
struct Partials {
  int64_t num_queries, key_padded, padded;  // dims of keys and of values rounded up to whole vectors
  Partial part, merged;
  alignas(64) float old_factors[kMaxQueries], new_factors[kMaxQueries];  // merge factors
};

PAGODA_INLINE void clear(const Partial& partial, const Partials& work) {
  for (int64_t j = 0; j < kMaxQueries; j += kLanes) {
    store(partial.max + j, splat(-__builtin_inff()));
    store(partial.total + j, Vec{});
  }
  for (int64_t i = 0; i < work.num_queries * work.padded; i += kLanes) store(partial.out + i, Vec{});
}

// Places both partials at the start of the tile's scratch; returns the memory after them.
PAGODA_INLINE float* place_partials(const AttentionTile& a, Partials& work) {
  work.num_queries = a.rows * a.num_heads;
  work.key_padded = (a.dim + kLanes - 1) / kLanes * kLanes;
  work.padded = (a.value_dim + kLanes - 1) / kLanes * kLanes;
  const int64_t size = partial_floats(work.num_queries, a.value_dim);
  work.part = partial_at(a.scratch);
  work.merged = partial_at(a.scratch + size);
  return a.scratch + 2 * size;
}

PAGODA_INLINE const float* query(const AttentionTile& a, int64_t j) {
  return a.q + j / a.num_heads * a.q_row_stride + j % a.num_heads * a.q_head_stride;
}

// Positions visible to any row of the tile.
PAGODA_INLINE Range reach(const AttentionTile& a) {
  const int64_t oldest = a.window > 0 && a.first_position >= a.window ? a.first_position - a.window + 1 : 0;
  return {oldest, a.first_position + (a.is_causal ? a.rows : 1)};
}
// The part of a partition visible to any row of the tile.
PAGODA_INLINE Range reach(const AttentionTile& a, int64_t partition) {
  const Range seen = reach(a);
  const int64_t begin = partition * kPartition, end = begin + kPartition;
  return {seen.begin > begin ? seen.begin : begin, seen.end < end ? seen.end : end};
}

// Merges the next partition's totals (not its sums of values) into the previous ones; a query that sees nothing there
// is unchanged.
PAGODA_INLINE void merge_totals(const Partial& part, Partials& work) {
  for (int64_t j = 0; j < work.num_queries; j += kLanes) {
    const Vec old_max = load(work.merged.max + j), new_max = load(part.max + j),
              max = old_max > new_max ? old_max : new_max;
    const Vec old_factor = exp(old_max - max), new_factor = exp(new_max - max), total = load(part.total + j),
              old_total = load(work.merged.total + j);
    store(work.old_factors + j, old_factor);
    store(work.new_factors + j, new_factor);
    store(work.merged.max + j, max);
    store(work.merged.total + j, total == Vec{} ? old_total : fma(total, new_factor, old_total * old_factor));
  }
}
// Merges one vector of a query's sums; `total` is that of its partition.
PAGODA_INLINE void merge_sums(const Partials& work, int64_t j, float total, Vec sums, float* merged) {
  if (total == 0.0f) return;
  store(merged, fma(sums, splat(work.new_factors[j]), load(merged) * splat(work.old_factors[j])));
}
PAGODA_INLINE void merge(const Partial& part, Partials& work) {
  merge_totals(part, work);
  for (int64_t j = 0; j < work.num_queries; ++j)
    for (int64_t i = j * work.padded; i < (j + 1) * work.padded; i += kLanes)
      merge_sums(work, j, part.total[j], load(part.out + i), work.merged.out + i);
}

PAGODA_INLINE void finish(const AttentionTile& a, const Partials& work) {
  for (int64_t j = 0; j < work.num_queries; ++j) {
    float* out = a.out + j / a.num_heads * a.out_row_stride + j % a.num_heads * a.out_head_stride;
    Vec total = splat(work.merged.total[j]);
    if (a.sinks) total = total + exp(splat(a.sinks[j % a.num_heads]) - splat(work.merged.max[j]));
    for (int64_t d = 0; d < a.value_dim; d += kLanes)
      store_up_to(out + d, load(work.merged.out + j * work.padded + d) / total, a.value_dim - d);
  }
}

template <class Form>
static void attention(const AttentionTile& a) {
  typename Form::Work work;
  Form::start(a, work);
  clear(work.merged, work);
  const Range seen = reach(a);
  for (int64_t partition = seen.begin / kPartition; partition * kPartition < seen.end; ++partition) {
    Form::add(a, partition, work);
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
