"""Tokens: splits preprocessed Metal text into tokens with line numbers, and finds bracket groups."""
import os
import re
import subprocess
from pathlib import Path

STUB = Path(__file__).resolve().parents[2] / "CxxCore/src/device/gpu/shim/stub"

TOKEN = re.compile(
    r"(?P<ws>[ \t\r\f\v]+)|(?P<nl>\n)|(?P<num>\.?\d(?:[eEpP][+-]|[\w.])*)|(?P<id>[A-Za-z_]\w*)"
    r'|(?P<str>"(?:\\.|[^"\\\n])*")|(?P<chr>\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<op>::|->|<<=|>>=|\.\.\.|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!=<>?:;,.(){}\[\]#\\@$])")


class Tok:
    __slots__ = ("kind", "text", "line", "file")

    def __init__(self, kind, text, line, file):
        self.kind, self.text, self.line, self.file = kind, text, line, file

    def __repr__(self):
        return self.text


class Diag:
    def __init__(self):
        self.items = []

    def __call__(self, tok, msg):
        item = f"{tok.file}:{tok.line}: {msg}"
        if item not in self.items:
            self.items.append(item)


def preprocess(path, clang, includes, defines):
    cmd = [clang, "-E", "-x", "c++", "-std=c++17", "-undef", "-nostdinc", "-nostdinc++",
           "-D__METAL__", "-D__METAL_VERSION__=310", "-D__HAVE_BFLOAT__", "-isystem", os.path.relpath(STUB)]
    cmd += [f"-I{i}" for i in includes] + [f"-D{d}" for d in defines] + [path]
    return subprocess.run(cmd, check=True, stdout=subprocess.PIPE, text=True).stdout


def tokenize(text):
    toks, line, file = [], 1, "?"
    for raw in text.split("\n"):
        mark = re.match(r'#\s+(\d+)\s+"([^"]*)"', raw)
        if mark:
            line, file = int(mark.group(1)), mark.group(2)
            if file.startswith("<") or "/stub/" in file:  # contains no code of ours
                continue
            toks.append(Tok("mark", f'# {line} "{file}"', line, file))
            toks.append(Tok("nl", "\n", line, file))
            continue
        if raw.lstrip().startswith("#"):  # pragma
            toks.append(Tok("pragma", raw, line, file))
        else:
            pos = 0
            while pos < len(raw):
                m = TOKEN.match(raw, pos)
                if not m:
                    raise SystemExit(f"{file}:{line}: cannot read {raw[pos:pos + 20]!r}")
                toks.append(Tok(m.lastgroup, m.group(), line, file))
                pos = m.end()
        toks.append(Tok("nl", "\n", line, file))
        line += 1
    return toks


def significant(toks):
    return [i for i, t in enumerate(toks) if t.kind not in ("ws", "nl", "mark", "pragma")]


def text(toks):
    """Token texts joined with the minimum of separating spaces."""
    out = ""
    for t in toks:
        if t.kind in ("ws", "nl", "mark", "pragma"):
            continue
        if out and re.match(r"\w", t.text) and re.search(r"[\w>\])]$", out):
            out += " "
        out += t.text
    return out


def match(toks, i, opener, closer):
    """Index of the closing bracket of the group opened at toks[i]."""
    depth = 0
    for j in range(i, len(toks)):
        if toks[j].text == opener:
            depth += 1
        elif toks[j].text == closer:
            depth -= 1
            if depth == 0:
                return j
    raise SystemExit(f"{toks[i].file}:{toks[i].line}: unclosed {opener}")


def match_angle(toks, i):
    depth = 0
    for j in range(i, len(toks)):
        t = toks[j].text
        depth += {"<": 1, ">": -1, ">>": -2}.get(t, 0)
        if depth <= 0:
            return j
    raise SystemExit(f"{toks[i].file}:{toks[i].line}: unclosed <")


def split_commas(toks):
    parts, cur, depth = [], [], 0
    for t in toks:
        if t.text in "([{<" and t.kind == "op" and t.text:
            depth += 1
        elif t.text in (")", "]", "}", ">"):
            depth -= 1
        elif t.text == ">>":
            depth -= 2
        if t.text == "," and depth == 0:
            parts.append(cur)
            cur = []
        else:
            cur.append(t)
    if cur:
        parts.append(cur)
    return parts


