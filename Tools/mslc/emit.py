"""Emitters: C++ for the software device, entry points for CUDA, and C++ with real address spaces for the strict check."""
import re
from pathlib import Path

from kernel import bare_type, call, limit, substituted
from mutants import PRELUDE
from texts import shared
from tokens import text

DEFAULT_MAX_THREADS = 1024


def has_tensors(path):
    """Whether a file uses Metal 4's tensor operations, which CUDA lacks."""
    return "#include <metal_tensor>" in Path(path).read_text(encoding="utf-8")


def argument(kn, args, p):
    """The argument that the software device passes for parameter p."""
    bare = bare_type(kn, args, p)
    if p.kind == "builtin":
        return f"msl_builtin<{substituted(kn, args, p.type)}>(b.{p.builtin})"
    const = "" if p.writable else "const "
    return f"{'' if p.ptr else '*'}({const}{bare}*)in.buffers[{p.index}]"


def software(mod, path, split=str):
    """The kernels, and the table that all backends read: the compiler computes sizes and limits. `split` may take the
    headers out of the text."""
    stem, out, rows, bindings = Path(path).stem, [], [], {}
    tensors = '#include "device/gpu/shim/software/tensor.h"\n' if has_tensors(path) else ""
    for n, (host, kn, args) in enumerate(mod.entries()):
        bound = sorted((p for p in kn.params if p.index is not None), key=lambda p: p.index)
        infos = ", ".join(f'{{"{p.name}", {p.index}, BindingKind::{p.kind}, sizeof({bare_type(kn, args, p)}), '
                          f'{"true" if p.writable else "false"}}}' for p in bound)
        if infos not in bindings:
            bindings[infos] = f"msl_bindings_{len(bindings)}"
            out.append(f"constexpr BindingInfo {bindings[infos]}[] = {{{infos}}};\n")
        out.append(f"void msl_entry_{n}(const KernelInputs& in, const Builtins& b) {{ (void)in, (void)b; "
                   f"{call(kn, args)}({', '.join(argument(kn, args, p) for p in kn.params)}); }}\n")
        rows.append(f'  {{"{host}", "{stem}", {bindings[infos]}, {constants_of(mod)}, {limit(kn, args) or DEFAULT_MAX_THREADS}, msl_entry_{n}}},\n')
    infos = [f'{{"{c["name"]}", {c["index"]}, ConstantType::{c["type"]}_, msl_set_{c["name"]}}}' for c in mod.constants]
    if infos:
        out.append(f"constexpr ConstantInfo msl_constants[] = {{{', '.join(infos)}}};\n")
    # Fibers do not benefit from unrolled loops, and compilers take minutes for them.
    body = split(re.sub(r"(?m)^[ \t]*#[ \t]*pragma[ \t]+unroll.*$", "", mod.body()))
    return (f'// {stem}.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.\n'
            f'#include "device/gpu/shim/software/msl.h"\n{tensors}{PRELUDE if mod.first_mutant is not None else ""}'
            f'namespace metal {{\nnamespace {{\n{body.rstrip()}\n'
            f'# 1 "{stem}.entries"\nusing namespace ::pagoda::device::gpu;\n{"".join(out)}'
            f"constexpr KernelInfo msl_kernels[] = {{\n{''.join(rows)}}};\n}}  // namespace\n}}  // namespace metal\n"
            f"namespace pagoda::device::gpu::generated {{\n"
            f"std::span<const KernelInfo> {stem}_kernels() noexcept {{ return metal::msl_kernels; }}\n"
            f"}}  // namespace pagoda::device::gpu::generated\n")


def constants_of(mod):
    return "msl_constants" if mod.constants else "{}"


# Kernels for which two threadgroups per multiprocessor are enough: by default NVIDIA's compiler targets more and spills
# registers.
FEW_GROUPS = re.compile(r"paged_attention_(f32_1|b?f16_2|i8_2)|token_attention_(f32|i8)|matmul_few_\w+_1_1")


def waits_itself(mod, kn):
    """Whether a kernel calls wait_for_inputs(): the generated entry point waits for all others."""
    body = mod.body()
    depth, begin = 0, body.index("{", re.search(rf"\bvoid {kn.name}\b", body).start())
    for at in range(begin, len(body)):
        depth += {"{": 1, "}": -1}.get(body[at], 0)
        if depth == 0:
            return "wait_for_inputs" in body[begin:at]
    return False


def entry_macro(mod, kn):
    """A kernel's entry point as a macro of its launch bounds and template arguments. Buffers become pointers in index order, values are
    passed by value. No pointer is __restrict__: ops work in place, and the compiler could move reads of restrict pointers across
    barriers, past the writes."""
    names = [text(p).split("=")[0].split()[-1] for p in kn.tparams or []]
    formals, values = [], []
    for p in kn.params:
        bare = bare_type(kn, names, p)
        if p.kind == "builtin":
            values.append(f"msl_builtin<{substituted(kn, names, p.type)}>(msl_{p.builtin}())")
        elif p.kind == "values":
            formals.append((p.index, f"const {bare} {p.name}"))
            values.append(p.name)
        else:
            formals.append((p.index, f"{bare}* {p.name}" if p.writable else f"const {bare}* {p.name}"))
            values.append(p.name if p.ptr else f"*{p.name}")
    wait = "" if waits_itself(mod, kn) else "msl_wait_for_inputs(); "
    return (f"#define MSL_KERNEL_{kn.name}({', '.join(['BOUNDS', *names])}) MSL_GLOBAL(BOUNDS)({', '.join(f for _, f in sorted(formals))}) "
            f"{{ msl_let_dependents_begin(); {wait}{call(kn, names)}({', '.join(values)}); }}\n")


def entries(mod):
    """CUDA's entry points, each a macro: a pipeline compiles only the one that it launches."""
    kernels, lines = {}, []
    for host, kn, args in mod.entries():
        kernels[kn.name] = entry_macro(mod, kn)
        most = limit(kn, args) or DEFAULT_MAX_THREADS
        bounds = f"({most}, 2)" if FEW_GROUPS.fullmatch(host) else f"({most})"
        lines.append(f"#define MSL_ENTRY_{host} MSL_KERNEL_{kn.name}({', '.join([bounds, *args])})\n")
    return "".join(kernels.values()) + "".join(lines)


def cuda(mod, path):
    """For readers: the device assembles the same parts."""
    return shared(Path(path), path, mod.marks) + entries(mod)


def strict(mod, path):
    stem = Path(path).stem
    out = [f"static auto* const msl_use_{n} = &{call(kn, args)};\n" for n, (_, kn, args) in enumerate(mod.entries())]
    return f'#include "device/gpu/shim/strict.h"\nnamespace metal {{\n{mod.body()}\n# 1 "{stem}.uses"\n' + "".join(out) + "}\n"


def lint(mod, path):
    mod.entries()  # reports instantiations of functions that are not kernels
    return ""


TARGETS = {"software": software, "cuda": cuda, "strict": strict, "lint": lint}
