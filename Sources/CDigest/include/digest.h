// Incremental SHA-256 and SHA-1, which name the files of a hub. Implemented here because no system library provides
// both on macOS and Linux without a new dependency; in C rather than Swift, so that debug builds can also hash
// gigabytes. SHA-1 only compares git blobs with their names; it is not a security measure.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { pagoda_sha256_bytes = 32, pagoda_sha1_bytes = 20 };

typedef struct {
  uint32_t state[8];   // SHA-1 uses the first five
  uint64_t num_bytes;  // consumed so far
  uint8_t block[64];   // the last num_bytes % 64 of them
  int is_sha1;
} pagoda_digest;

void pagoda_digest_begin(pagoda_digest* digest, int is_sha1);
void pagoda_digest_add(pagoda_digest* digest, const void* bytes, size_t size);
// Writes 32 bytes, or 20 for SHA-1. Reinitialise the digest before using it again.
void pagoda_digest_end(pagoda_digest* digest, uint8_t* out);
