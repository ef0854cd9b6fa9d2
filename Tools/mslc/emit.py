"""Emitters: C++ for the software device, CUDA for NVRTC, and C++ with real address spaces for the strict check."""
import re
from pathlib import Path

from kernel import bare_type, call, limit, substituted
from mutants import PRELUDE

DEFAULT_MAX_THREADS = 1024


def has_tensors(path):
    """Whether a file uses Metal 4's tensor operations, which have no CUDA translation."""
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
    stem, out, rows = Path(path).stem, [], []
    tensors = '#include "device/gpu/shim/software/tensor.h"\n' if has_tensors(path) else ""
    for n, (host, kn, args) in enumerate(mod.entries()):
        bound = sorted((p for p in kn.params if p.index is not None), key=lambda p: p.index)
        infos = [f'{{"{p.name}", {p.index}, BindingKind::{p.kind}, sizeof({bare_type(kn, args, p)}), '
                 f'{"true" if p.writable else "false"}}}' for p in bound]
        out.append(f"void msl_entry_{n}(const KernelInputs& in, const Builtins& b) {{\n  (void)in;\n  (void)b;\n"
                   f"  {call(kn, args)}({', '.join(argument(kn, args, p) for p in kn.params)});\n}}\n"
                   f"constexpr BindingInfo msl_bindings_{n}[] = {{{', '.join(infos)}}};\n")
        rows.append(f'    {{"{host}", "{stem}", metal::msl_bindings_{n}, {constants_of(mod)}, '
                    f"metal::msl_limit_{n}, metal::msl_entry_{n}}},\n")
        out.append(f"constexpr uint32_t msl_limit_{n} = {limit(kn, args) or DEFAULT_MAX_THREADS};\n")
    infos = [f'{{"{c["name"]}", {c["index"]}, ConstantType::{c["type"]}_, msl_set_{c["name"]}}}' for c in mod.constants]
    if infos:
        out.append(f"constexpr ConstantInfo msl_constants[] = {{{', '.join(infos)}}};\n")
    # Fibers do not benefit from unrolled loops, and compilers take minutes for them.
    body = split(re.sub(r"(?m)^[ \t]*#[ \t]*pragma[ \t]+unroll.*$", "", mod.body()))
    return (f'// {stem}.metal for the software device, with the table of its kernels. Made by Tools/mslc/generate.sh.\n'
            f'#include "device/gpu/shim/software/msl.h"\n{tensors}{PRELUDE if mod.first_mutant is not None else ""}'
            f'namespace metal {{\nnamespace {{\n{body}\n'
            f'# 1 "{stem}.entries"\nusing namespace ::pagoda::device::gpu;\n{"".join(out)}}}  // namespace\n}}  // namespace metal\n'
            f"namespace pagoda::device::gpu::generated {{\nstd::span<const KernelInfo> {stem}_kernels() noexcept {{\n"
            f"  static constexpr KernelInfo kKernels[] = {{\n{''.join(rows)}  }};\n  return kKernels;\n}}\n"
            f"}}  // namespace pagoda::device::gpu::generated\n")


def constants_of(mod):
    return "metal::msl_constants" if mod.constants else "{}"


# Kernels for which two threadgroups per multiprocessor are enough: by default NVIDIA's compiler targets more and spills
# registers.
FEW_GROUPS = re.compile(r"paged_attention_(f32_1|b?f16_2)|token_attention_f32|matmul_few_\w+_1_1")


def waits_itself(mod, kn):
    """Whether a kernel calls wait_for_inputs(): the generated entry point waits for all others."""
    body = mod.body()
    depth, begin = 0, body.index("{", re.search(rf"\bvoid {kn.name}\b", body).start())
    for at in range(begin, len(body)):
        depth += {"{": 1, "}": -1}.get(body[at], 0)
        if depth == 0:
            return "wait_for_inputs" in body[begin:at]
    return False


def cuda(mod, path, split=str):
    """Buffers become pointers in index order, values are passed by value. No pointer is __restrict__: ops work in place,
    and the compiler could move reads of restrict pointers across barriers, past the writes. MSL_ONLY with
    MSL_ONLY_<kernel> keeps one entry point, so that a pipeline compiles nothing else."""
    stem, out = Path(path).stem, []
    for host, kn, args in mod.entries():
        formals, values = [], []
        for p in kn.params:
            bare = bare_type(kn, args, p)
            if p.kind == "builtin":
                values.append(f"msl_builtin<{substituted(kn, args, p.type)}>(msl_{p.builtin}())")
            elif p.kind == "values":
                formals.append((p.index, f"const {bare} {p.name}"))
                values.append(p.name)
            else:
                formals.append((p.index, f"{bare}* {p.name}" if p.writable else f"const {bare}* {p.name}"))
                values.append(p.name if p.ptr else f"*{p.name}")
        most = limit(kn, args) or DEFAULT_MAX_THREADS
        bounds = f"__launch_bounds__({most}, 2) " if FEW_GROUPS.fullmatch(host) else f"__launch_bounds__({most}) "
        wait = "" if waits_itself(mod, kn) else "  msl_wait_for_inputs();\n"
        out.append(f"#if !defined(MSL_ONLY) || defined(MSL_ONLY_{host})\n"
                   f'extern "C" __global__ void {bounds}{host}({", ".join(f for _, f in sorted(formals))}) {{\n'
                   f"  msl_let_dependents_begin();\n{wait}"
                   f"  {call(kn, args)}({', '.join(values)});\n}}\n#endif\n")
    return f'#include "device/gpu/shim/cuda/msl.h"\nnamespace metal {{\n{split(mod.body())}\n' \
           f'# 1 "{stem}.entries"\n' + "".join(out) + "}  // namespace metal\n"


def strict(mod, path):
    stem = Path(path).stem
    out = [f"static auto* const msl_use_{n} = &{call(kn, args)};\n" for n, (_, kn, args) in enumerate(mod.entries())]
    return f'#include "device/gpu/shim/strict.h"\nnamespace metal {{\n{mod.body()}\n# 1 "{stem}.uses"\n' + "".join(out) + "}\n"


def lint(mod, path):
    mod.entries()  # reports instantiations of functions that are not kernels
    return ""


TARGETS = {"software": software, "cuda": cuda, "strict": strict, "lint": lint}
