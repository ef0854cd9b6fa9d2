"""Words: replacements of single tokens, and tokens outside of the subset."""
import re

SCALARS = ("float", "half", "bfloat", "int", "uint", "short", "ushort", "char", "uchar", "long", "ulong", "bool")
VECTORS = {f"{s}{n}": (s, n) for s in SCALARS for n in (2, 3, 4)}
# Words that C++ or CUDA accepts and Metal does not, or whose meaning differs between them.
FORBIDDEN = {
    "double": "Metal has no double", "goto": "Metal has no goto", "new": "no dynamic memory",
    "delete": "no dynamic memory", "throw": "no exceptions", "try": "no exceptions", "catch": "no exceptions",
    "virtual": "no virtual functions", "dynamic_cast": "no RTTI", "typeid": "no RTTI",
    "thread_local": "no thread_local", "register": "not in Metal", "std": "no C++ standard library",
    "asm": "no inline assembly", "union": "layout differs between compilers; use as_type",
    "isnan": "folded away by Metal's default fast math", "isinf": "folded away by Metal's default fast math",
    "isfinite": "folded away by Metal's default fast math", "INFINITY": "fast math assumes no infinities",
    "NAN": "fast math assumes no NaNs", "HUGE_VALF": "fast math assumes no infinities",
    "volatile": "not portable", "thread_elements": "element layout of simdgroup_matrix is unspecified",
    "__shared__": "CUDA word", "__device__": "CUDA word", "threadIdx": "CUDA word", "blockIdx": "CUDA word",
    "__builtin_expect": "compiler builtin",
    **{f"{sign}int{bits}_t": f"Metal has it only after <metal_stdlib>, which args/ do not include: write {sign}{name}"
       for sign in ("", "u") for bits, name in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))},
}


class Words:
    """Rules for single tokens; mixed into Module, which has the tokens and the replacements."""

    def rewrite_words(self, k, end):
        for j in range(k, end + 1):
            self.word(j)

    def word(self, j):
        t, i = self.s(j), self.sig[j]
        if i in self.replace:
            return
        spaces = {"device": "MSL_DEVICE", "constant": "MSL_CONSTANT", "threadgroup": "MSL_THREADGROUP",
                  "thread": "MSL_THREAD"}
        if t.kind == "id":
            member = self.s(j - 1).text in (".", "->") and t.text != "thread_elements"
            if t.text in FORBIDDEN and not member:
                self.diag(t, f"'{t.text}': {FORBIDDEN[t.text]}")
            if t.text == "long" and self.s(j + 1).text == "long":
                self.diag(t, "'long long': write long (64 bits in Metal)")
            if t.text == "static":
                self.diag(t, "static variables are outside the subset")
            if t.text in spaces:
                self.replace[i] = spaces[t.text]
            elif self.target == "strict":
                self.strict_constructor(j)
        elif t.kind == "num":
            self.number(j)
        elif t.text == "[" and self.s(j + 1).text in ("]", "=", "&") and self.s(j - 1).text in ("=", "(", ",", "return"):
            self.diag(t, "lambda expressions are outside the subset")
        elif t.text == "(" and self.s(j + 1).text == "*" and self.s(j + 2).kind == "id" \
                and self.s(j + 3).text == ")" and self.s(j + 4).text == "(":
            self.diag(t, "function pointers are outside the subset")

    def number(self, j):
        t, i = self.s(j), self.sig[j]
        v = t.text
        if v.lower().startswith("0x"):
            return
        m = re.fullmatch(r"([\d.]+(?:[eE][+-]?\d+)?)(bf|[fFhH])?", v)
        if not m:
            return
        floating = "." in v or "e" in v.lower() or m.group(2)
        if not floating:
            return
        if not m.group(2):
            self.diag(t, f"'{v}': write {v}f (a double outside Metal)")
            self.replace[i] = v + "f"
        elif m.group(2) not in "fF":
            self.diag(t, f"'{v}': write {'bfloat' if m.group(2) == 'bf' else 'half'}({m.group(1)}f) (CUDA has no such literal)")

    def strict_constructor(self, j):
        """float4(...) -> msl_make<float4>(...): plain clang has no multi-argument vector constructors."""
        t = self.s(j)
        if self.s(j - 1).text in (".", "->", "struct", "using"):
            return
        if (t.text in VECTORS or t.text in self.aliases) and self.s(j + 1).text == "(":
            self.replace[self.sig[j]] = f"msl_make<{t.text}>"
        elif t.text == "vec" and self.s(j + 1).text == "<":
            e = self.find_angle(j + 1)
            if self.s(e + 1).text == "(" and self.s(e).text == ">":
                self.replace[self.sig[j]] = "msl_make<vec"
                self.replace[self.sig[e]] = ">>"

