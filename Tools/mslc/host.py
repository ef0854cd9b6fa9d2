"""Host side: generated files other than kernels: names and indices, source texts, and the list of files."""
from pathlib import Path

from texts import stripped

SOURCE = Path(__file__).resolve().parents[2] / "CxxCore/src"
SHIM = SOURCE / "device/gpu/shim"
LITERAL_BYTES = 12000  # compilers limit the size of a literal; adjacent ones are concatenated
BEGIN, END = "namespace pagoda::device::gpu::{} {{\n", "}}  // namespace pagoda::device::gpu::{}\n"


def literal(text):
    """`text` as raw string literals, split at line ends."""
    chunks, chunk = [], ""
    for line in text.splitlines(keepends=True):
        if len(chunk) + len(line) > LITERAL_BYTES:
            chunks.append(chunk)
            chunk = ""
        chunk += line
    return "\n".join(f'R"msl({p})msl"' for p in chunks + [chunk])


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


def source_file(stem, text, entries):
    return (f"// The text of {stem}.metal for Metal's compiler and NVRTC, and CUDA's entry points. Made by Tools/mslc/generate.sh.\n"
            f'#include "device/gpu/kernel_table.h"\n{BEGIN.format("generated")}'
            f"KernelSource {stem}_source() noexcept {{\n  return {{\"{stem}\",\n{literal(text)},\n{literal(entries)}}};\n}}\n"
            + END.format("generated"))


def headers_file(name, purpose, headers):
    """A table of (name, text)."""
    rows = "".join(f'    {{"{header}",\n{literal(text)}}},\n' for header, text in headers)
    return (f"// {purpose} Made by Tools/mslc/generate.sh.\n"
            f'#include "device/gpu/kernel_table.h"\n{BEGIN.format("generated")}'
            f"std::span<const KernelHeader> {name}() noexcept {{\n  static constexpr KernelHeader kHeaders[] = {{\n{rows}  }};\n"
            f"  return kHeaders;\n}}\n" + END.format("generated"))


def kernel_headers(headers):
    return headers_file("headers", "Headers of the kernels, by the name that their texts include.", shim([SHIM / "metal.h"]) + headers)


def cuda_headers():
    files = [SHIM / "vec.h"] + sorted((SHIM / "cuda").glob("*.h"))
    return headers_file("cuda_headers", "Headers that only the CUDA text includes, by name.", shim(files))


def shim(files):
    return [(path.relative_to(SOURCE).as_posix(), stripped(path.read_text(encoding="utf-8"))) for path in files]


def software_name(path):
    return f"device/gpu/generated/{path.replace('/', '_')}"


def software_header(path, text):
    return f"// {path} for the software device. Made by Tools/mslc/generate.sh.\n#pragma once\n{text}"


def table_file(stems, name):
    declared = "".join(f"std::span<const KernelInfo> {s}_kernels() noexcept; KernelSource {s}_source() noexcept;\n" for s in stems)
    return ("// All files of kernels. Made by Tools/mslc/generate.sh.\n"
            f'#include "device/gpu/kernel_table.h"\n{BEGIN.format("generated")}{declared}'
            f"std::span<const KernelFile> {name}() noexcept {{\n"
            "  static const KernelFile kFiles[] = {\n"
            + "".join(f"    {{{s}_kernels(), {s}_source()}},\n" for s in stems)
            + "  };\n  return kFiles;\n}\n" + END.format("generated"))
