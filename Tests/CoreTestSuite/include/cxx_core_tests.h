// Lists and runs the C++ tests; plain C so that a Swift test target needs no C++ interop.
#pragma once

#if defined(__cplusplus)
extern "C" {
#endif

int pagoda_cxx_test_count(void);
const char* pagoda_cxx_test_name(int index);
void pagoda_cxx_test_set_folders(const char* fixtures, const char* mini_model);

// Runs one test; returns null if it passed, otherwise a report, which the caller frees. One test at a time.
char* pagoda_cxx_test_run(int index);

#if defined(__cplusplus)
}
#endif
