// Kernel source: vectors of 16 floats for any register width, so that summation orders are the same everywhere.
// Included once per instruction set, inside its namespace; needs kFused and kHardwareF16. Calls only builtins.

typedef float Vec __attribute__((ext_vector_type(16)));
typedef int32_t IntVec __attribute__((ext_vector_type(16)));
typedef uint32_t BitVec __attribute__((ext_vector_type(16)));
typedef uint16_t ShortVec __attribute__((ext_vector_type(16)));
typedef int8_t ByteVec __attribute__((ext_vector_type(16)));
typedef _Float16 HalfVec __attribute__((ext_vector_type(16)));
typedef float Vec8 __attribute__((ext_vector_type(8)));
typedef float Vec4 __attribute__((ext_vector_type(4)));
typedef float Vec2 __attribute__((ext_vector_type(2)));
typedef uint8_t Bytes __attribute__((ext_vector_type(64)));  // 16 channels x 4 columns of a packed weight
typedef uint16_t Pairs __attribute__((ext_vector_type(32)));
typedef uint8_t Bytes16 __attribute__((ext_vector_type(16)));
constexpr int64_t kLanes = 16;

#define PAGODA_INLINE [[gnu::always_inline]] static inline
#define PAGODA_LAMBDA __attribute__((always_inline))

