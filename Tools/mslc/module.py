"""Module: one preprocessed .metal file; rewrites four constructs in its declarations and leaves the rest alone.

The four: kernel entry points, threadgroup variables, program-scope `constant` variables (including function
constants) and [[host_name]] instantiations.
"""
from cursor import Cursor
from kernel import Kernel, Param, take_attributes
from lints import Lints
from mutants import Mutants
from statements import Statements
from tokens import match_angle, split_commas, text
from words import Words

BLOCKS = ("struct", "enum", "class", "namespace")


class Module(Cursor, Words, Lints, Statements, Mutants):
    """State: kernels by name, instances (host name, kernel, template arguments, token), function constants, and the
    call graph."""

    def __init__(self, toks, target, diag, first_mutant=None):
        super().__init__(toks)
        self.target, self.diag = target, diag
        self.first_mutant, self.mutants = first_mutant, []  # (file, line, kind) of each planted mutant
        self.bodies = []  # functions: name, first and last token
        self.kernels, self.instances, self.constants, self.functions = {}, [], [], {}
        self.num_threadgroup_variables = 0
        self.aliases = {}  # using X = vec<...>;
        self.marks = {}  # what the text for both GPUs says differently: texts.py
        k = 0
        while k < len(self.sig):
            k = self.declaration(k)
        self.lint_recursion()
        if first_mutant is not None:
            self.plant_all()

    def declaration(self, k):
        """Processes the declaration at k; returns the index of the token after it."""
        start, tparams = k, None
        if self.s(k).text == ";":
            return k + 1
        if self.s(k).text == "using" and self.s(k + 1).text == "namespace":
            self.blank(k, k + 3)
            return k + 4
        if self.s(k).text == "template":
            if self.s(k + 1).text != "<":
                return self.instantiation(k)
            end = self.find_angle(k + 1)
            tparams = split_commas(self.group(k + 2, end))
            k = end + 1
        is_kernel, name_at, body, end = self.extent(k)
        head = self.s(k).text
        if head in BLOCKS:
            self.lint_struct(k, end)
            self.rewrite_words(k, end)
        elif head in ("using", "typedef", "static_assert"):
            words = self.group(k, end)
            if len(words) > 3 and words[2].text == "=" and words[3].text == "vec":
                self.aliases[words[1].text] = text(words[3:])
            self.rewrite_words(k, end)
        elif name_at is not None and body is not None:
            self.function(start, k, tparams, name_at, body, end, is_kernel)
        elif name_at is not None:
            self.diag(self.s(k), "function prototypes are outside the subset: define before use")
        elif any(self.s(x).text == "constant" for x in range(k, end)):
            self.program_constant(k, end)
        else:
            self.diag(self.s(k), "program-scope variables must be in the constant address space")
            self.rewrite_words(k, end)
        return end + 1

    def extent(self, k):
        """(is a kernel, index of the function's name, of its body, of its last token) of the declaration at k."""
        j, is_kernel, name_at, body = k, False, None, None
        while self.s(j).text not in (";", ""):
            t = self.s(j).text
            if self.is_attribute(j):
                is_kernel |= any(x.text == "kernel" for x in self.group(j + 2, self.find(j) - 1))
                j = self.find(j)
            elif t == "kernel":
                is_kernel = True
            elif t == "(" and name_at is None and self.s(j - 1).kind == "id" and self.s(j - 1).text != "decltype":
                name_at = j - 1
                j = self.find(j)
            elif t in ("(", "["):
                j = self.find(j)
            elif t == "{":
                body = j
                j = self.find(j)
                if self.s(k).text in BLOCKS:
                    return is_kernel, name_at, body, j + (self.s(j + 1).text == ";")
                if name_at is not None:
                    break
            j += 1
        return is_kernel, name_at, body, j

    def program_constant(self, k, end):
        decl, attrs = take_attributes(self.group(k, end))
        eq = next((i for i, t in enumerate(decl) if t.text == "="), len(decl))
        words = [t for t in decl[:eq] if t.text not in ("constant", "static", "const")]
        constexpr = any(t.text == "constexpr" for t in words)
        words = [t for t in words if t.text != "constexpr"]
        if "function_constant" in attrs:
            name, ty, index = words[-1].text, text(words[:-1]), int(text(attrs["function_constant"]))
            if ty not in ("bool", "int", "uint", "float"):
                self.diag(self.s(k), f"function constant '{name}' must be bool, int, uint or float")
            self.constants.append({"name": name, "type": ty, "index": index})
            self.blank(k, end, f"MSL_FUNCTION_CONSTANT({ty}, {name}, {index})")
            self.mark(k, end, None, f"MSL_FUNCTION_CONSTANT({ty}, {name}, {index})")
        elif any(t.text == "[" for t in words):
            self.blank(k, end, f"MSL_CONSTANT_TABLE {text(words)} {text(decl[eq:])};")
            self.mark(k, k, "constant", "MSL_CONSTANT_TABLE")
        else:
            if not constexpr:
                self.diag(self.s(k), "write 'constant constexpr': CUDA cannot read a plain host constant")
            self.rewrite_words(k, end)

    def function(self, start, k, tparams, name_at, body, end, is_kernel):
        name, close = self.s(name_at).text, self.find(name_at + 1)
        raw = split_commas(self.group(name_at + 2, close))
        self.functions[name] = {self.s(j).text for j in range(body, end)
                                if self.s(j + 1).text in ("(", "<") and self.s(j).kind == "id"}
        self.lint_params(raw)
        if is_kernel:
            _, attrs = take_attributes(self.group(start, name_at))
            limit = attrs.get("max_total_threads_per_threadgroup")
            self.kernels[name] = Kernel(name, tparams, [Param(r, self.diag) for r in raw], self.s(name_at), limit)
            self.lint_kernel(self.kernels[name])
            self.strip_kernel_words(start, k, name_at, close)
        elif not any(self.s(j).text == "METAL_FUNC" for j in range(start, name_at)):
            self.diag(self.s(name_at), f"function '{name}' must be METAL_FUNC (CUDA needs __device__)")
        self.rewrite_words(start, body)
        self.statements(body, end, is_kernel)
        self.bodies.append((name, body, end))

    def strip_kernel_words(self, start, k, name_at, close):
        """Removes attributes, and replaces the kernel keyword by the shim's."""
        named = False
        j = start
        while j < close:
            if self.is_attribute(j):
                e = self.find(j)
                self.blank(j, e)
                j = e
            elif j < name_at and self.s(j).text == "kernel":
                self.replace[self.sig[j]] = "MSL_KERNEL"
                named = True
            j += 1
        if not named:
            self.replace[self.sig[k]] = "MSL_KERNEL " + self.replace.get(self.sig[k], self.s(k).text)

    def instantiation(self, k):
        end = self.find_text(k, ";")
        decl, attrs = take_attributes(self.group(k + 1, end))
        host = "".join(t.text.strip('"') for t in attrs.get("host_name", []))
        # the last identifier followed by '<' names the template
        at = max(i for i, t in enumerate(decl) if t.kind == "id" and i + 1 < len(decl) and decl[i + 1].text == "<"
                 and t.text != "decltype")
        args = split_commas(decl[at + 2:match_angle(decl, at + 1)])
        self.instances.append((host, decl[at].text, [text(a) for a in args], self.s(k)))
        self.mark(k, end, None, f"MSL_INSTANCE({', '.join([host, decl[at].text, *map(text, args)])})")
        if not host:
            self.diag(self.s(k), "an instantiated kernel needs [[host_name(\"...\")]]")
        elif not host.startswith(decl[at].text + "_"):
            self.diag(self.s(k), f"the host name '{host}' must be '{decl[at].text}_' and a suffix")
        if any(t.text == "," for a in args for t in a):
            self.diag(self.s(k), "a template argument with a comma is outside the subset: it becomes the argument of a macro")
        self.blank(k, end)
        return end + 1

    def entries(self):
        """(host name, kernel, template arguments) of every entry point, in source order."""
        out = [(n, kn, []) for n, kn in self.kernels.items() if not kn.tparams]
        for host, name, args, tok in self.instances:
            if name in self.kernels:
                out.append((host, self.kernels[name], args))
            else:
                self.diag(tok, f"'{name}' is not a kernel of this file")
        return out
