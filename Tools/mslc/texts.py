"""Texts: kernels and headers as Metal's compiler and NVRTC receive them, one text for both.

It is the text of Shaders/ without comments and empty lines, so that compiled kernels stay in caches when only those change. What CUDA
cannot express by defining Metal's words as macros is a macro in the text, defined for each GPU in
CxxCore/src/device/gpu/shim/{metal.h,cuda/words.h}: threadgroup variables, function constants, tables and instances of templates.
"""
import re

COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//.*')
DROPPED = re.compile(r"\s*(#\s*pragma\s+once\s*)?$")


def stripped(text):
    """`text` without comments, empty lines and `#pragma once`: each header is inserted once."""
    lines = (COMMENT.sub(lambda m: m[1] or "", line).rstrip() for line in text.splitlines())
    return "".join(line + "\n" for line in lines if not DROPPED.match(line))


def shared(path, name, marks):
    """The text of the file at `path`; `name` is its name in `marks`, which are Module.marks of the files that include it."""
    out, skipped = [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if number <= skipped:
            continue
        last, word, put = marks.get((name, number), (number, "", ""))
        if word is None:
            line, skipped = put, last
        elif word:
            if not line.lstrip().startswith(word + " "):
                raise SystemExit(f"{name}:{number}: write '{word}' at the start of a line")
            line = line.replace(word, put, 1)
        out.append(line)
    return stripped("\n".join(out))
