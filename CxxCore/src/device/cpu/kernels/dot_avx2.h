// Kernel source: dot() and lookup() of packed.h and stored.h for x86-64 without VNNI, in halves of 32 bytes.

// Multiplies |w| by x with the sign of w: no 16-bit sum can overflow, since |x| <= 127.
PAGODA_INLINE __m256i dot(__m256i sums, __m256i w, __m256i x) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
PAGODA_INLINE IntVec dot(IntVec sums, Bytes w, uint32_t x) {
  struct Halves {
    __m256i half[2];
  };
  Halves s = __builtin_bit_cast(Halves, sums);
  const Halves weights = __builtin_bit_cast(Halves, w);
  for (int i = 0; i < 2; ++i) s.half[i] = dot(s.half[i], weights.half[i], _mm256_set1_epi32(static_cast<int>(x)));
  return __builtin_bit_cast(IntVec, s);
}

PAGODA_INLINE Bytes lookup(Bytes16 table, Bytes codes) {
  struct Halves {
    __m256i half[2];
  };
  Halves c = __builtin_bit_cast(Halves, codes);
  const __m256i both = _mm256_broadcastsi128_si256(__builtin_bit_cast(__m128i, table));
  for (__m256i& half : c.half) half = _mm256_shuffle_epi8(both, half);
  return __builtin_bit_cast(Bytes, c);
}
