// Kernel source: lookup() of stored.h for AVX-512.

PAGODA_INLINE Bytes lookup(Bytes16 table, Bytes codes) {
  const __m512i four = _mm512_broadcast_i32x4(__builtin_bit_cast(__m128i, table));
  return __builtin_bit_cast(Bytes, _mm512_shuffle_epi8(four, __builtin_bit_cast(__m512i, codes)));
}
