// Kernel source for single rows: conversions, norms, rotation, gates, convolution.

template <class T>
static void widen(const void* from, int64_t n, float* to) {
  const T* p = static_cast<const T*>(from);
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA { store_up_to(to + i, load_up_to(p + i, count), count); });
}

template <class T>
static void narrow(const float* from, int64_t n, void* to) {
  T* p = static_cast<T*>(to);
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA { store_up_to(p + i, load_up_to(from + i, count), count); });
}

PAGODA_INLINE float sum_of_squares(const float* x, int64_t n) {
  Vec total = {};
  over(n, [&](int64_t i, int64_t count) PAGODA_LAMBDA {
    const Vec v = load_up_to(x + i, count);
    total = fma(v, v, total);
  });
  return sum(total);
}

PAGODA_INLINE float inverse_rms(const float* x, int64_t n, float eps) {
  return 1.0f / __builtin_elementwise_sqrt(sum_of_squares(x, n) / static_cast<float>(n) + eps);
}

static void rms_norm(const NormRow& r) {
  if (r.residual)
    over(r.n, [&](int64_t i, int64_t count) PAGODA_LAMBDA {
      store_up_to(r.x + i, load_up_to(r.x + i, count) + load_up_to(r.residual + i, count), count);
    });
  const Vec scale = splat(inverse_rms(r.x, r.n, r.eps));
  over(r.n, [&](int64_t i, int64_t count) PAGODA_LAMBDA {
    const Vec w = load_up_to(r.weight + i, count) + splat(r.weight_offset);
    store_up_to(r.out + i, load_up_to(r.x + i, count) * scale * w, count);
  });
}

static void norm_rope(const NormRow& r, const Rotation& rotation) {
  alignas(64) float normed[kMaxHeadDim];  // out may alias x
  NormRow to_scratch = r;
  to_scratch.out = normed;
  if (r.weight) rms_norm(to_scratch);
  else widen<float>(r.x, r.n, normed);
  const int64_t half = rotation.half;
  over(half, [&](int64_t i, int64_t count) PAGODA_LAMBDA {
    const Vec a = load_up_to(normed + i, count), b = load_up_to(normed + half + i, count);
    const Vec c = load_up_to(rotation.cos + i, count), s = load_up_to(rotation.sin + i, count);
    store_up_to(r.out + i, fma(a, c, -(b * s)), count);
    store_up_to(r.out + half + i, fma(b, c, a * s), count);
  });
  widen<float>(normed + 2 * half, r.n - 2 * half, r.out + 2 * half);
}

static void gated_norm(const NormRow& r, const float* z) {
  const Vec scale = splat(inverse_rms(r.x, r.n, r.eps));
  over(r.n, [&](int64_t i, int64_t count) PAGODA_LAMBDA {
    const Vec normed = load_up_to(r.x + i, count) * scale * load_up_to(r.weight + i, count);
    store_up_to(r.out + i, normed * silu(load_up_to(z + i, count)), count);
  });
}

static void sigmoid_gate(const float* x, const float* gate, int64_t n, float* out) {
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA {
    store_up_to(out + i, load_up_to(x + i, count) * sigmoid(load_up_to(gate + i, count)), count);
  });
}

static void silu_mul(const float* gate, const float* up, int64_t n, float* out) {
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA {
    store_up_to(out + i, silu(load_up_to(gate + i, count)) * load_up_to(up + i, count), count);
  });
}

// Rows are too far apart for the hardware prefetcher.
constexpr int64_t kConvAhead = 8;

// Taps are added oldest first. Rows in the outer loop: walking a column of a wide matrix touches a page per row.
static void conv(const ConvTile& c) {
  for (int64_t row = 0; row < c.rows; ++row) {
    const float* inputs[kMaxConvKernel];
    for (int64_t tap = 0; tap < c.kernel; ++tap) {
      const int64_t t = row + tap + 1 - c.kernel;
      inputs[tap] = t + c.rows_before < 0 ? c.tail + (c.position + t + c.tail_rows) % c.tail_rows * c.tail_stride
                                          : c.x + t * c.x_stride;
    }
    over(c.channels, [&](int64_t i, int64_t count) PAGODA_LAMBDA {
      __builtin_prefetch(c.x + (row + kConvAhead) * c.x_stride + i);
      Vec total = {};
      for (int64_t tap = 0; tap < c.kernel; ++tap)
        total = fma(load_up_to(c.weight + tap * c.weight_stride + i, count), load_up_to(inputs[tap] + i, count), total);
      store_up_to(c.out + row * c.out_stride + i, silu(total), count);
    });
  }
}

// Hadamard stages of strides 1, 2, 4 and 8 within a vector: each lane plus or minus its partner.
PAGODA_INLINE Vec rotate_lanes(Vec v) {
  const auto stage = [](Vec x, Vec partner, IntVec is_second) __attribute__((always_inline)) {
    const BitVec sign = __builtin_bit_cast(BitVec, is_second) & 0x80000000u;
    return partner + __builtin_bit_cast(Vec, __builtin_bit_cast(BitVec, x) ^ sign);
  };
  constexpr IntVec kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  v = stage(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14), (kLane & 1) != 0);
  v = stage(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13), (kLane & 2) != 0);
  v = stage(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11), (kLane & 4) != 0);
  return stage(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7),
               (kLane & 8) != 0);
}

