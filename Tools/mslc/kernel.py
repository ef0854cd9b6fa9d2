"""Kernels: parameters and attributes of entry points, for the emitters."""
import re

from tokens import Tok, match, split_commas, text

# [[attribute]] of a kernel parameter -> how the runtime sets it.
BUILTINS = {
    "thread_position_in_grid", "thread_position_in_threadgroup", "threadgroup_position_in_grid",
    "threads_per_grid", "threads_per_threadgroup", "threadgroups_per_grid",
    "thread_index_in_threadgroup", "simdgroup_index_in_threadgroup", "thread_index_in_simdgroup",
    "simdgroups_per_threadgroup", "threads_per_simdgroup",
}
POSITIONAL = {b for b in BUILTINS if b.startswith(("thread_position", "threadgroup_position", "threads_per_grid",
                                                   "threads_per_threadgroup", "threadgroups_per"))}

def take_attributes(toks):
    """Splits [[...]] attributes from a declaration: (rest, {name: argument tokens})."""
    rest, attrs, i = [], {}, 0
    while i < len(toks):
        if toks[i].text == "[" and i + 1 < len(toks) and toks[i + 1].text == "[":
            end = match(toks, i, "[", "]")
            for part in split_commas(toks[i + 2:end - 1]):
                attrs[part[0].text] = part[2:-1] if len(part) > 1 else []
            i = end + 1
        else:
            rest.append(toks[i])
            i += 1
    return rest, attrs


class Param:
    def __init__(self, toks, diag):
        rest, self.attrs = take_attributes(toks)
        self.name = rest[-1].text
        self.type = rest[:-1]
        words = [t.text for t in self.type]
        self.ref = "&" in words
        self.ptr = "*" in words
        self.space = next((w for w in words if w in ("device", "constant", "threadgroup")), None)
        self.builtin = next((a for a in self.attrs if a in BUILTINS), None)
        self.index = None
        if "buffer" in self.attrs:
            self.kind = "values" if self.space == "constant" and self.ref else "buffer"
            self.index = int(text(self.attrs["buffer"]))
            if self.space not in ("device", "constant"):
                diag(rest[0], f"buffer parameter '{self.name}' needs device or constant")
            if not (self.ref or self.ptr):
                diag(rest[0], f"buffer parameter '{self.name}' must be a pointer or a reference")
        elif "threadgroup" in self.attrs:
            self.kind = "unknown"
            diag(rest[0], f"'{self.name}': declare threadgroup memory in the kernel; a launch cannot give its size")
        elif self.builtin:
            self.kind = "builtin"
        else:
            self.kind = "unknown"
            diag(rest[0], f"kernel parameter '{self.name}' has no attribute that the portable subset knows")
        self.writable = self.space == "device" and "const" not in words


class Kernel:
    def __init__(self, name, tparams, params, tok, max_threads):
        self.name, self.tparams, self.params, self.tok, self.max_threads = name, tparams, params, tok, max_threads


def substituted(kn, args, toks):
    """A parameter's type with template parameters substituted and address spaces removed."""
    names = {text(tp).split("=")[0].split()[-1]: a for tp, a in zip(kn.tparams or [], args)}
    words = []
    for t in toks:
        if t.text in ("device", "threadgroup", "thread"):
            continue
        words.append(Tok(t.kind, {"constant": "const"}.get(t.text, names.get(t.text, t.text)), t.line, t.file))
    return text(words).replace("const const", "const").replace("const const", "const")


def call(kn, args):
    return kn.name + (f"<{', '.join(args)}>" if kn.tparams else "")


def bare_type(kn, args, p):
    """A parameter's type without const, pointer and reference: the element type of the binding."""
    return re.sub(r"\bconst\b|[&*]", "", substituted(kn, args, p.type)).strip()


def limit(kn, args):
    """[[max_total_threads_per_threadgroup(...)]] of an entry point, as an expression."""
    return substituted(kn, args, kn.max_threads) if kn.max_threads else None


