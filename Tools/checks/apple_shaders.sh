#!/usr/bin/env bash
# Compiles every kernel with Apple's compiler, each with the version of Metal that the Metal backend uses for it.
# --self-test replaces the compiler by a stub that refuses tensor operations before Metal 4. Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

metal() { xcrun metal "$@"; }

# compile_all: one line per kernel that does not compile.
compile_all() {
  local kernel version passed=0 failed=0 out
  out=$(mktemp -d)
  for kernel in Shaders/*.metal Tests/Kernels/*.metal; do
    version=metal3.1  # the first with bfloat
    if grep -q '#include <metal_tensor>' "$kernel"; then version=metal4.0; fi
    if metal "-std=$version" -c "$kernel" -Werror -fno-fast-math -IShaders -o "$out/kernel.air"; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAIL $kernel as $version"
    fi
  done
  rm -rf "$out"
  echo "$passed passed, $failed failed"
  ((failed == 0 && passed > 0))
}

if [[ ${1:-} == --self-test ]]; then
  metal() { [[ $1 == -std=metal4.0 ]] || ! grep -q '#include <metal_tensor>' "$3"; }
fi
compile_all
