#!/usr/bin/env bash
# Checks the layout of C++ (clang-format 19) and Swift (swift format) files; --fix rewrites them instead.
# Usage: format.sh [--fix] [file ...]. A missing tool is an error if CI=true and only a message otherwise.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fix=false
if [[ ${1:-} == --fix ]]; then fix=true; shift; fi

# Files of one language: those given, or all that git does not ignore. Generated tables are skipped.
list() {
  if (($# > 1)); then printf '%s\n' "${@:2}"; else git ls-files --cached --others --exclude-standard; fi |
    grep -E "\.($1)$" | grep -vE '_tables?\.(h|cpp|inc)$|/generated/|^(CxxCore/joined|CxxCore/gpu|Tests/CoreTestSuite)/.*cpp$' |
    while read -r file; do [[ -f $file ]] && echo "$file"; done || true
}

missing() {
  echo "format: $1 was not found: $2"
  [[ ${CI:-} == true ]] && status=1
  return 0
}

status=0
cxx=() swift=()
while read -r file; do cxx+=("$file"); done < <(list 'h|cpp|hpp' "$@")
while read -r file; do swift+=("$file"); done < <(list 'swift' "$@")

clang_format=
for candidate in clang-format-19 clang-format; do
  if command -v "$candidate" >/dev/null && "$candidate" --version | grep -q 'version 19\.'; then
    clang_format=$candidate
    break
  fi
done
if [[ -z $clang_format ]]; then
  missing "clang-format 19" "Tools/setup.sh --dev installs it"
elif ((${#cxx[@]})); then
  if $fix; then "$clang_format" -i ${cxx[@]+"${cxx[@]}"}; else "$clang_format" --dry-run -Werror ${cxx[@]+"${cxx[@]}"} || status=1; fi
fi

if ! command -v swift >/dev/null || ! swift format --version >/dev/null 2>&1; then
  missing "swift format" "it is part of the Swift toolchain since 6.0"
elif ((${#swift[@]})); then
  if $fix; then
    swift format format --in-place ${swift[@]+"${swift[@]}"}
  else
    swift format lint --strict ${swift[@]+"${swift[@]}"} || status=1
  fi
fi

if ! $fix; then
  ((status == 0)) && result="formatted" || result="not formatted: run Tools/checks/format.sh --fix"
  echo "${#cxx[@]} C++ files, ${#swift[@]} Swift files: $result"
fi
exit $status
