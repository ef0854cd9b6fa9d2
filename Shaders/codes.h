// Codes of 8 bits as bfloats, which hold them exactly: those of stored weights and of int8 caches.
#pragma once

#include "tiles.h"

// A byte minus an integer, without a conversion. zero: 2^23 plus that integer
METAL_FUNC float byte_minus(uint byte, float zero) { return as_type<float>(0x4b000000u | byte) - zero; }

METAL_FUNC uint2 words_of_codes(uint word, float zero) {
  return uint2(pack_exact(byte_minus(word & 255u, zero), byte_minus(word >> 8 & 255u, zero)),
               pack_exact(byte_minus(word >> 16 & 255u, zero), byte_minus(word >> 24, zero)));
}

METAL_FUNC void bytes_to_words(uint4 bytes, uint zero_code, thread uint (&words)[kChunkTiles]) {
  const float zero = 8388608.0f + float(zero_code);
  const uint2 a = words_of_codes(bytes.x, zero);
  const uint2 b = words_of_codes(bytes.y, zero);
  const uint2 c = words_of_codes(bytes.z, zero);
  const uint2 d = words_of_codes(bytes.w, zero);
  set_words(uint4(a.x, a.y, b.x, b.y), uint4(c.x, c.y, d.x, d.y), words);
}

// Of two's complement.
METAL_FUNC uint2 signed_codes_in(uint word) { return words_of_codes(word ^ 0x80808080u, 8388608.0f + 128.0f); }

METAL_FUNC void signed_bytes_to_words(uint4 bytes, thread uint (&words)[kChunkTiles]) {
  bytes_to_words(uint4(bytes.x ^ 0x80808080u, bytes.y ^ 0x80808080u, bytes.z ^ 0x80808080u, bytes.w ^ 0x80808080u), 128,
                 words);
}
