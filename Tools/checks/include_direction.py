#!/usr/bin/env python3
"""Checks that includes in CxxCore point downward only, module by module. Usage: include_direction.py [--self-test]"""
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The modules each module may include besides itself. Transitive reach is written out: a module that may use `ops` names
# `device` too, so that the table is complete.
ALLOWED = {
    "base": set(),
    "image": {"base"},
    "io": {"base"},
    "text": {"base"},
    "grammar": {"base", "text"},
    "request": {"base"},
    "cache": {"base", "request"},
    "scheduler": {"base", "request", "cache"},
    "speculate": {"base", "request"},
    "sampler": {"base"},
    "device": {"base"},
    "ops": {"base", "device"},
    "model": {"base", "device", "ops", "io", "cache"},
    "pipeline": {"base", "device", "ops", "io", "cache", "model"},
}
ALLOWED["engine"] = set(ALLOWED)
ALLOWED["bench"] = set(ALLOWED)
ALLOWED["api"] = set(ALLOWED)

# The public headers (include/pagoda) each module may include; `api`, which implements them, may include all.
PUBLIC = {
    "base": {"status"},
    "image": {"image", "image_decoder"},
    "io": {"image", "model_source", "quantize"},
    "text": {"chat_template", "output_parser"},
    "grammar": {"grammar"},
    "request": {"image"},
    "cache": {"image"},
    "scheduler": {"engine_limits"},
    "speculate": set(),
    "sampler": {"event", "sampling_params"},
    "device": {"expert_stats", "profile"},
    "ops": set(),
    "bench": {"bench", "event", "model_source", "options", "profile", "request", "speculation_bench", "statistics"},
    "model": {"engine_limits", "expert_stats", "image", "model_info"},
    "pipeline": {"model_source"},
    "engine": {"activity", "engine_limits", "event", "image", "lora", "model_info", "model_source", "options", "prefix_match", "profile", "request", "statistics"},
}

# Folders of concrete devices: only their own files and this one may name them.
REGISTRY = "device/registry.cpp"
CONCRETE_DEVICE = re.compile(r"device/(cpu|reference|gpu)/")

ARGS = "args/"  # below Shaders/: structs shared by kernels and host

INCLUDE = re.compile(r'^\s*#\s*(?:include|import)\s+"([^"]+)"', re.MULTILINE)
OURS_IN_ANGLES = re.compile(r"^\s*#\s*include\s+<((?:pagoda|%s)/[^>]+\.h)>" % "|".join(ALLOWED), re.MULTILINE)
TEXT_OF_A_KERNEL = re.compile(r'R"msl\(.*?\)msl"', re.DOTALL)  # its includes are for another compiler
SWIFT_IMPORT = re.compile(r"^\s*(?:\w+ )*import CxxCore\b", re.MULTILINE)


def include_faults(file, target):
    """Why `file` may not include `target`; both relative to CxxCore/src, or starting with pagoda/. None if it may."""
    module = file.split("/")[0]
    if target.startswith("pagoda/"):
        header = target.removeprefix("pagoda/").removesuffix(".h")
        if module in ("pagoda", "api") or module not in ALLOWED or header in PUBLIC[module]:
            return None
        return f"{module} may not use this public header"
    if file.startswith("pagoda/"):
        return "public headers include public headers only"
    if target.startswith(ARGS):
        return None if file.startswith("device/gpu/") else "only device/gpu knows the arguments of kernels"
    if target == "pagoda_gpu.h":  # of CxxCore/gpu/include, as Swift sees the target
        return None if file.startswith("device/gpu/") else "only device/gpu declares its devices"
    target_module = target.split("/")[0]
    if module not in ALLOWED:
        return f"module {module}/ is not in the table of this check"
    if target_module not in ALLOWED:
        return "includes are rooted at CxxCore/src or CxxCore/include"
    if target_module != module and target_module not in ALLOWED[module]:
        below = module in ALLOWED[target_module]
        return f"{module} lies below {target_module}" if below else f"{module} may not use {target_module}"
    device = CONCRETE_DEVICE.match(target)
    if device and file != REGISTRY and not file.startswith(device.group()):
        return f"only {REGISTRY} names a concrete device"
    return None


