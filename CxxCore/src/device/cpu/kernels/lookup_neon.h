// Kernel source: lookup() of stored.h for 64-bit ARM.

PAGODA_INLINE Bytes lookup(Bytes16 table, Bytes codes) {
  struct Quarters {
    uint8x16_t part[4];
  };
  Quarters c = __builtin_bit_cast(Quarters, codes);
  for (uint8x16_t& part : c.part) part = vqtbl1q_u8(__builtin_bit_cast(uint8x16_t, table), part);
  return __builtin_bit_cast(Bytes, c);
}
