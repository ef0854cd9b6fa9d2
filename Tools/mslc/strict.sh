#!/usr/bin/env bash
# Type-checks .metal files with real address spaces, like Metal's compiler: strict.sh file.metal...
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
half=-fnative-half-arguments-and-returns
clang++ -fsyntax-only -x c++ -Xclang $half /dev/null 2>/dev/null || half=-fallow-half-arguments-and-returns
status=0
for file in "$@"; do
  text=$out/$(basename "$file" .metal).cpp
  python3 Tools/mslc/mslc.py --target strict --no-lint -IShaders "$file" -o "$text" 2>/dev/null || { echo "$file: mslc failed"; status=1; continue; }
  clang++ --target=aarch64-linux-gnu -std=c++20 -fsyntax-only -ffreestanding -nostdinc -nostdinc++ -Xclang $half \
    -fno-exceptions -fno-rtti -Wall -Werror -Wno-unused -Wno-undefined-internal -Wno-undefined-inline -ICxxCore/src \
    "$text" || status=1
done
exit $status
