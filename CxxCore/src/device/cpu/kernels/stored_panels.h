// Kernel source: unpacks weights in the formats of files to bytes and float scales. Needs kInt8Blocks, and lookup():
// table[code] of 64 codes.

constexpr int64_t kSpan = 256;  // columns: a multiple of every unit()
constexpr int64_t kSpanRows = 256;

// One block of 16 channels; lines hold values minus the `shift` they were unpacked with.
struct Panel {
  std::byte unpacked[kSpan * kBlockChannels];
  float scales[kSpan / 16][kBlockChannels], mins[kSpan / 16][kBlockChannels];
  const std::byte* lines;  // `unpacked`, or the weight's own bytes
  std::byte padding[56];
};
constexpr int64_t kSpanBytes = kSpanRows * kInt8Blocks * kBlockChannels * 4;
static_assert(kSpanBytes + kInt8Blocks * static_cast<int64_t>(sizeof(Panel)) <= kPackedScratch);

// Columns [begin, begin + columns) of a block, and what is unpacked after them, which is prefetched.
struct SpanPlace {
  int64_t block, begin, columns, next_block, next_begin;
};
// For `blocks` blocks that are unpacked one after the other, span by span.
PAGODA_INLINE SpanPlace span_place(const StoredTile& t, int64_t block, int64_t begin, int64_t blocks) {
  if (begin + kSpan < t.cols) return {block, begin, kSpan, block, begin + kSpan};
  return {block, begin, t.cols - begin, block + blocks, 0};
}

// Moves every bit by `bits` places to the left, or to the right if negative; bits of neighbours come in.
PAGODA_INLINE Bytes moved(Bytes v, int bits) {
  const Pairs pairs = __builtin_bit_cast(Pairs, v);
  return __builtin_bit_cast(Bytes,
                            bits < 0 ? pairs >> static_cast<uint16_t>(-bits) : pairs << static_cast<uint16_t>(bits));
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
      lines[l + 4] = moved(both, -4) & 15;
    }
    from += 256;
  }
  constexpr int kPairsAt = Bits == 6 ? 4 : 0;
  if constexpr (Bits == 2 || Bits == 3 || Bits == 6) {
    for (int l = 0; l < 8; ++l) {
      const Bytes pair = moved(load_as<Bytes>(from + l / 4 * 64), kPairsAt - l % 4 * 2) & (3 << kPairsAt);
      lines[l] = Bits == 6 ? lines[l] | pair : pair;
    }
    from += 128;
  }
  if constexpr (Bits == 3 || Bits == 5) {
    const Bytes bits = load_as<Bytes>(from);
    for (int l = 0; l < 8; ++l) lines[l] |= moved(bits, Bits - 1 - l) & (1 << (Bits - 1));
  }
}

template <int Bits>
static void unpack_span(const QuantFormat& f, int shift, const std::byte* from, const std::byte* next, int64_t columns,
                        std::byte* to) {
  const Bytes below = static_cast<Bytes>(static_cast<uint8_t>(shift));
  const bool has_table = f.table != CodeTable::none;
  const Bytes16 table = load_as<Bytes16>(f.table == CodeTable::curve ? kCurve : kFloat4);
  for (int64_t column = 0; column < columns; column += 32, from += 64 * Bits, next += 64 * Bits, to += 512) {
    for (int l = 0; l < Bits; ++l) __builtin_prefetch(next + l * 64);
    Bytes lines[8];
    unpack_lines<Bits>(from, lines);
    for (int l = 0; l < 8; ++l) {
      if constexpr (Bits == 4)
        if (has_table) lines[l] = lookup(table, lines[l]);
      lines[l] -= below;
      __builtin_memcpy(to + l * 64, &lines[l], 64);
    }
  }
}

template <ScaleType kType>
PAGODA_INLINE Vec load_scales(const std::byte* p) {
  if constexpr (kType == ScaleType::f16) return load(reinterpret_cast<const F16*>(p));
  if constexpr (kType == ScaleType::bf16) return load(reinterpret_cast<const Bf16*>(p));
  if constexpr (kType == ScaleType::f32) return load(reinterpret_cast<const float*>(p));
  if constexpr (kType == ScaleType::i8) return load(reinterpret_cast<const I8*>(p));
  if constexpr (kType == ScaleType::u8) return __builtin_convertvector(load_as<Bytes16>(p), Vec);
  if constexpr (kType == ScaleType::nibbles) return __builtin_convertvector(load_as<Bytes16>(p) & 15, Vec);
  if constexpr (kType == ScaleType::e8m0) {
    const BitVec e = __builtin_convertvector(load_as<Bytes16>(p), BitVec);
    return __builtin_bit_cast(Vec, e < 2 ? 0x00200000u << (e & 1) : (e - 1) << 23);
  }
  if constexpr (kType == ScaleType::e4m3) {
    const BitVec bits = __builtin_convertvector(load_as<Bytes16>(p), BitVec), rest = bits & 127, fraction = bits & 7;
    const BitVec small = __builtin_bit_cast(BitVec, __builtin_convertvector(fraction, Vec) * 0x1p-10f);
    const BitVec size = rest < 8 ? small : (rest << 20) + (119u << 23);
    return __builtin_bit_cast(Vec, (rest == 127 ? BitVec(0x7fc00000u) : size) | bits >> 7 << 31);
  }
}

