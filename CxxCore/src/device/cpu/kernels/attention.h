// Kernel text: attention of a few query vectors over the paged cache, 32 positions at a time (online softmax).
// Scores: 16 lanes over the head dim, folded. Sums over positions: in order of position. Neither depends on how many
// queries share the step. Needs kScoreQueries, kScorePositions (divides 16), kValueQueries, kValueVectors.

struct Piece {
  const float* rows[kPiece];  // K or V of each position, `padded` floats; places outside the range repeat its first row
};

// Positions [begin, end) of a piece, as floats: in place when the cache holds whole float vectors, else in `scratch`.
template <class T>
static void gather(const void* cache, int64_t block_stride, int64_t place_stride, const AttentionTile& a,
                   int64_t first_position, int64_t begin, int64_t end, int64_t padded, float* scratch, Piece& piece) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t position = first_position + i;
    const T* row = static_cast<const T*>(cache) + a.blocks[position / a.block_size] * block_stride +
                   position % a.block_size * place_stride;
    if constexpr (sizeof(T) == sizeof(float)) {
      if (a.dim == padded) {
        piece.rows[i] = row;
        continue;
      }
    }
    float* copy = scratch + i * padded;
    for (int64_t d = 0; d < padded; d += kLanes) store(copy + d, load_up_to(row + d, a.dim - d));
    piece.rows[i] = copy;
  }
  for (int64_t i = 0; i < begin; ++i) piece.rows[i] = piece.rows[begin];
  for (int64_t i = end; i < kPiece; ++i) piece.rows[i] = piece.rows[begin];
}

// scores[query][position] for Queries queries and all positions of a piece.
template <int Queries>
static void score(const float* q, int64_t padded, const Piece& piece, float scale, float (*scores)[kPiece]) {
  for (int group = 0; group < kPiece; group += kLanes) {
    Vec lanes[Queries][kLanes];
    for (int first = 0; first < kLanes; first += kScorePositions) {
      Vec acc[Queries][kScorePositions] = {};
      for (int64_t d = 0; d < padded; d += kLanes) {
        Vec k[kScorePositions];
        for (int i = 0; i < kScorePositions; ++i) k[i] = load(piece.rows[group + first + i] + d);
        for (int j = 0; j < Queries; ++j) {
          const Vec qv = load(q + j * padded + d);
          for (int i = 0; i < kScorePositions; ++i) acc[j][i] = fma(qv, k[i], acc[j][i]);
        }
      }
      for (int j = 0; j < Queries; ++j)
        for (int i = 0; i < kScorePositions; ++i) lanes[j][first + i] = acc[j][i];
    }
    for (int j = 0; j < Queries; ++j) store(scores[j] + group, sums(lanes[j]) * splat(scale));
  }
}

struct Softmax {
  float max, total, decay;  // decay: what earlier sums are multiplied with in this piece
};

// Turns the scores of visible positions [begin, end) into weights, the others into zero.
PAGODA_INLINE void weigh(float* scores, int64_t begin, int64_t end, Softmax& state) {
  const IntVec lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const Vec hidden = splat(-__builtin_inff());
  Vec s[kPiece / kLanes];
  float max = state.max;
  for (int i = 0; i < kPiece / kLanes; ++i) {
    const IntVec place = lane + static_cast<int32_t>(i * kLanes);
    const IntVec seen = (place >= static_cast<int32_t>(begin)) & (place < static_cast<int32_t>(end));
    s[i] = seen ? load(scores + i * kLanes) : hidden;
    const float m = largest(s[i]);
    max = m > max ? m : max;
  }
  Vec total = {};
  for (int i = 0; i < kPiece / kLanes; ++i) {
    s[i] = exp(s[i] - splat(max));
    total += s[i];
    store(scores + i * kLanes, s[i]);
  }
  state.decay = exp(splat(state.max - max))[0];
  state.total = state.total * state.decay + sum(total);
  state.max = max;
}

// out = decay out + sum of weights times values, over [begin, end).
template <int Queries, int Vectors>
PAGODA_INLINE void add_values(const Piece& v, const float (*weights)[kPiece], const Softmax* state, int64_t begin,
                              int64_t end, int64_t padded, int64_t d, float* out) {
  Vec acc[Queries][Vectors];
  for (int j = 0; j < Queries; ++j)
    for (int i = 0; i < Vectors; ++i) acc[j][i] = load(out + j * padded + d + i * kLanes) * splat(state[j].decay);
  for (int64_t p = begin; p < end; ++p) {
    Vec value[Vectors];
    for (int i = 0; i < Vectors; ++i) value[i] = load(v.rows[p] + d + i * kLanes);
    for (int j = 0; j < Queries; ++j)
      for (int i = 0; i < Vectors; ++i) acc[j][i] = fma(splat(weights[j][p]), value[i], acc[j][i]);
  }
  for (int j = 0; j < Queries; ++j)
    for (int i = 0; i < Vectors; ++i) store(out + j * padded + d + i * kLanes, acc[j][i]);
}

