"""Statements: rewrites inside function bodies: threadgroup variables, pointer casts, loops."""
from tokens import split_commas, text

SPACES = ("device", "threadgroup", "constant", "thread", "const")


class Statements:
    """Rules for function bodies; mixed into Module."""

    def statements(self, k, end, is_kernel):
        loops, j = [], k
        while j <= end:
            t = self.s(j)
            if t.text == "threadgroup" and self.s(j - 1).text in ("{", "}", ";", ")", ":"):
                semi = self.find_text(j, ";")
                if not self.declares_pointer(j + 1, semi):
                    self.threadgroup_variable(j, semi, is_kernel)
                    j = semi + 1
                    continue
            if t.text == "(":
                self.space_cast(j)
            if t.text in ("for", "while") and self.target == "software":
                loops.append(j)
            self.word(j)
            j += 1
        for j in loops:
            self.count_loop(j)

    def declares_pointer(self, k, end):
        depth, pointer = 0, False
        for x in self.group(k, end):
            if x.text == "=":
                break
            depth += {"<": 1, ">": -1, "[": 1, "]": -1}.get(x.text, 0)
            pointer |= depth == 0 and x.text in ("*", "&")
        return pointer

    def threadgroup_variable(self, j, semi, is_kernel):
        decl = self.group(j + 1, semi)
        if not is_kernel:
            self.diag(self.s(j), "threadgroup variables may be declared in kernel functions only")
        if any(x.text == "=" for x in decl):
            self.diag(self.s(j), "a threadgroup variable cannot have an initializer")
        if len(split_commas(decl)) > 1:
            self.diag(self.s(j), "declare one threadgroup variable per statement")
        br = next((i for i, x in enumerate(decl) if x.text == "["), len(decl))
        name, ty, dims = decl[br - 1].text, text(decl[:br - 1]), text(decl[br:])
        self.num_threadgroup_variables += 1
        self.blank(j, semi, f"MSL_TG_VAR({self.num_threadgroup_variables}, {name}, {dims}, {ty})")
        self.mark(j, j, "threadgroup", "MSL_SHARED")

    def space_cast(self, j):
        """(device T*)(x) -> msl_cast<device T*>(x) in the strict target, where a cast may not change the space."""
        if self.s(j + 1).text not in SPACES:
            return
        e = self.find(j)
        if self.s(e - 1).text != "*":
            return
        if self.s(e + 1).text != "(":
            self.diag(self.s(j), "put the operand of a pointer cast in parentheses")
        elif self.target == "strict":
            self.replace[self.sig[j]] = "msl_cast<"
            self.replace[self.sig[e]] = ">"

    def count_loop(self, j):
        """The software device counts loop iterations, so that an endless loop becomes an error. Unrolled loops are left
        alone: their count is known, and a counter would prevent unrolling."""
        if self.is_unrolled(j) or self.s(j + 1).text != "(":
            return
        first, last = j + 2, self.find(j + 1) - 1
        if self.s(j).text == "for":
            depth, semis = 0, []
            for x in range(first, last + 1):
                depth += {"(": 1, ")": -1, "[": 1, "]": -1, "{": 1, "}": -1}.get(self.s(x).text, 0)
                if self.s(x).text == ";" and depth == 0:
                    semis.append(x)
            if len(semis) != 2:
                return
            if semis[1] == semis[0] + 1:
                self.wrap(semis[0], semis[0], "", " MSL_LOOP(true)")
                return
            first, last = semis[0] + 1, semis[1] - 1
        self.wrap(first, last, "MSL_LOOP(", ")")

    def is_unrolled(self, j):
        i = self.sig[j] - 1
        while i >= 0 and self.toks[i].kind in ("ws", "nl", "mark"):
            i -= 1
        return i >= 0 and self.toks[i].kind == "pragma" and "unroll" in self.toks[i].text