template <class V, class T>
PAGODA_INLINE V load_as(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

PAGODA_INLINE Vec widen_half(ShortVec bits) {
  if constexpr (kHardwareF16) {
    return __builtin_convertvector(__builtin_bit_cast(HalfVec, bits), Vec);
  } else {
    // Moves exponent and fraction to their position in a float, then scales by 2^112: exact, including subnormals.
    const BitVec wide = __builtin_convertvector(bits, BitVec);
    const BitVec magnitude = (wide & 0x7fffu) << 13;
    const Vec scaled = __builtin_bit_cast(Vec, magnitude) * 0x1p112f;
    const BitVec special = __builtin_bit_cast(BitVec, (wide & 0x7c00u) == 0x7c00u) & 0x7f800000u;
    return __builtin_bit_cast(Vec, __builtin_bit_cast(BitVec, scaled) | special | ((wide & 0x8000u) << 16));
  }
}

PAGODA_INLINE Vec load(const float* p) { return load_as<Vec>(p); }
PAGODA_INLINE Vec load(const F16* p) { return widen_half(load_as<ShortVec>(p)); }
PAGODA_INLINE Vec load(const Bf16* p) {
  return __builtin_bit_cast(Vec, __builtin_convertvector(load_as<ShortVec>(p), BitVec) << 16);
}
PAGODA_INLINE Vec load(const I8* p) { return __builtin_convertvector(load_as<ByteVec>(p), Vec); }
PAGODA_INLINE void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
PAGODA_INLINE void store(Bf16* p, Vec v) {
  const BitVec bits = __builtin_bit_cast(BitVec, v);
  const BitVec rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const BitVec quiet = (bits >> 16) | 0x40u;
  const ShortVec out = __builtin_convertvector((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded, ShortVec);
  __builtin_memcpy(p, &out, sizeof out);
}
PAGODA_INLINE void store(F16* p, Vec v) {
  if constexpr (kHardwareF16) {
    const HalfVec out = __builtin_convertvector(v, HalfVec);
    __builtin_memcpy(p, &out, sizeof out);
  } else {
    for (int i = 0; i < kLanes; ++i) p[i].bits = f32_to_f16(v[i]);
  }
}

// The first `count` (1 to 15) elements, zero-padded: a tail uses the same arithmetic as a full vector.
template <class T>
PAGODA_INLINE Vec load_part(const T* p, int64_t count) {
  T padded[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) padded[i] = p[i];
  return load(padded);
}
template <class T>
PAGODA_INLINE void store_part(T* p, Vec v, int64_t count) {
  T padded[kLanes];
  store(padded, v);
  for (int64_t i = 0; i < count; ++i) p[i] = padded[i];
}
template <class T>
PAGODA_INLINE Vec load_up_to(const T* p, int64_t count) {
  return count >= kLanes ? load(p) : load_part(p, count);
}
template <class T>
PAGODA_INLINE void store_up_to(T* p, Vec v, int64_t count) {
  if (count >= kLanes) store(p, v);
  else store_part(p, v, count);
}

// Calls body(i, count) per vector of n elements: count is the constant 16 for all but the last, so that the main loop
// contains no branch and no call.
template <class F>
PAGODA_INLINE void over(int64_t n, F&& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, kLanes);
  if (i < n) body(i, n - i);
}
template <bool Whole, class T>
PAGODA_INLINE Vec load_whole_or(const T* p, int64_t count) {
  if constexpr (Whole) return load(p);
  else return load_up_to(p, count);
}
template <bool Whole, class T>
PAGODA_INLINE void store_whole_or(T* p, Vec v, int64_t count) {
  if constexpr (Whole) store(p, v);
  else store_up_to(p, v, count);
}

PAGODA_INLINE Vec splat(float x) { return static_cast<Vec>(x); }

// a b + c, fused wherever the hardware can; never left to the compiler, which may fuse in one loop and not in another.
PAGODA_INLINE Vec fma(Vec a, Vec b, Vec c) {
  if constexpr (kFused) return __builtin_elementwise_fma(a, b, c);
  else return a * b + c;
}

// Sum and maximum of all lanes, by folding halves.
PAGODA_INLINE float sum(Vec v) {
  const Vec8 a = v.lo + v.hi;
  const Vec4 b = a.lo + a.hi;
  const Vec2 c = b.lo + b.hi;
  return c[0] + c[1];
}
PAGODA_INLINE float largest(Vec v) {
  const Vec8 a = v.lo > v.hi ? v.lo : v.hi;
  const Vec4 b = a.lo > a.hi ? a.lo : a.hi;
  const Vec2 c = b.lo > b.hi ? b.lo : b.hi;
  return c[0] > c[1] ? c[0] : c[1];
}

// Reduces two vectors of (16 / Width) partial sums of Width lanes each to one vector of twice as many, half as wide.
template <int Width>
PAGODA_INLINE Vec fold(Vec x, Vec y) {
  if constexpr (Width == 16)
    return __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
           __builtin_shufflevector(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  else if constexpr (Width == 8)
    return __builtin_shufflevector(x, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(x, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  else if constexpr (Width == 4)
    return __builtin_shufflevector(x, y, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29) +
           __builtin_shufflevector(x, y, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23, 26, 27, 30, 31);
  else
    return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
           __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

// Lane i of the result is sum(v[i]), to the bit.
PAGODA_INLINE Vec sums(const Vec v[16]) {
  Vec a[8], b[4];
  for (int i = 0; i < 8; ++i) a[i] = fold<16>(v[2 * i], v[2 * i + 1]);
  for (int i = 0; i < 4; ++i) b[i] = fold<8>(a[2 * i], a[2 * i + 1]);
  return fold<2>(fold<4>(b[0], b[1]), fold<4>(b[2], b[3]));
}

// The Taylor series of e^r, from the coefficient of r^6 on down.
PAGODA_INLINE Vec exp_series(Vec p, Vec r) {
  p = fma(p, r, splat(1.0f / 120.0f));
  p = fma(p, r, splat(1.0f / 24.0f));
  p = fma(p, r, splat(1.0f / 6.0f));
  p = fma(p, r, splat(0.5f));
  p = fma(p, r, splat(1.0f));
  return fma(p, r, splat(1.0f));
}

// e^x to about 1 ulp: x = n ln 2 + r, Taylor to r^7 on |r| <= ln 2 / 2, times 2^n in two steps so that results
// underflow gradually and overflow to infinity. NaN stays NaN, -inf gives 0.
PAGODA_INLINE Vec exp(Vec x) {
  const Vec low = splat(-104.0f), high = splat(89.0f);
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Vec magic = splat(0x1.8p23f);  // adding it rounds to an integer in the low bits
  const Vec shifted = fma(x, splat(0x1.715476p0f), magic);
  const Vec n = shifted - magic;
  Vec r = fma(n, splat(-0x1.62e4p-1f), x);  // ln 2 in two parts; the first has few bits, so n times it is exact
  r = fma(n, splat(-0x1.7f7d1cp-20f), r);
  const Vec p = exp_series(fma(splat(1.0f / 5040.0f), r, splat(1.0f / 720.0f)), r);
  const IntVec exponent = __builtin_bit_cast(IntVec, shifted) - __builtin_bit_cast(IntVec, magic);
  const IntVec half = exponent >> 1;
  const Vec first = __builtin_bit_cast(Vec, (half + 127) << 23);
  const Vec second = __builtin_bit_cast(Vec, (exponent - half + 127) << 23);
  return p * first * second;
}

// 1 / d for 1 <= d < 2^120, to about 1 ulp: an initial guess from the bits (12 % off) and three Newton steps, each
// squaring the error. A division takes four times as long.
PAGODA_INLINE Vec reciprocal(Vec d) {
  Vec r = __builtin_bit_cast(Vec, 0x7ef311c7 - __builtin_bit_cast(IntVec, d));
  for (int i = 0; i < 3; ++i) r = fma(r, fma(-d, r, splat(1.0f)), r);
  return r;
}

// 1 / (1 + e^-x), to a few ulps. e^-x as in exp(), but clamped to +-80, where no step overflows or underflows and 2^n
// goes straight into the exponent; beyond that, the result is 1 or less than 2e-35.
PAGODA_INLINE Vec sigmoid(Vec x) {
  const Vec low = splat(-80.0f), high = splat(80.0f);
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Vec magic = splat(0x1.8p23f);
  const Vec shifted = fma(x, splat(-0x1.715476p0f), magic);
  const Vec n = shifted - magic;
  Vec r = fma(n, splat(-0x1.62e4p-1f), -x);
  r = fma(n, splat(-0x1.7f7d1cp-20f), r);
  const Vec p = exp_series(splat(1.0f / 720.0f), r);
  const Vec e = __builtin_bit_cast(Vec, __builtin_bit_cast(IntVec, p) + (__builtin_bit_cast(IntVec, shifted) << 23));
  return reciprocal(splat(1.0f) + e);
}
PAGODA_INLINE Vec silu(Vec x) { return x * sigmoid(x); }
