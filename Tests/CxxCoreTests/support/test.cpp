// The registry of C++ tests and the C interface through which a runner (native main, or Swift) lists and runs them.
#include "support/test.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>

#include "cxx_core_tests.h"

namespace pagoda::test {
namespace {

// Checks may run on worker threads of a test, so their records are guarded.
struct Running {
  std::mutex mutex;
  std::string failures, notes, fixtures, mini;
};

Running& running() {
  static Running r;
  return r;
}

struct TemporaryDir {
  std::string path;
  TemporaryDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pagoda-test-XXXXXX").string();
    path = mkdtemp(pattern.data()) ? pattern : std::string();
  }
  ~TemporaryDir() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

std::vector<TestCase>& registry() {
  static std::vector<TestCase> tests;
  return tests;
}

bool add_test(const char* name, void (*run)()) {
  registry().push_back({name, run});
  return true;
}

void fail(const char* file, int line, const std::string& message) {
  std::lock_guard lock(running().mutex);
  const char* base = std::strrchr(file, '/');
  running().failures += std::string(base ? base + 1 : file) + ":" + std::to_string(line) + ": " + message + "\n";
  if (std::getenv("PAGODA_TEST_FAIL_FAST")) {  // for runs that only need to know whether anything fails
    std::fputs(running().failures.c_str(), stdout);
    std::fflush(stdout);
    std::_Exit(1);
  }
}

bool failed() {
  std::lock_guard lock(running().mutex);
  return !running().failures.empty();
}

void note(const std::string& text) {
  std::lock_guard lock(running().mutex);
  running().notes += text + "\n";
}

std::string fixtures_dir() { return running().fixtures; }
std::string mini_model_dir() { return running().mini; }

std::string temporary_dir() {
  static TemporaryDir root;
  static int count = 0;
  std::string path = root.path + "/" + std::to_string(count++);
  std::filesystem::create_directories(path);
  return path;
}

uint64_t seed(uint64_t fallback) {
  const char* given = std::getenv("PAGODA_TEST_SEED");
  const uint64_t value = given ? std::strtoull(given, nullptr, 10) : fallback;
  note("seed " + std::to_string(value));
  return value;
}

}  // namespace pagoda::test

using pagoda::test::registry;

int pagoda_cxx_test_count(void) { return static_cast<int>(registry().size()); }

const char* pagoda_cxx_test_name(int index) { return registry()[static_cast<size_t>(index)].name; }

void pagoda_cxx_test_set_folders(const char* fixtures, const char* mini_model) {
  pagoda::test::running().fixtures = fixtures;
  pagoda::test::running().mini = mini_model;
}

char* pagoda_cxx_test_run(int index) {
  auto& state = pagoda::test::running();
  state.failures.clear();
  state.notes.clear();
  try {
    registry()[static_cast<size_t>(index)].run();
  } catch (const std::exception& error) {
    pagoda::test::fail("test", 0, std::string("exception left the test: ") + error.what());
  }
  return state.failures.empty() ? nullptr : strdup((state.failures + state.notes).c_str());
}
