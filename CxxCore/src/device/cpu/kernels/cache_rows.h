// Kernel source: rows of one KV head in a paged bf16 cache, and prefetching them.

// Address of one cache row.
PAGODA_INLINE const std::byte* row_at(const KvCache& cache, const AttentionTile& a, int64_t position) {
  const int64_t block = position / a.block_size, offset = position - block * a.block_size;
  return static_cast<const std::byte*>(cache.data) +
         (a.blocks[block] * cache.block_stride + offset * cache.row_stride) * 2;
}

// Calls `use(position, row)` for a range of positions, block by block: a division per row took a sixth of the time of
// one query.
template <class Use>
PAGODA_INLINE void for_rows(const KvCache& cache, const AttentionTile& a, Range positions, Use use) {
  for (int64_t position = positions.begin; position < positions.end;) {
    const std::byte* row = row_at(cache, a, position);
    int64_t end = position + a.block_size - position % a.block_size;
    if (end > positions.end) end = positions.end;
    for (; position < end; ++position, row += cache.row_stride * 2) use(position, row);
  }
}

// Prefetches rows a few cache lines at a time between products: all at once would exhaust the core's outstanding misses
// and stall it. Takes a line from each quarter of the rows in turn: the hardware prefetcher then follows four streams
// instead of one, which took one query of 16k positions from 57 to 71 % of the memory bandwidth (two streams: 60,
// eight: 67).
constexpr int64_t kStreams = 4;
struct Ahead {
  const std::byte* rows[kPartition];
  int64_t num_rows, quarter;  // quarter: rows per stream
  int64_t row, at;            // next row of each stream, and the byte offset in it
  int64_t bytes;              // per row
};
PAGODA_INLINE void start(Ahead& ahead, const KvCache& cache, const AttentionTile& a, Range positions) {
  ahead.num_rows = ahead.row = ahead.at = 0;
  ahead.bytes = a.dim * 2;
  for_rows(cache, a, positions,
           [&](int64_t, const std::byte* row) PAGODA_LAMBDA { ahead.rows[ahead.num_rows++] = row; });
  ahead.quarter = (ahead.num_rows + kStreams - 1) / kStreams;
}
// Prefetches a line of each stream, `times` times.
PAGODA_INLINE void fetch(Ahead& ahead, int64_t times) {
  for (; times > 0 && ahead.row < ahead.quarter; --times) {
    for (int64_t i = ahead.row; i < ahead.num_rows; i += ahead.quarter)
      _mm_prefetch(ahead.rows[i] + ahead.at, _MM_HINT_T1);
    ahead.at += 64;
    if (ahead.at < ahead.bytes) continue;
    ahead.at = 0;
    ++ahead.row;
  }
}
// `times` for each of `calls` fetch() calls, so that together they cover the remaining rows.
PAGODA_INLINE int64_t times_of(const Ahead& ahead, int64_t calls) {
  return ((ahead.quarter - ahead.row) * ahead.bytes / 64 + calls - 1) / calls;
}
