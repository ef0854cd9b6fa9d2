"""Lints: rules of the portable subset about whole declarations."""
from kernel import POSITIONAL
from tokens import text


class Lints:
    """Rules over declarations; mixed into Module."""

    def lint_params(self, raw):
        for r in raw:
            words = [t.text for t in r]
            if ("*" in words or "&" in words) and not {"device", "constant", "thread", "threadgroup"} & set(words):
                self.diag(r[0], f"'{text(r)}': pointers and references need an address space")

    def lint_struct(self, k, end):
        for j in range(k, end):
            if self.s(j).text == ":" and self.s(j - 1).text == self.s(k + 1).text:
                self.diag(self.s(j), "derived classes are outside the subset")

    def lint_kernel(self, kn):
        seen, dims = {}, set()
        for p in kn.params:
            if p.index is not None:
                if p.index in seen:
                    self.diag(kn.tok, f"parameters '{seen[p.index]}' and '{p.name}' share an index")
                seen[p.index] = p.name
                if p.index > 30:
                    self.diag(kn.tok, f"buffer index {p.index} is over 30")
            if p.builtin in POSITIONAL:
                dims.add(text(p.type).lstrip("const ")[-1])
        if len({d if d in "23" else "1" for d in dims}) > 1:
            self.diag(kn.tok, "position attributes of one kernel must have the same number of components")

    def lint_recursion(self):
        def reach(f, path):
            for g in self.functions.get(f, ()):
                if g not in self.functions:
                    continue
                if g in path:
                    self.diag(self.kernels[g].tok if g in self.kernels else self.toks[0],
                              f"recursion: {' -> '.join(path + [g])}")
                else:
                    reach(g, path + [g])
        for f in self.functions:
            reach(f, [f])