def check(root):
    """All faults below `root` as printable lines, and the number of includes checked."""
    core, faults, count = root / "CxxCore", [], 0
    for base in (core / "src", core / "include"):
        for path in sorted(p for p in base.rglob("*") if p.suffix in (".h", ".cpp", ".hpp", ".inc", ".mm")):
            text = TEXT_OF_A_KERNEL.sub(lambda m: "\n" * m.group().count("\n"), path.read_text(encoding="utf-8"))
            file = path.relative_to(base).as_posix()
            for match in INCLUDE.finditer(text):
                count += 1
                target = match.group(1)
                fault = include_faults(file, target)
                folders = [root / "Shaders"] if target.startswith(ARGS) else [core / "src", core / "include", core / "gpu/include"]
                if not fault and not any((folder / target).is_file() for folder in folders):
                    fault = "no such file below " + " or ".join(str(f.relative_to(root)) for f in folders)
                if fault:
                    line = text.count("\n", 0, match.start(1)) + 1
                    faults.append(f'{path.relative_to(root)}:{line}: includes "{target}": {fault}')
            for match in OURS_IN_ANGLES.finditer(text):
                faults.append(f"{path.relative_to(root)}: <{match.group(1)}> is ours: write it in quotes")
    return faults + swift_faults(root), count


def swift_faults(root):
    """C++ interoperability stays inside one Swift target, so that no client has to turn it on."""
    files = [path for folder in ("Sources", "Apps") for path in (root / folder).rglob("*.swift")]
    importers = [path.relative_to(root) for path in files if SWIFT_IMPORT.search(path.read_text(encoding="utf-8"))]
    outside = [path for path in importers if path.parts[:2] != ("Sources", "PagodaKit")]
    return [f"{path}: imports CxxCore: only Sources/PagodaKit may" for path in sorted(outside)]


def self_test():
    """Plants one violation of each kind among valid includes, and expects exactly those to be caught."""
    planted = {
        "CxxCore/src/base/a.h": ['#include "io/b.h"'],
        "CxxCore/src/io/v.h": ['#include "pagoda/engine.h"'],
        "CxxCore/src/io/b.h": ['  #  include "text/c.h"'],
        "CxxCore/src/text/c.h": ['#include "scheduler/d.h"'],
        "CxxCore/src/scheduler/d.h": ['#include "device/cpu/e.h"'],
        "CxxCore/src/device/cpu/e.h": ['#include "device/reference/f.h"'],
        "CxxCore/src/device/reference/f.h": ['#include "device/missing.h"'],
        "CxxCore/src/engine/g.cpp": ['#include "device/cpu/e.h"'],
        "CxxCore/src/model/h.cpp": ['#include "scheduler/d.h"'],
        "CxxCore/src/cellar/i.h": ['#include "base/a.h"'],
        "CxxCore/include/pagoda/j.h": ['#include "base/a.h"'],
        "CxxCore/src/ops/k.h": ["#include <base/a.h>"],
        "CxxCore/src/speculate/x.h": ['#include "pagoda/options.h"'],
        "CxxCore/src/device/cpu/r.cpp": ['#include "args/s.h"'],
        "CxxCore/src/device/gpu/t.cpp": ['#include "args/missing.h"'],
        "Apps/PagodaCLI/l.swift": ["internal import CxxCore"],
        "Sources/PagodaServer/p.swift": ["import CxxCore"],
    }
    fine = {
        "Sources/PagodaKit/q.swift": ["internal import CxxCore"],
        "Shaders/args/s.h": [],
        "CxxCore/src/device/gpu/u.cpp": ['#include "args/s.h"'],
        "CxxCore/src/device/gpu/w.cpp": ['R"msl(', '#include "common.h"', ')msl"'],
        "CxxCore/src/device/registry.cpp": ['#include "device/cpu/e.h"', '#include "device/reference/f.h"'],
        "CxxCore/include/pagoda/engine.h": ['#include "pagoda/options.h"'],
        "CxxCore/include/pagoda/options.h": [],
        "CxxCore/src/api/w.cpp": ['#include "pagoda/engine.h"', '#include "engine/m.h"'],
        "CxxCore/src/engine/m.h": [],
        "CxxCore/src/engine/m.cpp": ['#include "model/n.h"', '#include "scheduler/d.h"', '#include "pagoda/options.h"'],
        "CxxCore/src/model/n.h": ['#include "io/b.h"', '#include "cache/o.h"', "#include <vector>"],
        "CxxCore/src/cache/o.h": ['#include "base/a.h"', '// #include "engine/m.h" is only a comment'],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (planted | fine).items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        faults, _ = check(Path(folder))
    missed = [name for name in planted if not any(fault.startswith(name + ":") for fault in faults)]
    wrong = [fault for fault in faults if fault.split(":")[0] in fine]
    for line in missed:
        print(f"self-test: the violation in {line} was not caught")
    for line in wrong:
        print(f"self-test: reported though it is fine: {line}")
    return not missed and not wrong


def main():
    if "--self-test" in sys.argv[1:]:
        return 0 if self_test() else 1
    faults, count = check(ROOT)
    print("\n".join(faults + [f"{count} includes, {len(faults)} against the direction"]))
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
