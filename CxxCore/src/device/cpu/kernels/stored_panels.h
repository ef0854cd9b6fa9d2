// Kernel source: unpacks weights in the formats of files to bytes and float scales. Needs kInt8Blocks,
// kUnsignedWeights, and lookup(): table[code] of 64 codes.

constexpr int64_t kSpan = 256;  // columns: a multiple of every unit()
constexpr int64_t kSpanRows = 256;

// One block of 16 channels, with codes as dot() takes them: unsigned, or codes of 8 bits and of tables minus 128.
struct Panel {
  std::byte lines[kSpan * kBlockChannels];
  float scales[kSpan / 16][kBlockChannels], mins[kSpan / 16][kBlockChannels];
};
constexpr int64_t kSpanBytes = kSpanRows * kInt8Blocks * kBlockChannels * 4;
static_assert(kSpanBytes + kInt8Blocks * static_cast<int64_t>(sizeof(Panel)) <= kPackedScratch);

PAGODA_INLINE Bytes shift_right(Bytes v, int bits) {
  return __builtin_bit_cast(Bytes, __builtin_bit_cast(Pairs, v) >> static_cast<uint16_t>(bits));
}
PAGODA_INLINE Bytes shift_left(Bytes v, int bits) {
  return __builtin_bit_cast(Bytes, __builtin_bit_cast(Pairs, v) << static_cast<uint16_t>(bits));
}

// Unpacks 32 columns. Line l has columns 4 l to 4 l + 3. Nibbles: line l of the plane has lines l and l + 4; pairs of
// bits: line h has lines 4 h to 4 h + 3; bits: all lines.
template <int Bits>
PAGODA_INLINE void unpack_lines(const std::byte* from, Bytes (&lines)[8]) {
  if constexpr (Bits == 8)
    for (int l = 0; l < 8; ++l) lines[l] = load_as<Bytes>(from + l * 64);
  if constexpr (Bits >= 4 && Bits <= 6) {
    for (int l = 0; l < 4; ++l) {
      const Bytes both = load_as<Bytes>(from + l * 64);
      lines[l] = both & 15;
      lines[l + 4] = shift_right(both, 4) & 15;
    }
    from += 256;
  }
  constexpr int kPairsAt = Bits == 6 ? 4 : 0;
  if constexpr (Bits == 2 || Bits == 3 || Bits == 6) {
    for (int l = 0; l < 8; ++l) {
      const Bytes pair = shift_left(shift_right(load_as<Bytes>(from + l / 4 * 64), l % 4 * 2) & 3, kPairsAt);
      lines[l] = Bits == 6 ? lines[l] | pair : pair;
    }
    from += 128;
  }
  if constexpr (Bits == 3 || Bits == 5) {
    const Bytes bits = load_as<Bytes>(from);
    for (int l = 0; l < 8; ++l) lines[l] |= shift_left(shift_right(bits, l) & 1, Bits - 1);
  }
}

template <int Bits>
static void unpack_span(const QuantFormat& f, const std::byte* from, int64_t columns, std::byte* to) {
  const bool has_table = f.table != CodeTable::none;
  const Bytes16 table = load_as<Bytes16>(f.table == CodeTable::curve ? kCurve : kFloat4);
  for (int64_t column = 0; column < columns; column += 32, from += 64 * Bits, to += 512) {
    __builtin_prefetch(from + 1024);
    __builtin_prefetch(from + 1024 + 32 * Bits);
    Bytes lines[8];
    unpack_lines<Bits>(from, lines);
    for (int l = 0; l < 8; ++l) {
      if constexpr (Bits == 4)
        if (has_table) lines[l] = lookup(table, lines[l]);
      if ((Bits == 8 || has_table) && !kUnsignedWeights) lines[l] ^= 0x80;
      __builtin_memcpy(to + l * 64, &lines[l], 64);
    }
  }
}

PAGODA_INLINE Vec load_scales(ScaleType type, const std::byte* p) {
  typedef uint8_t Bytes16 __attribute__((ext_vector_type(16)));
  if (type == ScaleType::f16) return load(reinterpret_cast<const F16*>(p));
  if (type == ScaleType::bf16) return load(reinterpret_cast<const Bf16*>(p));
  if (type == ScaleType::f32) return load(reinterpret_cast<const float*>(p));
  if (type == ScaleType::i8) return load(reinterpret_cast<const I8*>(p));
  if (type == ScaleType::u8) return __builtin_convertvector(load_as<Bytes16>(p), Vec);
  if (type == ScaleType::nibbles) return __builtin_convertvector(load_as<Bytes16>(p) & 15, Vec);
  const BitVec e = __builtin_convertvector(load_as<Bytes16>(p), BitVec);
  return __builtin_bit_cast(Vec, e < 2 ? 0x00200000u << (e & 1) : (e - 1) << 23);
}

// Scales of columns [begin, begin + columns) of a block.
static void unpack_scales(const StoredTile& t, int64_t block, int64_t begin, int64_t columns, Panel& panel) {
  typedef uint8_t Bytes16 __attribute__((ext_vector_type(16)));
  const QuantFormat& f = *t.format;
  const std::byte* scales = t.scales + block * t.scale_bytes;
  const int64_t own_bytes = group_bytes(f), supers_at = t.cols / f.group * own_bytes, first = begin / f.group;
  for (int64_t g = 0; g * f.group < columns; ++g) {
    const std::byte* p = scales + (first + g) * own_bytes;
    Vec scale = load_scales(f.scale, p), min = {};
    if (f.scale == ScaleType::nibbles) min = __builtin_convertvector(load_as<Bytes16>(p) >> 4, Vec);
    else if (f.has_min) min = load_scales(f.scale, p + 16 * f.scale_bytes());
    if (f.super > 0) {
      const std::byte* super = scales + supers_at + (begin + g * f.group) / f.super * super_bytes(f);
      scale *= load(reinterpret_cast<const F16*>(super));
      if (f.has_min) min = -(min * load(reinterpret_cast<const F16*>(super + 32)));
    }
    store(panel.scales[g], scale);
    store(panel.mins[g], min);
  }
}

static void unpack_panel(const StoredTile& t, int64_t block, int64_t begin, int64_t columns, Panel& panel) {
  const std::byte* codes = t.codes + block * t.code_bytes + begin / 32 * chunk_bytes(*t.format);
  switch (t.format->bits) {
    case 2: unpack_span<2>(*t.format, codes, columns, panel.lines); break;
    case 3: unpack_span<3>(*t.format, codes, columns, panel.lines); break;
    case 4: unpack_span<4>(*t.format, codes, columns, panel.lines); break;
    case 5: unpack_span<5>(*t.format, codes, columns, panel.lines); break;
    case 6: unpack_span<6>(*t.format, codes, columns, panel.lines); break;
    default: unpack_span<8>(*t.format, codes, columns, panel.lines); break;
  }
  unpack_scales(t, block, begin, columns, panel);
}
