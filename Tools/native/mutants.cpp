// Evaluates kernel mutants: tests FIXTURES MINI_MODEL --mutants FIRST END test... Without --mutants none is active, and
// main.cpp runs the tests as in other builds. Runs the tests; when a test reaches one of the mutants [FIRST, END), it
// forks a child that continues with the mutant active, to its first failure or the end of the test, while the parent
// waits. The part before the fork thus runs once for all mutants. A detected mutant is not tried again; when all are
// detected, the remaining tests are skipped. Prints "noticed N test" or "survives N test" for each mutant reached, and
// fails if a test fails without any.
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cxx_core_tests.h"

namespace {

enum class State : char { unmet, quiet, acting };
constexpr int kMaxMutants = 4096, kMaxSeconds = 100;  // CPU time; more counts as a hang
State states[kMaxMutants];
bool noticed[kMaxMutants];
int first, end, num_noticed;
const char* current_test;

// Runs with this mutant active until the process ends.
void begin_child(int n) {
  for (State& state : states) state = State::quiet;
  states[n] = State::acting;
  const itimerval limit{{}, {kMaxSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

void judge(int n, pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  noticed[n] = status != 0;
  std::printf("%s %d %s\n", noticed[n] ? "noticed" : "survives", n, current_test);
  std::fflush(stdout);
  num_noticed += noticed[n];
  if (num_noticed == end - first) std::_Exit(0);
}

int index_of(const char* name) {
  for (int i = 0; i < pagoda_cxx_test_count(); ++i)
    if (std::strcmp(pagoda_cxx_test_name(i), name) == 0) return i;
  return -1;
}

}  // namespace

// Called by kernels at each planted mutant: whether it is active.
bool msl_mutant(int n) {
  if (!current_test) return false;
  if (states[n] != State::unmet) return states[n] == State::acting;
  states[n] = State::quiet;
  if (n < first || n >= end || noticed[n]) return false;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return std::perror("fork"), std::_Exit(71), false;
  if (child == 0) return begin_child(n), true;
  judge(n, child);
  return false;
}

int try_mutants(int argc, char** argv) {
  if (argc < 7) return std::fprintf(stderr, "usage: tests FIXTURES MINI_MODEL --mutants FIRST END test...\n"), 64;
  setenv("PAGODA_TEST_FAIL_FAST", "1", 1);
  setenv("PAGODA_TEST_DEVICE", "software", 1);
  pagoda_cxx_test_set_folders(argv[1], argv[2]);
  first = std::atoi(argv[4]);
  end = std::atoi(argv[5]);
  for (int i = 6; i < argc; ++i) {
    const int index = index_of(argv[i]);
    if (index < 0) return std::fprintf(stderr, "no test '%s'\n", argv[i]), 64;
    std::memset(states, 0, sizeof states);
    current_test = argv[i];
    if (pagoda_cxx_test_run(index)) return 1;
    for (const State state : states)
      if (state == State::acting) std::_Exit(0);  // a child whose mutant survives
  }
  return 0;
}
