"""Headers of Shaders/ in translated texts: each text includes them by name, and their translation is stored once.

A translated text is preprocessed, so headers are expanded in place, between line markers. `split` takes them out again. The text of
a header must not depend on the file that includes it: a header that differs between two files is an error.
"""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHADERS = ROOT / "Shaders"
MARK = re.compile(r'# (\d+) "([^"]*)"$')
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
MAX_BLANK = 2  # lines; more are skipped with a marker


def lines_by_file(text):
    """File -> {line number: translated line}, without empty lines."""
    files, file, line = {}, None, 0
    for raw in text.split("\n"):
        mark = MARK.match(raw)
        if mark:
            line, file = int(mark[1]), mark[2]
            files.setdefault(file, {})
            continue
        if raw.strip():
            files[file][line] = raw
        line += 1
    return files


def assembled(file, lines, name_of):
    """The lines of one file in order, with its own includes, and markers where many lines are empty."""
    source = (ROOT / file).read_text(encoding="utf-8").splitlines()
    lines = dict(lines)
    for number, line in enumerate(source, 1):
        include = INCLUDE.match(line)
        if include:
            lines[number] = f'#include "{name_of(include[1])}"'
    out, at = [], 0
    for number in sorted(lines):
        if number - at - 1 > MAX_BLANK or at == 0:
            out.append(f'# {number} "{file}"')
        else:
            out += [""] * (number - at - 1)
        out.append(lines[number])
        at = number
    return "\n".join(out) + "\n"


class Shared:
    """The headers of all files of one target, by path below the root."""

    def __init__(self, name_of):
        """name_of: the name by which a translated text includes a header, from its path below Shaders."""
        self.name_of, self.texts = name_of, {}

    def split(self, body, main):
        """`body` with its headers replaced by includes; the headers are added to `texts`."""
        files = lines_by_file(body)
        for file, lines in files.items():
            if file == main or not lines:
                continue
            text = assembled(file, lines, self.name_of)
            if self.texts.setdefault(file, text) != text:
                raise SystemExit(f"{main}: the translation of {file} differs from that in another file")
        return assembled(main, files[main], self.name_of)

    def splitter(self, main):
        return lambda body: self.split(body, main)

    def headers(self):
        """(path below Shaders, text) of each header, sorted. One whose lines were all conditional has no text of its own."""
        paths = sorted(path.relative_to(SHADERS).as_posix() for path in SHADERS.rglob("*.h"))
        return [(path, self.texts.get(f"Shaders/{path}", assembled(f"Shaders/{path}", {}, self.name_of))) for path in paths]
