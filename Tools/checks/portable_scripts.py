#!/usr/bin/env python3
"""Checks that shell scripts run with a Mac's own tools: bash 3.2 and BSD utilities. Usage: portable_scripts.py [--self-test] [file ...]

A line that ends with `# Linux only` may use anything. Arrays that may be empty must be guarded where `set -u` is on: before
bash 4.4, "${list[@]}" of an empty list is an error there.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = [(re.compile(pattern), reason) for pattern, reason in [
    (r"\b(mapfile|readarray)\b", "mapfile and readarray are of bash 4: read lines in a loop"),
    (r"\b(declare|local|typeset)\s+-[a-zA-Z]*A", "associative arrays are of bash 4"),
    (r"\b(declare|local|typeset)\s+-[a-zA-Z]*n\b", "references to variables are of bash 4.3"),
    (r"\bdeclare\s+-[a-zA-Z]*g", "declare -g is of bash 4.2"),
    (r"\$\{[A-Za-z_]\w*(\[[^]]*\])?(,,?|\^\^?)[^}]*\}", "changing the case in an expansion is of bash 4"),
    (r"\$\{[A-Za-z_]\w*(\[[@*]\])?@[A-Za-z]\}", "${name@X} is of bash 4.4"),
    (r"\$\{[A-Za-z_]\w*\[-\d+\]\}|\$\{[^}]*: -\d+\}?:-\d", "negative indices are of bash 4.3"),
    (r"&>>|\|&", "&>> and |& are of bash 4"),
    (r"\bcoproc\b", "coproc is of bash 4"),
    (r"\bwait\s+-n\b", "wait -n is of bash 4.3"),
    (r"\$\{?(BASHPID|EPOCHSECONDS|EPOCHREALTIME|SRANDOM)\b", "a variable of a later bash"),
    (r"\[\[\s+-v\s", "[[ -v ]] is of bash 4.2"),
    (r"\{0\d+\.\.\d+\}|\{\d+\.\.\d+\.\.\d+\}", "ranges with leading zeros or steps are of bash 4"),
    (r";;&|;&", "falling through in case is of bash 4"),
    (r"printf\s+-v\s+\w+\[|printf\s+'%\(", "printf of times or into arrays is of bash 4"),
    (r"\bread\s+(-\w+\s+)*-\w*[iN]\b", "read -i and -N are of bash 4"),
    (r"\bsed\s+(-\w+\s+)*(-i\b(?!\s*'')|-r\b)", "sed -i and -r differ on BSD: write to another file, use -E"),
    (r"\bgrep\s+(-\w+\s+)*-\w*P", "grep -P is of GNU"),
    (r"\breadlink\s+-f\b|(?<!path\.)\brealpath\b", "readlink -f and realpath are not on every Mac: cd and pwd -P"),
    (r"\bstat\s+(-c|--format)", "stat -c is of GNU"),
    (r"\bdate\s+(-d|--date|-I)|\bdate\s+\+\S*%N", "date -d, -I and %N are of GNU"),
    (r"^(?!.*command -v)(.*[|;&(]\s*|.*\bthen\s+|.*\bdo\s+|\s*)(nproc|timeout|tac|sha256sum|md5sum|shuf|numfmt|setsid|gsed)\b", "a tool that a Mac does not have"),
    (r"\bhead\s+(-n\s*|-c\s*)-\d", "head with a negative count is of GNU"),
    (r"\bxargs\s+(-\w+\s+)*-(r|d)\b", "xargs -r and -d are of GNU"),
    (r"\bfind\b.*\s-(printf|regextype|quit)\b", "find -printf is of GNU"),
    (r"\bsort\s+(-\w+\s+)*(-\w*V|--version-sort|--parallel)", "sort -V is of GNU"),
    (r"\bcp\s+(-\w+\s+)*(--\w|-\w*[tu]\b)", "cp of GNU"),
    (r"\bmktemp\s+(-\w+\s+)*--", "long options of mktemp are of GNU"),
    (r"\b(ls|rm|mkdir|tail|cut|du|df|wc|touch|chmod|ln|cat)\s+(-\w+\s+)*--[a-z]", "long options are of GNU"),
]]


def problems(name, text):
    """The faults, as lines of "file:number: reason"."""
    found = []
    is_strict = re.search(r"^\s*set\s+-\w*u", text, re.MULTILINE) is not None
    empty = set(re.findall(r"(?:^|\s)([A-Za-z_]\w*)=\(\s*\)", text)) if is_strict else set()
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#") or line.rstrip().endswith("# Linux only"):
            continue
        code = re.sub(r"\s#\s.*$", "", line)
        found += [f"{name}:{number}: {reason}" for pattern, reason in RULES if pattern.search(code)]
        for array in empty:
            unguarded = code.replace("${%s[@]+\"${%s[@]}\"}" % (array, array), "")
            if "${%s[@]}" % array in unguarded:
                found.append(f'{name}:{number}: {array} may be empty: ${{{array}[@]+"${{{array}[@]}}"}}')
    return found


PLANTED = """mapfile -t list < <(ls)
readarray list
declare -A map
local -n list=$1
declare -g name
echo "${name,,}"
echo "${name^}"
echo "${list[@]@Q}"
echo "${list[-1]}"
make &>> log
make |& tee log
coproc cat
wait -n
echo "$BASHPID"
if [[ -v name ]]; then :; fi
for i in {01..10}; do :; done
printf '%(%F)T'
read -N 1 key
sed -i s/a/b/ file
sed -r 's/(a)/b/' file
grep -oP 'a' file
readlink -f file
realpath file
stat -c %s file
date -d yesterday
date +%s%N
n=$(nproc)
timeout 5 make
    timeout 170 "$program" Tests
ls | tac
head -n -1 file
ls | xargs -r rm
find . -name x -printf %p
ls | sort -V
cp --parents a b
mktemp --suffix=.c
rm --force x
set -u; list=(); echo "${list[@]}"
""".splitlines()
FINE = """while read -r line; do list+=("$line"); done < <(ls)
local name=$1
echo "${name%,}" "${name#^}" "${name/a,,b/c}"
make >log 2>&1
make 2>&1 | tee log
sed -E 's/a/b/' file >other
grep -E 'a' file
find . -name x | sort
date +%s
swift build --product x
head -n 1 file
command -v timeout >/dev/null
if command -v sha256sum >/dev/null; then sha256sum x; else shasum -a 256 x; fi
readlink -f file # Linux only
set -u; list=(); echo ${list[@]+"${list[@]}"}
set -u; list=(a); echo "${list[@]}"
# mapfile is explained here
""".splitlines()


def self_test():
    missed = [line for line in PLANTED if not problems("planted", line)]
    wrong = [problem for line in FINE for problem in problems(line, line)]
    for line in missed:
        print(f"self-test: not reported: {line}")
    for problem in wrong:
        print(f"self-test: reported by mistake: {problem}")
    return 1 if missed or wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.sh", ".ci/run"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout.split("\n")
    files = arguments or [name for name in listed if name and not name.startswith("Deploy/")]  # those run on servers
    found = [problem for name in files for problem in problems(name, (ROOT / name).read_text())]
    print("\n".join(found) if found else f"{len(files)} scripts run under bash 3.2 with BSD tools, as far as these rules know")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
