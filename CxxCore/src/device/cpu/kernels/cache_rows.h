// Kernel text: rows of one KV head in a paged bf16 cache, and fetching them before they are read.

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

// Rows that are read soon, fetched a few lines at a time between products: asked for all at once they fill the few
// reads that a core may have open, and it waits.
struct Ahead {
  const std::byte* rows[kPartition];
  int64_t row, end;   // the next one; all
  int64_t at, bytes;  // of a row
};
PAGODA_INLINE void start(Ahead& ahead, const KvCache& cache, const AttentionTile& a, Range positions) {
  ahead.row = ahead.end = ahead.at = 0;
  ahead.bytes = a.dim * 2;
  for_rows(cache, a, positions, [&](int64_t, const std::byte* row) PAGODA_LAMBDA { ahead.rows[ahead.end++] = row; });
}
PAGODA_INLINE void fetch(Ahead& ahead, int64_t lines) {
  for (; lines > 0 && ahead.row < ahead.end; --lines) {
    _mm_prefetch(ahead.rows[ahead.row] + ahead.at, _MM_HINT_T1);
    ahead.at += 64;
    if (ahead.at < ahead.bytes) continue;
    ahead.at = 0;
    ++ahead.row;
  }
}
// Lines of each of `calls` calls that fetch all of it.
PAGODA_INLINE int64_t lines_of(const Ahead& ahead, int64_t calls) {
  return ((ahead.end - ahead.row) * ahead.bytes / 64 + calls - 1) / calls;
}