template <int Queries>
static void accumulate(const Piece& v, const float (*weights)[kPiece], const Softmax* state, int64_t begin, int64_t end,
                       int64_t padded, float* out) {
  int64_t d = 0;
  for (; d + kValueVectors * kLanes <= padded; d += kValueVectors * kLanes)
    add_values<Queries, kValueVectors>(v, weights, state, begin, end, padded, d, out);
  for (; d < padded; d += kLanes) add_values<Queries, 1>(v, weights, state, begin, end, padded, d, out);
}

struct Range {
  int64_t begin, end;  // places of the piece that a query sees
};
PAGODA_INLINE bool is_empty(Range r) { return r.begin >= r.end; }
PAGODA_INLINE bool is_same(Range a, Range b) { return a.begin == b.begin && a.end == b.end; }

struct AttentionWork {
  int64_t num_queries, padded;
  float *q, *out;  // [num_queries][padded]
  float* copies;   // [kPiece][padded]
  Softmax state[kMaxQueries];
  Range visible[kMaxQueries];
  alignas(64) float scores[kMaxQueries][kPiece];
};

PAGODA_INLINE void start(const AttentionTile& a, AttentionWork& work) {
  work.num_queries = a.rows * a.num_heads;
  work.padded = (a.dim + kLanes - 1) / kLanes * kLanes;
  work.q = a.scratch;
  work.out = work.q + kMaxQueries * work.padded;
  work.copies = work.out + kMaxQueries * work.padded;
  for (int64_t j = 0; j < work.num_queries; ++j) {
    const float* q = a.q + j / a.num_heads * a.q_row_stride + j % a.num_heads * a.q_head_stride;
    for (int64_t d = 0; d < work.padded; d += kLanes) {
      store(work.q + j * work.padded + d, load_up_to(q + d, a.dim - d));
      store(work.out + j * work.padded + d, Vec{});
    }
    work.state[j] = {-__builtin_inff(), 0.0f, 0.0f};
  }
}

PAGODA_INLINE void see(const AttentionTile& a, int64_t first_position, AttentionWork& work) {
  for (int64_t j = 0; j < work.num_queries; ++j) {
    const int64_t end = a.first_position + j / a.num_heads + 1 - first_position,
                  begin = a.window > 0 ? end - a.window : 0;
    work.visible[j] = {begin > 0 ? begin : 0, end < kPiece ? end : kPiece};
  }
}

PAGODA_INLINE void score_queries(const Piece& k, float scale, AttentionWork& work) {
  int64_t j = 0;
  for (; j + kScoreQueries <= work.num_queries; j += kScoreQueries)
    score<kScoreQueries>(work.q + j * work.padded, work.padded, k, scale, work.scores + j);
  for (; j < work.num_queries; ++j) score<1>(work.q + j * work.padded, work.padded, k, scale, work.scores + j);
  for (j = 0; j < work.num_queries; ++j)
    if (!is_empty(work.visible[j])) weigh(work.scores[j], work.visible[j].begin, work.visible[j].end, work.state[j]);
}

// Neighbours that see the same places share each load of a value.
PAGODA_INLINE void add_queries(const Piece& v, AttentionWork& work) {
  for (int64_t j = 0, next; j < work.num_queries; j = next) {
    const Range range = work.visible[j];
    next = j + 1;
    if (is_empty(range)) continue;
    while (next < work.num_queries && next - j < kValueQueries && is_same(work.visible[next], range)) ++next;
    if (next - j == kValueQueries) {
      accumulate<kValueQueries>(v, work.scores + j, work.state + j, range.begin, range.end, work.padded,
                                work.out + j * work.padded);
    } else {
      next = j + 1;
      accumulate<1>(v, work.scores + j, work.state + j, range.begin, range.end, work.padded,
                    work.out + j * work.padded);
    }
  }
}

template <class T>
static void attention(const AttentionTile& a) {
  AttentionWork work;
  start(a, work);
  const int64_t last_position = a.first_position + a.rows - 1;
  const int64_t oldest = a.window > 0 && a.first_position >= a.window ? a.first_position - a.window + 1 : 0;
  for (int64_t first = oldest / kPiece * kPiece; first <= last_position; first += kPiece) {
    const int64_t begin = oldest > first ? oldest - first : 0;
    const int64_t end = last_position + 1 - first < kPiece ? last_position + 1 - first : kPiece;
    see(a, first, work);
    Piece piece;
    gather<T>(a.k, a.k_block_stride, a.k_place_stride, a, first, begin, end, work.padded, work.copies, piece);
    score_queries(piece, a.scale, work);
    gather<T>(a.v, a.v_block_stride, a.v_place_stride, a, first, begin, end, work.padded, work.copies, piece);
    add_queries(piece, work);
  }
  for (int64_t j = 0; j < work.num_queries; ++j) {
    float* out = a.out + j / a.num_heads * a.out_row_stride + j % a.num_heads * a.out_head_stride;
    const Vec total = splat(work.state[j].total);
    for (int64_t d = 0; d < a.dim; d += kLanes)
      store_up_to(out + d, load(work.out + j * work.padded + d) / total, a.dim - d);
  }
}
