#!/usr/bin/env bash
# Runs clang-tidy with the short list of .clang-tidy over all headers of the core, as one file, and over the given .cpp files.
# Usage: tidy.sh [--self-test | --changed | FILE.cpp ...]
#   --changed   the .cpp files that differ from the previous commit, at most 12
# CI checks the headers only (7 s): a .cpp file takes 2 to 5 s, all of them a quarter of an hour.
# A missing clang-tidy is an error if CI=true and only a message otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
MAX_CHANGED=12

tidy=
for candidate in clang-tidy-19 clang-tidy; do
  if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 19\.'; then
    tidy=$candidate
    break
  fi
done
if [[ -z $tidy ]]; then
  echo "tidy: clang-tidy 19 was not found: Tools/setup.sh --dev installs it"
  [[ ${CI:-} != true ]]
  exit
fi

# run FILE...: prints the findings, fails if there are any. Lines such as `2 warnings generated.` are dropped.
run() {
  "$tidy" --quiet "$@" -- -xc++ -std=c++20 -ICxxCore/src -ICxxCore/include -IShaders 2>&1 |
    { grep -vE '^[0-9]+ (warnings?|errors?)( and .*)? generated|^Suppressed |^Use -header-filter' || true; } >"$work/findings"
  cat "$work/findings"
  [[ ! -s $work/findings ]]
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ ${1:-} == --self-test ]]; then
  cp .clang-tidy "$work/.clang-tidy"
  printf '#include <string>\n#include <utility>\nint f(std::string s) {\n  std::string t = std::move(s);\n  return int(s.size() + t.size());\n}\n' >"$work/a.cpp"
  printf 'int g(int x) { return x; }\n' >"$work/b.cpp"
  if run "$work/a.cpp" >/dev/null; then echo "self-test: a use after move was not found"; exit 1; fi
  run "$work/b.cpp"
  exit
fi

files=("$@")
if [[ ${1:-} == --changed ]]; then
  files=()
  while read -r file; do files+=("$file"); done < <(
    git diff --name-only --diff-filter=d HEAD~1 -- 'CxxCore/src/*.cpp' 2>/dev/null | grep -v /generated/ | sed "${MAX_CHANGED}q")
fi

cp .clang-tidy "$work/.clang-tidy"
find CxxCore/include/pagoda CxxCore/src -name '*.h' -not -path '*/gpu/*' -not -path '*/cpu/kernels/*' | LC_ALL=C sort |
  sed -E 's|^CxxCore/(include\|src)/(.*)$|#include "\2"|' >"$work/headers.cpp"
status=0
run "$work/headers.cpp" || status=1
if ((${#files[@]})); then run ${files[@]+"${files[@]}"} || status=1; fi
echo "$(wc -l <"$work/headers.cpp" | tr -d ' ') headers and ${#files[@]} files: $( ((status == 0)) && echo no findings || echo findings)"
exit $status
