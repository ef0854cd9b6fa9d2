// SHA-256 and SHA-1 of a stream of bytes, by which model files and small files of a hub are named.
// Own code because no system library has both on macOS and on Linux without a new dependency; in C, not Swift, so that
// debug builds can hash gigabytes too. SHA-1 only compares git blobs with their names: it is no protection by itself.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { pagoda_sha256_bytes = 32, pagoda_sha1_bytes = 20 };

typedef struct {
  uint32_t state[8];   // the first five in SHA-1
  uint64_t num_bytes;  // taken so far
  uint8_t block[64];   // of these, the last num_bytes % 64
  int is_sha1;
} pagoda_digest;

void pagoda_digest_begin(pagoda_digest* digest, int is_sha1);
void pagoda_digest_add(pagoda_digest* digest, const void* bytes, size_t size);
// Writes 32 bytes, or 20 of SHA-1. The digest must begin again after this.
void pagoda_digest_end(pagoda_digest* digest, uint8_t* out);
