// Kernel source: reads packed weights 64 bytes (4 columns of 16 channels) at a time, as int8 for any storage format.
// Needs kUnsignedWeights: lines are then w + 128 in unsigned bytes.

constexpr int64_t kChunk = host::kStepGroup;  // columns per step and offset of a 4-bit row
constexpr int64_t kPrefetch = 1024;           // prefetch distance in bytes, per weight stream

// Offset of the data a core that reads `blocks` blocks in parallel needs kPrefetch bytes later: past the end of its
// block it continues in the first block after all of them. Without this (and without prefetching steps) one 4-bit row
// of 1024 columns runs at three quarters of the memory bandwidth, because each stream is short.
PAGODA_INLINE int64_t ahead(const PackedTile& t, int blocks, int64_t at) {
  return at + kPrefetch < t.block_bytes ? kPrefetch : kPrefetch + (blocks - 1) * t.block_bytes;
}

// Scales the integer sum of one block and row.
PAGODA_INLINE Vec scaled(const PackedTile& t, int64_t m, int64_t block, IntVec sum) {
  return __builtin_convertvector(sum, Vec) * load(t.channel_scales + block * kBlockChannels) * splat(t.x_scales[m]);
}

// Stores one block of one row of results.
PAGODA_INLINE void store_channels(const PackedTile& t, int64_t m, int64_t block, Vec v) {
  const int64_t n = block * kBlockChannels, count = t.n - n;
  if (t.bias) v += load_up_to(t.bias + n, count);
  store_up_to(t.out + m * t.out_stride + n, v, count);
}

struct Int8Weights {
  static constexpr bool kIsPlain = true;  // lines need no registers of their own
  // Calls step(line of each block, column) for the 32 columns of a chunk.
  template <int Blocks, class Step>
  PAGODA_INLINE void lines(const PackedTile& t, int64_t block, int64_t column, Step& step) {
    const int64_t to_next = ahead(t, Blocks, column * kBlockChannels);
    for (int l = 0; l < 8; ++l) {
      Bytes w[Blocks];
      for (int j = 0; j < Blocks; ++j) {
        const std::byte* p = t.weights + (block + j) * t.block_bytes + column * kBlockChannels + l * 64;
        __builtin_prefetch(p + to_next);
        w[j] = load_as<Bytes>(p);
        if constexpr (kUnsignedWeights) w[j] ^= 0x80;
      }
      step.add(w, column + l * 4);
    }
  }
};

// One load holds columns 4 l .. 4 l + 3 of a chunk in the low nibbles, and those 16 further in the high nibbles.
struct Int4Weights {
  static constexpr bool kIsPlain = false;
  struct Spread {
    Pairs step;    // replicated in both bytes of a pair: nibble * step < 256, so no byte carries into the next
    Bytes offset;  // minus 128 if dot() takes signed bytes
  };
  PAGODA_INLINE Spread spread(const std::byte* steps) {
    const Bytes16 step = load_as<Bytes16>(steps), offset = load_as<Bytes16>(steps + 16);
    constexpr Bytes16 kNone = {};
#define PAGODA_FOUR(i) i, i, i, i
#define PAGODA_TWO(i) i, 16, i, 16
#define PAGODA_ALL(f) \
  f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), f(15)
    const Bytes wide_step = __builtin_shufflevector(step, kNone, PAGODA_ALL(PAGODA_TWO));
    const Bytes wide_offset = __builtin_shufflevector(offset, offset, PAGODA_ALL(PAGODA_FOUR));
#undef PAGODA_FOUR
#undef PAGODA_TWO
#undef PAGODA_ALL
    return {__builtin_bit_cast(Pairs, wide_step), kUnsignedWeights ? wide_offset : wide_offset ^ 0x80};
  }
  PAGODA_INLINE Bytes unpack(Bytes nibbles, const Spread& s) {
    return __builtin_bit_cast(Bytes, __builtin_bit_cast(Pairs, nibbles) * s.step) + s.offset;
  }
  template <int Blocks, class Step>
  PAGODA_INLINE void lines(const PackedTile& t, int64_t block, int64_t column, Step& step) {
    Spread spreads[Blocks];
    for (int j = 0; j < Blocks; ++j) {
      const std::byte* steps = t.steps + (block + j) * t.step_bytes + column;
      __builtin_prefetch(steps + Blocks * t.step_bytes);
      spreads[j] = spread(steps);
    }
    const int64_t to_next = ahead(t, Blocks, column * (kBlockChannels / 2));
    for (int l = 0; l < 4; ++l) {
      Bytes low[Blocks], high[Blocks];
      for (int j = 0; j < Blocks; ++j) {
        const std::byte* p = t.weights + (block + j) * t.block_bytes + column * (kBlockChannels / 2) + l * 64;
        __builtin_prefetch(p + to_next);
        const Bytes both = load_as<Bytes>(p);
        low[j] = unpack(both & 15, spreads[j]);
        high[j] = unpack(__builtin_bit_cast(Bytes, __builtin_bit_cast(Pairs, both) >> 4) & 15, spreads[j]);
      }
      step.add(low, column + l * 4);
      step.add(high, column + l * 4 + 16);
    }
  }
};
