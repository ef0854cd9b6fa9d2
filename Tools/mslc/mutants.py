"""Mutants: small defects planted into kernels, all in one text; a number selects the active one.

A barrier is removed, the condition of an `if` is always true (or false, where true would change no result), `min` and
`max` return their first operand. The kernel tests must detect each: Tools/mslc/mutate.py.
"""
from pathlib import Path


# Tools/native/mutants.cpp defines msl_mutant(): whether a mutant is active.
PRELUDE = """bool msl_mutant(int n);
namespace metal {
namespace {
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

    def plant_all(self):
        """Runs after all other rules, on functions that this file's kernels call: a header contains others too."""
        used, waiting = set(), list(self.kernels)
        while waiting:
            name = waiting.pop()
            if name not in used:
                used.add(name)
                waiting += self.functions.get(name, ())
        for name, body, end in self.bodies:
            if name in used:
                self.plant(body, end)

    def plant(self, first, last):
        """Plants mutants in tokens first .. last."""
        for j in range(first, last):
            word, before, after = self.s(j).text, self.s(j - 1).text, self.s(j + 1).text
            if after != "(":
                continue
            if word in BARRIERS and before in ("{", "}", ";"):
                self.wrap(j, j, f"if (!msl_mutant({self.new_mutant(j, 'no ' + word)})) ", "")
            elif word == "if":
                kind, act = ("guard never holds", "!{} && (") if self.only_saves_work(j) else ("guard always holds", "{} || (")
                call = f"msl_mutant({self.new_mutant(j, kind)})"
                self.wrap(j + 2, self.find(j + 1) - 1, act.format(call), ")")
            elif word in ("min", "max") and before not in (".", "::"):
                self.wrap(j, j, f"msl_mutant_", f"<{self.new_mutant(j, word + ' gives its first operand')}>")

    def only_saves_work(self, j):
        """Whether the comment above the line says, with a reason, that the `if` only saves work: always doing the work
        then gives the same results."""
        token = self.s(j)
        lines = Path(token.file).read_text(encoding="utf-8").splitlines()[:token.line - 1]
        while lines and lines[-1].lstrip().startswith("//"):
            if "Only saves work: " in lines.pop():
                return True
        return False

    def new_mutant(self, j, kind):
        token = self.s(j)
        self.mutants.append((token.file, token.line, kind))
        return self.first_mutant + len(self.mutants) - 1
