// Kernel source: rows of the paged cache: writing int8 rows, and chunks of 32 positions as attention reads them.

// scale = largest magnitude / 127, elements rounded to nearest even. A row with a non-finite number gets scale NaN, so
// that it propagates as it would from a float cache.
static void quantize_row(const float* from, int64_t n, void* to) {
  Vec magnitudes = {}, poison = {};
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec v = load_up_to(from + i, n - i), magnitude = v < splat(0.0f) ? -v : v;
    magnitudes = magnitude > magnitudes ? magnitude : magnitudes;
    poison += v * splat(0.0f);
  }
  const float most = largest(magnitudes);
  const bool is_zero = !(most > 0x1p-100f);  // 127 / most would overflow
  const Vec inverse = splat(is_zero ? 0.0f : 127.0f / most), magic = splat(0x1.8p23f);
  int8_t* row = static_cast<int8_t*>(to);
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec rounded = load_up_to(from + i, n - i) * inverse + magic;  // the integer is in the low bits
    const ByteVec bytes = __builtin_convertvector(__builtin_bit_cast(IntVec, rounded), ByteVec);
    __builtin_memcpy(row + i, &bytes, static_cast<size_t>(n - i < kLanes ? n - i : kLanes));
  }
  const float scale = (is_zero ? 0.0f : most / 127.0f) + sum(poison);
  __builtin_memcpy(row + kv_scale_offset(n), &scale, sizeof scale);
}

PAGODA_INLINE bool is_same(Range a, Range b) { return a.begin == b.begin && a.end == b.end; }

// Keys or values of 32 positions. Positions that the tile does not see repeat its first row.
template <class T>
struct RowChunk {
  const T* rows[kChunkPositions];
  alignas(64) float scales[kChunkPositions];  // 1 unless T is I8
};

// Offsets [begin, end) of the chunk that starts at `first_position`.
template <class T>
PAGODA_INLINE void locate(const KvCache& cache, const AttentionTile& a, int64_t first_position, Range offsets,
                          RowChunk<T>& chunk) {
  int64_t block = (first_position + offsets.begin) / a.block_size,
          offset = first_position + offsets.begin - block * a.block_size;
  for (int64_t i = offsets.begin; i < offsets.end; ++i) {
    const T* row = static_cast<const T*>(cache.data) + a.blocks[block] * cache.block_stride + offset * cache.row_stride;
    chunk.rows[i] = row;
    if constexpr (sizeof(T) == 1) chunk.scales[i] = load_as<float>(row + kv_scale_offset(a.dim));
    else chunk.scales[i] = 1.0f;
    if (++offset == a.block_size) ++block, offset = 0;
  }
  for (int64_t i = 0; i < kChunkPositions; ++i)
    if (i < offsets.begin || i >= offsets.end) {
      chunk.rows[i] = chunk.rows[offsets.begin];
      chunk.scales[i] = 0.0f;
    }
}

// The same chunk with its rows as floats in `copies` [kChunkPositions][padded], zero-padded.
template <class T>
PAGODA_INLINE void widen_rows(const RowChunk<T>& from, Range offsets, int64_t dim, int64_t padded, float* copies,
                              RowChunk<float>& to) {
  for (int64_t i = offsets.begin; i < offsets.end; ++i)
    for (int64_t d = 0; d < padded; d += kLanes) store(copies + i * padded + d, load_up_to(from.rows[i] + d, dim - d));
  for (int64_t i = 0; i < kChunkPositions; ++i) {
    to.rows[i] = copies + (i < offsets.begin || i >= offsets.end ? offsets.begin : i) * padded;
    to.scales[i] = from.scales[i];
  }
}

// Prefetches the rows of the next stage, a few cache lines with each step of this one. Decode is memory bound, and a
// core reads twice as fast from four pages in parallel as from one: so four distant rows take turns.
template <class T>
struct Ahead {
  static constexpr int64_t kStreams = 4, kLine = 64 / static_cast<int64_t>(sizeof(T));  // elements
  const T* const* rows;  // of a chunk; null: nothing to prefetch
  int64_t dim;
  int64_t row = 0, d = 0;  // next line of each stream

  [[gnu::always_inline]] static inline void fetch(Ahead& a) {
    if (a.rows == nullptr) return;
    for (int64_t i = 0; i < kStreams; ++i) __builtin_prefetch(a.rows[a.row + i * (kChunkPositions / kStreams)] + a.d);
    a.d += kLine;
    if (a.d < a.dim) return;
    a.d = 0;
    if (++a.row == kChunkPositions / kStreams) a.rows = nullptr;
  }
};
