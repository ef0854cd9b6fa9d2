// Kernel text: work on one row at a time: conversions, norms, rotation, gates, convolution.

template <class T>
static void widen(const void* from, int64_t n, float* to) {
  const T* p = static_cast<const T*>(from);
  for (int64_t i = 0; i < n; i += kLanes) store_up_to(to + i, load_up_to(p + i, n - i), n - i);
}

template <class T>
static void narrow(const float* from, int64_t n, void* to) {
  T* p = static_cast<T*>(to);
  for (int64_t i = 0; i < n; i += kLanes) store_up_to(p + i, load_up_to(from + i, n - i), n - i);
}

PAGODA_INLINE float sum_of_squares(const float* x, int64_t n) {
  Vec total = {};
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec v = load_up_to(x + i, n - i);
    total = fma(v, v, total);
  }
  return sum(total);
}

PAGODA_INLINE float inverse_rms(const float* x, int64_t n, float eps) {
  return 1.0f / __builtin_elementwise_sqrt(sum_of_squares(x, n) / static_cast<float>(n) + eps);
}

static void rms_norm(const NormRow& r) {
  if (r.residual)
    for (int64_t i = 0; i < r.n; i += kLanes)
      store_up_to(r.x + i, load_up_to(r.x + i, r.n - i) + load_up_to(r.residual + i, r.n - i), r.n - i);
  const Vec scale = splat(inverse_rms(r.x, r.n, r.eps));
  for (int64_t i = 0; i < r.n; i += kLanes) {
    const Vec w = load_up_to(r.weight + i, r.n - i) + splat(r.weight_offset);
    store_up_to(r.out + i, load_up_to(r.x + i, r.n - i) * scale * w, r.n - i);
  }
}

static void norm_rope(const NormRow& r, const Rotation& rotation) {
  alignas(64) float normed[kMaxHeadDim];  // out may be x
  NormRow to_scratch = r;
  to_scratch.out = normed;
  if (r.weight) rms_norm(to_scratch);
  else widen<float>(r.x, r.n, normed);
  const int64_t half = rotation.half;
  for (int64_t i = 0; i < half; i += kLanes) {
    const int64_t count = half - i;
    const Vec a = load_up_to(normed + i, count), b = load_up_to(normed + half + i, count);
    const Vec c = load_up_to(rotation.cos + i, count), s = load_up_to(rotation.sin + i, count);
    store_up_to(r.out + i, fma(a, c, -(b * s)), count);
    store_up_to(r.out + half + i, fma(b, c, a * s), count);
  }
  widen<float>(normed + 2 * half, r.n - 2 * half, r.out + 2 * half);
}

static void gated_norm(const NormRow& r, const float* z) {
  const Vec scale = splat(inverse_rms(r.x, r.n, r.eps));
  for (int64_t i = 0; i < r.n; i += kLanes) {
    const Vec normed = load_up_to(r.x + i, r.n - i) * scale * load_up_to(r.weight + i, r.n - i);
    store_up_to(r.out + i, normed * silu(load_up_to(z + i, r.n - i)), r.n - i);
  }
}

static void sigmoid_gate(const float* x, const float* gate, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes)
    store_up_to(out + i, load_up_to(x + i, n - i) * sigmoid(load_up_to(gate + i, n - i)), n - i);
}

static void silu_mul(const float* gate, const float* up, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += kLanes)
    store_up_to(out + i, silu(load_up_to(gate + i, n - i)) * load_up_to(up + i, n - i), n - i);
}

// Taps are added oldest first. Rows outside, channels inside: a column of a wide matrix costs a page per row.
static void conv(const ConvTile& c) {
  for (int64_t row = 0; row < c.rows; ++row) {
    const float* inputs[kMaxConvKernel];
    for (int64_t tap = 0; tap < c.kernel; ++tap) {
      const int64_t t = row + tap + 1 - c.kernel;
      inputs[tap] =
          t + c.rows_before < 0 ? c.tail + (t + c.rows_before + c.kernel - 1) * c.tail_stride : c.x + t * c.x_stride;
    }
    for (int64_t i = 0; i < c.channels; i += kLanes) {
      Vec total = {};
      for (int64_t tap = 0; tap < c.kernel; ++tap)
        total = fma(load_up_to(c.weight + tap * c.weight_stride + i, c.channels - i),
                    load_up_to(inputs[tap] + i, c.channels - i), total);
      store_up_to(c.out + row * c.out_stride + i, silu(total), c.channels - i);
    }
  }
}

// One scale per 128 columns, from the largest of them; rounded to nearest even by the addition of 1.5 * 2^23.
static void to_int8(const float* x, int64_t n, const PackedRow& row) {
  typedef int8_t ByteVec __attribute__((ext_vector_type(16)));
  std::byte* to = row.values;
  for (int64_t begin = 0, group = 0; begin < n; begin += kPackedColumns, ++group) {
    Vec most = {};
    for (int64_t i = begin; i < begin + kPackedColumns && i < n; i += kLanes) {
      const Vec v = load_up_to(x + i, n - i);
      const Vec magnitude = __builtin_elementwise_abs(v);
      most = magnitude > most ? magnitude : most;
    }
    const float top = largest(most);
    const Vec inverse = splat(top > 0.0f ? 127.0f / top : 0.0f);
    IntVec total = {};
    for (int64_t i = begin; i < begin + kPackedColumns; i += kLanes, to += kLanes) {
      const Vec v = i < n ? load_up_to(x + i, n - i) : Vec{};
      const IntVec q = __builtin_bit_cast(IntVec, v * inverse + splat(0x1.8p23f)) - 0x4b400000;
      total += q;
      const ByteVec bytes = __builtin_convertvector(q, ByteVec);
      __builtin_memcpy(to, &bytes, sizeof bytes);
    }
    row.scales[group] = top / 127.0f;
    row.sums[group] = __builtin_reduce_add(total);
  }
}

static void to_bf16(const float* x, int64_t n, const PackedRow& row) {
  Bf16* to = reinterpret_cast<Bf16*>(row.values);
  const int64_t padded = (n + kPackedColumns - 1) / kPackedColumns * kPackedColumns;
  for (int64_t i = 0; i < padded; i += kLanes) store(to + i, i < n ? load_up_to(x + i, n - i) : Vec{});
}
