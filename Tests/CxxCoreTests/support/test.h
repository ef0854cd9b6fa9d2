// A one-page test framework: tests register themselves; checks record failures and let the test continue.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace pagoda::test {

struct TestCase {
  const char* name;  // area_behaviour, unique
  void (*run)();
};

std::vector<TestCase>& registry();
bool add_test(const char* name, void (*run)());
void fail(const char* file, int line, const std::string& message);
bool failed();                       // whether the running test has failed so far
void note(const std::string& text);  // printed with a failure: seeds, measured values

// Folder of checked-in fixtures, and of the embedded model. Set by the runner, without a trailing slash.
std::string fixtures_dir();
std::string mini_model_dir();

// A fresh folder in the system's temporary folder, deleted when the process ends.
std::string temporary_dir();

// Seed for random tests: PAGODA_TEST_SEED if set, else `fallback`. Noted, so that a failure prints it.
uint64_t seed(uint64_t fallback);

template <class A, class B>
std::string compare_text(const char* a_text, const char* b_text, const A& a, const B& b) {
  std::ostringstream out;
  out << a_text << " vs " << b_text << ": ";
  if constexpr (requires { out << a; }) out << a;
  else out << "(value)";
  out << " vs ";
  if constexpr (requires { out << b; }) out << b;
  else out << "(value)";
  return out.str();
}

}  // namespace pagoda::test

#define PAGODA_TEST(name)                                                                                             \
  static void pagoda_test_##name();                                                                                   \
  [[maybe_unused]] static const bool pagoda_test_added_##name = ::pagoda::test::add_test(#name, &pagoda_test_##name); \
  static void pagoda_test_##name()

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) ::pagoda::test::fail(__FILE__, __LINE__, "CHECK(" #condition ")"); \
  } while (false)

#define CHECK_EQ(a, b)                                                                                      \
  do {                                                                                                      \
    const auto pagoda_a_ = (a);                                                                             \
    const auto pagoda_b_ = (b);                                                                             \
    if (!(pagoda_a_ == pagoda_b_))                                                                          \
      ::pagoda::test::fail(__FILE__, __LINE__, ::pagoda::test::compare_text(#a, #b, pagoda_a_, pagoda_b_)); \
  } while (false)

#define CHECK_OK(expression)                                                                                  \
  do {                                                                                                        \
    const auto& pagoda_r_ = (expression);                                                                     \
    if (!pagoda_r_.is_ok()) ::pagoda::test::fail(__FILE__, __LINE__, ::pagoda::test::status_text(pagoda_r_)); \
  } while (false)

// Ends the test if the condition does not hold: continuing would crash.
#define REQUIRE(condition)                                                 \
  do {                                                                     \
    if (!(condition)) {                                                    \
      ::pagoda::test::fail(__FILE__, __LINE__, "REQUIRE(" #condition ")"); \
      return;                                                              \
    }                                                                      \
  } while (false)

#define REQUIRE_OK(expression)                                                          \
  do {                                                                                  \
    const auto& pagoda_r_ = (expression);                                               \
    if (!pagoda_r_.is_ok()) {                                                           \
      ::pagoda::test::fail(__FILE__, __LINE__, ::pagoda::test::status_text(pagoda_r_)); \
      return;                                                                           \
    }                                                                                   \
  } while (false)

namespace pagoda::test {
template <class R>
std::string status_text(const R& result) {
  if constexpr (requires { result.message; }) return "status: " + result.message;
  else return "status: " + result.status.message;
}
}  // namespace pagoda::test
