// The files of the model that ships inside the binary; plain C so that any host can read the table.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define PAGODA_MINI_NONNULL _Nonnull
#else
#define PAGODA_MINI_NONNULL
#endif

#if defined(__cplusplus)
extern "C" {
#endif

struct PagodaMiniFile {
  const char* PAGODA_MINI_NONNULL name;     // plain file name
  const uint8_t* PAGODA_MINI_NONNULL data;  // lives as long as the process
  size_t size;                              // bytes
};

size_t pagoda_mini_file_count(void);

// index < pagoda_mini_file_count()
struct PagodaMiniFile pagoda_mini_file(size_t index);

#if defined(__cplusplus)
}
#endif