// Scales of columns [begin, begin + columns) of a block.
template <ScaleType kType>
static void unpack_scales(const StoredTile& t, const SpanPlace& at, Panel& panel) {
  constexpr bool kHasLevels = kType == ScaleType::u8 || kType == ScaleType::i8 || kType == ScaleType::nibbles;
  const QuantFormat& f = *t.format;
  const std::byte* scales = t.scales + at.block * t.scale_bytes;
  const int64_t own_bytes = group_bytes(f), supers_at = t.cols / f.group * own_bytes, first = at.begin / f.group;
  const int64_t to_next = (at.next_block - at.block) * t.scale_bytes + (at.next_begin - at.begin) / f.group * own_bytes;
  for (int64_t g = 0; g * f.group < at.columns; ++g) {
    const std::byte* p = scales + (first + g) * own_bytes;
    __builtin_prefetch(p + to_next);
    Vec scale = load_scales<kType>(p), min = {};
    if constexpr (kType == ScaleType::nibbles) min = __builtin_convertvector(load_as<Bytes16>(p) >> 4, Vec);
    else if (f.has_zeros) min = -(scale * load_scales<ScaleType::u8>(p + 16 * f.scale_bytes()));
    else if (f.has_min) min = load_scales<kType>(p + 16 * f.scale_bytes());
    if constexpr (kHasLevels) {
      const std::byte* super = scales + supers_at + (at.begin + g * f.group) / f.super * super_bytes(f);
      scale *= load(reinterpret_cast<const F16*>(super));
      if (f.has_min) min = -(min * load(reinterpret_cast<const F16*>(super + 32)));
    }
    store(panel.scales[g], scale);
    store(panel.mins[g], min);
  }
}

static void unpack_panel(const StoredTile& t, int shift, const SpanPlace& at, Panel& panel) {
  const QuantFormat& f = *t.format;
  const auto codes_of = [&](int64_t block, int64_t column) {
    return t.codes + block * t.code_bytes + column / 32 * chunk_bytes(f);
  };
  const std::byte *codes = codes_of(at.block, at.begin), *next = codes_of(at.next_block, at.next_begin);
  panel.lines = panel.unpacked;
  switch (f.bits) {
    case 2: unpack_span<2>(f, shift, codes, next, at.columns, panel.unpacked); break;
    case 3: unpack_span<3>(f, shift, codes, next, at.columns, panel.unpacked); break;
    case 4: unpack_span<4>(f, shift, codes, next, at.columns, panel.unpacked); break;
    case 5: unpack_span<5>(f, shift, codes, next, at.columns, panel.unpacked); break;
    case 6: unpack_span<6>(f, shift, codes, next, at.columns, panel.unpacked); break;
    default:
      if (shift != 0) unpack_span<8>(f, shift, codes, next, at.columns, panel.unpacked);
      else panel.lines = codes;
      for (int64_t i = 0; shift == 0 && i < at.columns * kBlockChannels; i += 64) __builtin_prefetch(next + i);
  }
  switch (f.scale) {
    case ScaleType::f16: return unpack_scales<ScaleType::f16>(t, at, panel);
    case ScaleType::bf16: return unpack_scales<ScaleType::bf16>(t, at, panel);
    case ScaleType::f32: return unpack_scales<ScaleType::f32>(t, at, panel);
    case ScaleType::e8m0: return unpack_scales<ScaleType::e8m0>(t, at, panel);
    case ScaleType::e4m3: return unpack_scales<ScaleType::e4m3>(t, at, panel);
    case ScaleType::u8: return unpack_scales<ScaleType::u8>(t, at, panel);
    case ScaleType::i8: return unpack_scales<ScaleType::i8>(t, at, panel);
    case ScaleType::nibbles: return unpack_scales<ScaleType::nibbles>(t, at, panel);
  }
}

// The group of a span's 32 columns that begin at `column`, for groups of 32 and more.
PAGODA_INLINE int group_shift(const QuantFormat& f) { return f.group == 64 ? 1 : f.group == 128 ? 2 : 0; }

// a b + c with one rounding, on every machine: a separate function from fma(), which rounds twice where no instruction
// exists.
PAGODA_INLINE Vec fused(Vec a, Vec b, Vec c) { return __builtin_elementwise_fma(a, b, c); }

// Sums of a row's values in a span, for each 16 columns; those of 32 columns are at the even places.
template <bool kHalves>
PAGODA_INLINE IntVec row_sums(const std::byte* sums) {
  const IntVec v = load_as<IntVec>(sums);
  if constexpr (kHalves) return v;
  else return v + __builtin_shufflevector(v, v, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15);
}

// Stores the results of a row and a block.
PAGODA_INLINE void store_results(const StoredTile& t, int64_t m, int64_t block, Vec v) {
  const int64_t n = block * kBlockChannels, count = t.n - n;
  if (t.bias) v += load_up_to(t.bias + n, count);
  store_up_to(t.out + m * t.out_stride + n, v, count);
}
