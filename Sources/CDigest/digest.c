// SHA-256 and SHA-1 according to FIPS 180-4, one 64-byte block at a time.
#include "digest.h"

#include <string.h>

static uint32_t rotate_left(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }
static uint32_t rotate_right(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static uint32_t read_word(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t sha256_rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void sha256_block(uint32_t *state, const uint8_t *block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = read_word(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t low = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t high = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; ++i) {
    const uint32_t sum_e = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const uint32_t sum_a = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const uint32_t first = h + sum_e + ((e & f) ^ (~e & g)) + sha256_rounds[i] + w[i];
    const uint32_t second = sum_a + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void sha1_block(uint32_t *state, const uint8_t *block) {
  uint32_t w[80];
  for (int i = 0; i < 16; ++i) w[i] = read_word(block + 4 * i);
  for (int i = 16; i < 80; ++i) w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int i = 0; i < 80; ++i) {
    const uint32_t mix = i < 20 ? ((b & c) | (~b & d)) : i >= 40 && i < 60 ? ((b & c) | (b & d) | (c & d)) : b ^ c ^ d;
    const uint32_t add = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
    const uint32_t next = rotate_left(a, 5) + mix + e + add + w[i];
    e = d, d = c, c = rotate_left(b, 30), b = a, a = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

static void take_block(pagoda_digest *digest, const uint8_t *block) {
  if (digest->is_sha1) {
    sha1_block(digest->state, block);
  } else {
    sha256_block(digest->state, block);
  }
}

void pagoda_digest_begin(pagoda_digest *digest, int is_sha1) {
  static const uint32_t sha256_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  static const uint32_t sha1_state[8] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0, 0, 0, 0};
  memcpy(digest->state, is_sha1 ? sha1_state : sha256_state, sizeof(digest->state));
  digest->num_bytes = 0;
  digest->is_sha1 = is_sha1;
}

void pagoda_digest_add(pagoda_digest *digest, const void *bytes, size_t size) {
  const uint8_t *p = bytes;
  size_t filled = digest->num_bytes % 64;
  digest->num_bytes += size;
  if (filled > 0) {
    const size_t part = size < 64 - filled ? size : 64 - filled;
    memcpy(digest->block + filled, p, part);
    p += part, size -= part, filled += part;
    if (filled < 64) return;
    take_block(digest, digest->block);
  }
  for (; size >= 64; p += 64, size -= 64) take_block(digest, p);
  if (size > 0) memcpy(digest->block, p, size);
}

void pagoda_digest_end(pagoda_digest *digest, uint8_t *out) {
  const uint64_t num_bits = digest->num_bytes * 8;
  uint8_t tail[72] = {0x80};
  const size_t filled = digest->num_bytes % 64;
  const size_t padding = filled < 56 ? 56 - filled : 120 - filled;
  for (int i = 0; i < 8; ++i) tail[padding + i] = (uint8_t)(num_bits >> (56 - 8 * i));
  pagoda_digest_add(digest, tail, padding + 8);
  const int size = digest->is_sha1 ? pagoda_sha1_bytes : pagoda_sha256_bytes;
  for (int i = 0; i < size; ++i) out[i] = (uint8_t)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}
