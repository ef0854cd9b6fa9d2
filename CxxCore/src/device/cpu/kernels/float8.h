// Kernel source: weights of 8-bit floats (E4M3) as bf16, which holds each of them exactly, and sums of their groups.
// Needs lookup() and fused() of stored_panels.h.

// codes: 16 channels x 4 columns in the order 0, 2, 1, 3, which is that of the results: columns 0 and 1, then 2 and 3.
// Normal numbers have 120 added to their exponent. The 8 smallest come from a table: as denormal bf16, scaled
// afterwards, matrix units would take them for zero.
PAGODA_INLINE void widen_line(Bytes codes, Bytes& even, Bytes& odd) {
  constexpr Bytes16 kHigh = {0x00, 0x3b, 0x3b, 0x3b, 0x3c, 0x3c, 0x3c, 0x3c},
                    kLow = {0x00, 0x00, 0x80, 0xc0, 0x00, 0x20, 0x40, 0x60};
  const Bytes size = codes & 127, fraction = codes & 7;
  const Bytes is_small = __builtin_bit_cast(Bytes, size < 8);
  const Bytes high = ((size >> 4) + 0x3c) & ~is_small, low = (size << 4) & ~is_small;
  const Bytes first = high | (lookup(kHigh, fraction) & is_small) | (codes & 128),
              second = low | (lookup(kLow, fraction) & is_small);
  const Pairs upper = __builtin_bit_cast(Pairs, first), lower = __builtin_bit_cast(Pairs, second);
  even = __builtin_bit_cast(Bytes, upper << 8 | (lower & 255));
  odd = __builtin_bit_cast(Bytes, (upper & 0xff00) | lower >> 8);
}

static void widen_float8(const std::byte* codes, int64_t columns, int64_t run, std::byte* to) {
  typedef uint32_t Words __attribute__((ext_vector_type(16)));
  for (int64_t column = 0; column < columns; column += 4, codes += 64, to += 128) {
    __builtin_prefetch(codes + columns * kBlockChannels);
    Bytes lines[2];
    widen_line(load_as<Bytes>(codes), lines[0], lines[1]);
    if (run == 8) {  // all four columns of a channel are adjacent
      const Words a = __builtin_bit_cast(Words, lines[0]), b = __builtin_bit_cast(Words, lines[1]);
      lines[0] = __builtin_bit_cast(
          Bytes, __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
      lines[1] = __builtin_bit_cast(
          Bytes, __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
    }
    __builtin_memcpy(to, lines, 128);
  }
}

static void add_part(const ScaledPart& p) {
  const Vec scale = load(p.scales), bias = p.bias ? load_up_to(p.bias, p.n) : Vec{};
  for (int64_t r = 0; r < p.m; ++r) {
    const Vec part = load(p.part + r * p.stride);
    Vec sum = p.total ? fused(part, scale, load(p.total + r * p.stride)) : part * scale;
    if (p.bias) sum += bias;
    store_up_to(p.out + r * p.out_stride, sum, p.n);
  }
}
