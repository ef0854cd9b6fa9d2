#!/usr/bin/env bash
# Checks the types of the Metal backend where there is no Mac: against the stub headers of Tests/Stubs/metal-cpp, and
# against metal-cpp itself where METAL_CPP names its folder or the submodule is there. Wrong names must be refused.
# Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

passed=0 failed=0
folder=CxxCore/src/device/gpu/metal
submodule=CxxCore/ThirdParty/metal-cpp
real=${METAL_CPP:-$([[ -f $submodule/Metal/Metal.hpp ]] && echo "$submodule")}

# compiles FILE OPTION...
compiles() {
  clang++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-parameter -DPAGODA_METAL_TYPES "${@:2}" \
    -ICxxCore/src -ICxxCore/include "$1"
}

# with NAME OPTION...: all files compile, and none that names something else than Metal does.
with() {
  local name=$1 file plant planted
  shift
  for file in "$folder"/*.cpp; do
    if compiles "$file" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $file with $name"; fi
  done
  planted=$(mktemp --suffix .cpp 2>/dev/null || mktemp -t planted.cpp)
  for plant in s/memoryBarrier/memoryBarier/ s/BarrierScopeBuffers/BarrierScopeBuffer/ s/setBytes\(binding.values,/setBytes\(/ \
    s/DispatchTypeConcurrent/DispatchTypeParallel/; do
    sed "$plant" "$folder/metal_backend.cpp" >"$planted"
    if cmp -s "$planted" "$folder/metal_backend.cpp" || compiles "$planted" "$@" 2>/dev/null; then
      failed=$((failed + 1))
      echo "FAIL $name lets $plant pass"
    else
      passed=$((passed + 1))
    fi
  done
  rm -f "$planted"
}

with "the stubs" -ITests/Stubs/metal-cpp
if [[ -n $real ]]; then
  with "metal-cpp" -fblocks -isystem "$real" -isystem Tests/Stubs/apple
else
  echo "not checked with metal-cpp itself: METAL_CPP does not name its folder"
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
