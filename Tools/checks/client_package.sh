#!/bin/sh
# Builds and runs Apps/Examples, a package without C++ interop that uses PagodaKit, like any client package, and checks that
# a program which does not ask for the embedded model, CUDA and the software device has nothing of them. Release only:
# with BIN (swift build --show-bin-path), its sources are also type-checked against the modules of that debug build, which
# takes seconds instead of the minutes of a second build of the core. Usage: client_package.sh [BIN]
set -eu
cd "$(dirname "$0")/../../Apps/Examples"
model=$PWD/../../Sources/MiniModel/files
if [ $# -gt 0 ]; then
  for program in Ask Tour Lean; do
    swiftc -typecheck -swift-version 6 -parse-as-library -I "$1/Modules" Sources/$program/*.swift
  done
  echo "examples, debug: type-check"
fi
swift build -c release --quiet
bin=$(swift build -c release --show-bin-path)

# expect PROGRAM PATTERN ANSWER
expect() {
  case "$3" in
    $2) echo "examples, release: $1 works" ;;
    *) printf '%s, unexpected answer:\n%s\n' "$1" "$3" >&2; exit 1 ;;
  esac
}
expect Tour '*Paris*complete*42*' "$("$bin/Tour")"
expect Ask '*Tokyo*stop*tokens*' "$("$bin/Ask" "What is the capital of Japan?")"
expect Lean '*Paris*' "$("$bin/Lean" "$model" "What is the capital of France?")"
expect "Lean without CUDA" '*built without*PagodaCUDA*' "$("$bin/Lean" "$model" "Hello" cuda)"
expect "Lean without the software device" '*built without*PagodaSoftwareDevice*' "$("$bin/Lean" "$model" "Hello" software)"

# Symbols of what a program must not have; the pattern must find them in a program that has them.
left='pagoda_mini_file|SoftwareBackend|CudaBackend|cuda_headers|matmul_tiles_source|paged_attention_kernels'
symbols() { nm -C "$1" | grep -E "$left" || true; }
if [ -n "$(symbols "$bin/Lean")" ]; then
  echo "Lean has what it does not ask for:" >&2
  symbols "$bin/Lean" | head -n 20 >&2
  exit 1
fi
if [ $# -gt 0 ]; then
  for word in $(echo "$left" | tr '|' ' '); do
    symbols "$1/pagoda" | grep -q "$word" || { echo "nothing is called $word any more: correct this check" >&2; exit 1; }
  done
fi
size() { wc -c <"$1" | tr -d ' '; }
if [ -z "$(symbols "$bin/Ask")" ] || [ "$(($(size "$bin/Ask") - $(size "$bin/Lean")))" -lt 20000000 ]; then
  echo "the check of symbols and sizes does not see the embedded model in Ask" >&2
  exit 1
fi
echo "examples, release: Lean has $(size "$bin/Lean") bytes, Ask, with the embedded model, $(size "$bin/Ask")"
