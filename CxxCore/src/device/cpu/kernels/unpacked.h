// Kernel source: 4-bit weights times many rows: a range of K is unpacked to int8 once and then multiplied with all
// rows. Sums are stored between ranges, which changes no bit: integers are exact.

constexpr int64_t kMinUnpackRows = 2 * kInt8Rows + 1;  // fewer rows unpack on the fly
constexpr int64_t kUnpackColumns = 512;                // kInt8Blocks blocks of this take at most two thirds of L1
constexpr int64_t kUnpackBytes = kUnpackColumns * kBlockChannels;  // per block
constexpr int64_t kWaitingRows = 256;
constexpr int64_t kWaitingBytes = kWaitingRows * kInt8Blocks * kBlockChannels * 4;
static_assert(kWaitingBytes + kInt8Blocks * kUnpackBytes <= kPackedScratch && kWaitingRows % kInt8Rows == 0);

// Columns [begin, end) of some blocks at `weights` in the form dot() takes, kUnpackBytes per block.
struct ColumnRange {
  int64_t block, begin, end;
  bool is_last;
  std::byte* weights;
};

template <int Blocks>
struct KeepLines {
  const ColumnRange& range;
  [[gnu::always_inline]] inline void add(const Bytes (&w)[Blocks], int64_t column) {
    for (int j = 0; j < Blocks; ++j)
      __builtin_memcpy(range.weights + j * kUnpackBytes + (column - range.begin) * kBlockChannels, &w[j], 64);
  }
};

// `waiting`: the spilled sums of rows [m, m + Rows) and these blocks.
template <int Rows, int Blocks>
static void multiply_range(const PackedTile& t, const ColumnRange& range, int64_t m, std::byte* waiting) {
  IntegerSums<Rows, Blocks> all(t, m, range.begin);
  if (range.begin > 0) __builtin_memcpy(all.sums, waiting, sizeof all.sums);
  for (int64_t column = 0; column < range.end - range.begin; column += 4) {
    Bytes w[Blocks];
    for (int j = 0; j < Blocks; ++j) w[j] = load_as<Bytes>(range.weights + j * kUnpackBytes + column * kBlockChannels);
    all.add(w, column);
  }
  if (range.is_last) all.finish(t, m, range.block);
  else __builtin_memcpy(waiting, all.sums, sizeof all.sums);
}

// Blocks [block, block + Blocks) for rows [begin, end).
template <int Blocks>
static void multiply_unpacked(const PackedTile& t, int64_t block, int64_t begin, int64_t end) {
  const int64_t columns = t.groups * kPackedColumns;
  for (int64_t column = 0; column < columns; column += kUnpackColumns) {
    const int64_t until = column + kUnpackColumns < columns ? column + kUnpackColumns : columns;
    const ColumnRange range{block, column, until, until == columns, t.scratch + kWaitingBytes};
    KeepLines<Blocks> keep{range};
    for (int64_t c = column; c < until; c += kChunk) Int4Weights::lines<Blocks>(t, block, c, keep);
    over_rows(begin, end, [&]<int Rows>(int64_t m) PAGODA_LAMBDA {
      multiply_range<Rows, Blocks>(t, range, m, t.scratch + (m - begin) * Blocks * kBlockChannels * 4);
    });
  }
}

static void matmul_int4(const PackedTile& t) {
  if (t.m < kMinUnpackRows) return matmul_int8<Int4Weights>(t);
  for (int64_t begin = 0; begin < t.m; begin += kWaitingRows) {
    const int64_t end = begin + kWaitingRows < t.m ? begin + kWaitingRows : t.m;
    int64_t block = 0;
    for (; block + kInt8Blocks <= t.blocks; block += kInt8Blocks) multiply_unpacked<kInt8Blocks>(t, block, begin, end);
    for (; block < t.blocks; ++block) multiply_unpacked<1>(t, block, begin, end);
  }
}
