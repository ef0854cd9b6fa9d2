// The files of the chat page and the description of the API, which are part of the binary.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define PAGODA_PAGE_NONNULL _Nonnull
#else
#define PAGODA_PAGE_NONNULL
#endif

struct PagodaPageFile {
  const char* PAGODA_PAGE_NONNULL name;     // plain file name
  const uint8_t* PAGODA_PAGE_NONNULL data;  // lives as long as the process
  size_t size;                              // bytes
};

size_t pagoda_page_file_count(void);

// index < pagoda_page_file_count()
struct PagodaPageFile pagoda_page_file(size_t index);
