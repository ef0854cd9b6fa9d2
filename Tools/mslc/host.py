"""Host side: generated files other than kernels: names and indices, source texts, and the list of files."""
import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "CxxCore/src"
# Two kernels that make the same sum give the same bits only where no compiler fuses a product and a sum by itself.
CONTRACT_OFF = "#pragma METAL fp contract(off)\n"
LITERAL_BYTES = 12000  # compilers limit the size of a literal; adjacent ones are concatenated
BEGIN, END = "namespace pagoda::device::gpu::{} {{\n", "}}  // namespace pagoda::device::gpu::{}\n"


def flatten(path, seen=None):
    """A .metal file with its own headers inlined, each once: the text that Metal compiles at run time."""
    seen = set() if seen is None else seen
    if path in seen:
        return ""
    seen.add(path)
    out = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if include:
            found = [f for f in (path.parent / include[1], path.parent.parent / include[1]) if f.is_file()]
            if not found:
                raise SystemExit(f"{path}: no file {include[1]}")
            out.append(flatten(found[0].resolve(), seen))
        elif not re.match(r"\s*#\s*pragma\s+once", line):
            out.append(line)
    return "".join(out)


def literal(text):
    """`text` as raw string literals, split at line ends."""
    pieces, piece = [], ""
    for line in text.splitlines(keepends=True):
        if len(piece) + len(line) > LITERAL_BYTES:
            pieces.append(piece)
            piece = ""
        piece += line
    return "\n".join(f'R"msl({p})msl"' for p in pieces + [piece])


def namespace_of(kernel, entries, first_id):
    """Ids, names and indices of one kernel for host files; a wrong name does not compile."""
    out = [f"namespace {kernel.name} {{\n"]
    for number, (host, _, args) in enumerate(entries, first_id):
        suffix = host[len(kernel.name) + 1:] if args else "kernel"
        name = "k" + suffix if suffix[0].isdigit() else suffix
        out.append(f'inline constexpr KernelId {name} = {{{number}, "{host}"}};\n')
    bound = sorted((p for p in kernel.params if p.index is not None), key=lambda p: p.index)
    out.append(f"enum Binding : int {{ {', '.join(f'{p.name} = {p.index}' for p in bound)} }};\n")
    return "".join(out) + f"}}  // namespace {kernel.name}\n"


def bindings_header(modules):
    out = ["// Ids of all kernels, names of their bindings and function constants. Made by Tools/mslc/generate.sh.\n"
           '#pragma once\n\n#include <string_view>\n\n#include "device/gpu/kernel_table.h"\n\n', BEGIN.format("kernels")]
    taken = {}
    count = 0
    for stem, mod in modules:
        for name, kernel in mod.kernels.items():
            if taken.setdefault(name, stem) != stem:
                raise SystemExit(f"kernel {name} is in {taken[name]}.metal and in {stem}.metal")
            entries = [e for e in mod.entries() if e[1] is kernel]
            out.append(namespace_of(kernel, entries, count))
            count += len(entries)
        if mod.constants:
            out.append(f"namespace {stem}_constants {{\n")
            out += [f'inline constexpr std::string_view {c["name"]} = "{c["name"]}";\n' for c in mod.constants]
            out.append(f"}}  // namespace {stem}_constants\n")
    out.append(f"inline constexpr int kCount = {count};  // ids are below\n")
    return "".join(out) + END.format("kernels")


def source_file(stem, metal, cuda):
    return (f"// The text of {stem}.metal for Metal's compiler and, translated, for NVRTC. Made by Tools/mslc/generate.sh.\n"
            f'#include "device/gpu/kernel_table.h"\n{BEGIN.format("generated")}'
            f"KernelSource {stem}_source() noexcept {{\n  return {{\"{stem}\",\n{literal(CONTRACT_OFF + metal)},\n{literal(cuda)}}};\n}}\n"
            + END.format("generated"))


def shim_file(folder):
    """The CUDA headers, which NVRTC looks up by name."""
    rows = "".join(f'    {{"{p.relative_to(SOURCE).as_posix()}",\n{literal(p.read_text(encoding="utf-8"))}}},\n' for p in folder)
    return ("// Headers that the CUDA text includes, by name. Made by Tools/mslc/generate.sh.\n"
            f'#include "device/gpu/kernel_table.h"\n{BEGIN.format("generated")}'
            f"std::span<const ShimHeader> cuda_headers() noexcept {{\n  static constexpr ShimHeader kHeaders[] = {{\n{rows}  }};\n"
            f"  return kHeaders;\n}}\n" + END.format("generated"))


def table_file(stems, name):
    declared = "".join(f"std::span<const KernelInfo> {s}_kernels() noexcept;\nKernelSource {s}_source() noexcept;\n" for s in stems)
    return ("// All files of kernels. Made by Tools/mslc/generate.sh.\n"
            f'#include "device/gpu/kernel_table.h"\n{BEGIN.format("generated")}{declared}'
            f"std::span<const KernelFile> {name}() noexcept {{\n"
            "  static const KernelFile kFiles[] = {\n"
            + "".join(f"    {{{s}_kernels(), {s}_source()}},\n" for s in stems)
            + "  };\n  return kFiles;\n}\n" + END.format("generated"))
