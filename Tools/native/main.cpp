// Runs the C++ tests without Swift, in one process per core. Usage: tests FIXTURES MINI_MODEL [part of test names ...]
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "cxx_core_tests.h"

namespace {

constexpr int kMaxProcesses = 64;

struct Shared {  // by all processes
  std::atomic<int> next{0}, passed{0}, failed{0};
  std::atomic<int> running[kMaxProcesses] = {};  // the current test of each
};

std::string run_test(int index, bool& is_ok) {
  const auto start = std::chrono::steady_clock::now();
  char* failure = pagoda_cxx_test_run(index);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  is_ok = !failure;
  std::string report = std::string(failure ? "FAIL " : "ok   ") + pagoda_cxx_test_name(index) + " (" +
                       std::to_string(ms) + " ms)\n" + (failure ? failure : "");
  std::free(failure);
  return report;
}

bool is_wanted(const char* name, std::span<char*> parts) {
  return parts.empty() || std::ranges::any_of(parts, [&](const char* part) { return std::strstr(name, part); });
}

void take_tests(Shared& shared, int process, std::span<char*> parts) {
  for (int i; (i = shared.next++) < pagoda_cxx_test_count();) {
    if (!is_wanted(pagoda_cxx_test_name(i), parts)) continue;
    shared.running[process] = i;
    bool is_ok = false;
    const std::string report = run_test(i, is_ok);
    std::fwrite(report.data(), 1, report.size(), stdout);  // whole reports only: the processes share stdout
    std::fflush(stdout);
    ++(is_ok ? shared.passed : shared.failed);
  }
}

// A child that terminates early counts as a failed test.
void wait_for(pid_t child, int process, Shared& shared) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::printf("FAIL %s: its process ended with status 0x%x\n", pagoda_cxx_test_name(shared.running[process]),
              static_cast<unsigned>(status));
  ++shared.failed;
}

}  // namespace

// tests FIXTURES MINI_MODEL --mutants ..., replaced by mutants.cpp in its build.
[[gnu::weak]] int try_mutants(int, char**) { return std::fprintf(stderr, "this build has no mutants\n"), 64; }

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[3], "--mutants") == 0) return try_mutants(argc, argv);
  if (argc < 3) return std::fprintf(stderr, "usage: tests FIXTURES MINI_MODEL [part ...]\n"), 64;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return std::perror("mmap"), 71;
  Shared& shared = *new (memory) Shared;
  pagoda_cxx_test_set_folders(argv[1], argv[2]);
  const int num_processes = static_cast<int>(std::clamp<long>(sysconf(_SC_NPROCESSORS_ONLN), 1, kMaxProcesses));
  pid_t children[kMaxProcesses];
  for (int i = 0; i < num_processes; ++i) {
    children[i] = fork();
    if (children[i] < 0) return std::perror("fork"), 71;
    if (children[i] > 0) continue;
    take_tests(shared, i, {argv + 3, argv + argc});
    std::exit(0);  // destructors of static objects delete their folders
  }
  for (int i = 0; i < num_processes; ++i) wait_for(children[i], i, shared);
  std::printf("%d passed, %d failed\n", shared.passed.load(), shared.failed.load());
  return shared.failed == 0 && shared.passed > 0 ? 0 : 1;
}
