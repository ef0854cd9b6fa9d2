"""Mutants: small defects planted into kernels, all in one text; a number in the environment chooses which one acts.

A barrier is left out, the condition of an `if` always holds, `min` and `max` give their first operand. The tests of the
kernels have to notice each: Tools/mslc/mutate.py.
"""

# `msl_reached` remembers which were met, so that the runner knows which tests can notice a mutant at all.
PRELUDE = """#include <cstdio>
#include <cstdlib>
namespace metal {
namespace {
struct msl_Mutants {
  int active = std::getenv("PAGODA_MUTANT") ? std::atoi(std::getenv("PAGODA_MUTANT")) : -1;
  bool reached[4096] = {};
  ~msl_Mutants() {
    const char* path = std::getenv("PAGODA_MUTANTS_REACHED");
    std::FILE* file = path ? std::fopen(path, "a") : nullptr;
    if (!file) return;
    for (int i = 0; i < 4096; ++i)
      if (reached[i]) std::fprintf(file, "%d\\n", i);
    std::fclose(file);
  }
};
msl_Mutants msl_mutants;
__attribute__((no_sanitize("thread"))) bool msl_mutant(int n) {
  msl_mutants.reached[n] = true;
  return msl_mutants.active == n;
}
template <int N, typename A, typename B>
METAL_FUNC auto msl_mutant_min(A a, B b) {
  return msl_mutant(N) ? a : min(a, b);
}
template <int N, typename A, typename B>
METAL_FUNC auto msl_mutant_max(A a, B b) {
  return msl_mutant(N) ? a : max(a, b);
}
}  // namespace
}  // namespace metal
"""
BARRIERS = ("threadgroup_barrier", "simdgroup_barrier")


class Mutants:
    """Plants mutants into function bodies; mixed into Module."""

    def plant(self, first, last):
        """Looks at tokens first .. last, after all other rules."""
        for j in range(first, last):
            word, before, after = self.s(j).text, self.s(j - 1).text, self.s(j + 1).text
            if after != "(":
                continue
            if word in BARRIERS and before in ("{", "}", ";"):
                self.wrap(j, j, f"if (!msl_mutant({self.new_mutant(j, 'no ' + word)})) ", "")
            elif word == "if":
                n = self.new_mutant(j, "guard always holds")
                self.wrap(j + 2, self.find(j + 1) - 1, f"msl_mutant({n}) || (", ")")
            elif word in ("min", "max") and before not in (".", "::"):
                self.wrap(j, j, f"msl_mutant_", f"<{self.new_mutant(j, word + ' gives its first operand')}>")

    def new_mutant(self, j, kind):
        token = self.s(j)
        self.mutants.append((token.file, token.line, kind))
        return self.first_mutant + len(self.mutants) - 1
