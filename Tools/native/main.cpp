// Runs the C++ tests without Swift. Usage: tests FIXTURES MINI_MODEL [substring of test names]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cxx_core_tests.h"

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: tests FIXTURES MINI_MODEL [substring]\n"), 64;
  pagoda_cxx_test_set_folders(argv[1], argv[2]);
  int passed = 0, failed = 0;
  for (int i = 0; i < pagoda_cxx_test_count(); ++i) {
    const char* name = pagoda_cxx_test_name(i);
    if (argc > 3 && !std::strstr(name, argv[3])) continue;
    const auto start = std::chrono::steady_clock::now();
    char* failure = pagoda_cxx_test_run(i);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    std::printf("%s %s (%.0f ms)\n", failure ? "FAIL" : "ok  ", name, ms);
    if (failure) std::printf("%s", failure);
    std::fflush(stdout);
    ++(failure ? failed : passed);
    std::free(failure);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