// Hadamard stages between vectors, two per pass where possible: half the loads and stores.
PAGODA_INLINE void rotate_vectors(float* x, int64_t n, int64_t block) {
  for (float* end = x + n; x < end; x += block) {
    int64_t stride = kLanes;
    for (; stride * 4 <= block; stride *= 4)
      for (int64_t begin = 0; begin < block; begin += 4 * stride)
        for (int64_t i = begin; i < begin + stride; i += kLanes) {
          const Vec a = load(x + i), b = load(x + i + stride), c = load(x + i + 2 * stride),
                    d = load(x + i + 3 * stride);
          const Vec ab = a + b, ba = a - b, cd = c + d, dc = c - d;
          store(x + i, ab + cd);
          store(x + i + stride, ba + dc);
          store(x + i + 2 * stride, ab - cd);
          store(x + i + 3 * stride, ba - dc);
        }
    if (stride * 2 <= block)
      for (int64_t i = 0; i < stride; i += kLanes) {
        const Vec a = load(x + i), b = load(x + i + stride);
        store(x + i, a + b);
        store(x + i + stride, a - b);
      }
  }
}

static void rotate(float* x, int64_t n, int64_t block) {
  for (int64_t i = 0; i < n; i += kLanes) store(x + i, rotate_lanes(load(x + i)));
  rotate_vectors(x, n, block);
}

// Rounds to nearest even by adding 1.5 * 2^23.
static void to_int8(const float* x, int64_t n, float* rotated, const PackedRow& row) {
  typedef int8_t ByteVec __attribute__((ext_vector_type(16)));
  const int64_t padded = (n + kPackedColumns - 1) / kPackedColumns * kPackedColumns;
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA { store(rotated + i, rotate_lanes(load_up_to(x + i, count))); });
  for (int64_t i = (n + kLanes - 1) / kLanes * kLanes; i < padded; i += kLanes) store(rotated + i, Vec{});
  rotate_vectors(rotated, padded, host::rotation_block(padded));
  Vec most = {};
  for (int64_t i = 0; i < padded; i += kLanes) {
    const Vec magnitude = __builtin_elementwise_abs(load(rotated + i));
    most = magnitude > most ? magnitude : most;
  }
  const float top = largest(most);
  const Vec inverse = splat(top > 0.0f ? 127.0f / top : 0.0f);
  IntVec total = {};
  for (int64_t i = 0; i < padded; i += kLanes) {
    const IntVec q = __builtin_bit_cast(IntVec, load(rotated + i) * inverse + splat(0x1.8p23f)) - 0x4b400000;
    total += q;
    const ByteVec bytes = __builtin_convertvector(q, ByteVec);
    __builtin_memcpy(row.values + i, &bytes, sizeof bytes);
  }
  *row.scale = top / 127.0f;
  *row.sum = __builtin_reduce_add(total);
}

static void to_bf16(const float* x, int64_t n, const PackedRow& row) {
  Bf16* to = reinterpret_cast<Bf16*>(row.values);
  const int64_t padded = (n + kPackedColumns - 1) / kPackedColumns * kPackedColumns;
  over(n, [=](int64_t i, int64_t count) PAGODA_LAMBDA { store(to + i, load_up_to(x + i, count)); });
  for (int64_t i = (n + kLanes - 1) / kLanes * kLanes; i < padded; i += kLanes) store(to + i, Vec{});
}

// Scales of groups below 2^-100 become 0: their reciprocals would overflow.
static void to_groups(const float* x, int64_t n, const GroupedRow& row) {
  typedef int8_t ByteVec __attribute__((ext_vector_type(16)));
  const int64_t padded = (n + kPackedColumns - 1) / kPackedColumns * kPackedColumns;
  for (int64_t i = 0; i < padded; i += kRowGroup) {
    Vec halves[2];
    for (int h = 0; h < 2; ++h) {
      const int64_t at = i + h * kLanes;
      halves[h] = at < n ? load_up_to(x + at, n - at) : Vec{};
    }
    const Vec a = __builtin_elementwise_abs(halves[0]), b = __builtin_elementwise_abs(halves[1]);
    const float most = largest(a > b ? a : b), top = most > 0x1p-100f ? most : 0.0f;
    const Vec inverse = splat(top > 0.0f ? 127.0f / top : 0.0f);
    for (int h = 0; h < 2; ++h) {
      const IntVec q = __builtin_bit_cast(IntVec, halves[h] * inverse + splat(0x1.8p23f)) - 0x4b400000;
      const ByteVec bytes = __builtin_convertvector(q, ByteVec);
      __builtin_memcpy(row.values + i + h * kLanes, &bytes, sizeof bytes);
      row.sums[i / kSumGroup + h] = __builtin_reduce_add(q);
    }
    row.scales[i / kRowGroup] = top / 127.0f;
  }
}
