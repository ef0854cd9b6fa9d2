#!/usr/bin/env bash
# Type-checks the Metal backend without a Mac: with our declarations of Metal, over a stub of the Objective-C
# runtime, and with metal-cpp itself if METAL_CPP names its folder. Wrong names must be refused. With metal-cpp, every
# selector, class and value that we declare is compared with its own. Also runs the memory limit of iOS on a stub. Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

passed=0 failed=0
folder=CxxCore/src/device/gpu/metal
real=${METAL_CPP:-}
planted=$(mktemp -d)/planted.cpp
trap 'rm -rf "$(dirname "$planted")"' EXIT

count() { if (($1 == 0)); then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }

# compiles FILE OPTION...
compiles() {
  clang++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-parameter -DPAGODA_METAL_TYPES "${@:2}" \
    -isystem Tests/Stubs/apple -ICxxCore/src -ICxxCore/include "$1"
}

# with NAME OPTION...: all files compile, and a copy that uses a wrong name does not.
with() {
  local name=$1 file plant
  shift
  for file in "$folder"/*.cpp; do
    compiles "$file" "$@"
    count $? "$file with $name"
  done
  for plant in s/memoryBarrier/memoryBarier/ s/BarrierScopeBuffers/BarrierScopeBuffer/ s/setBytes\(binding.values,/setBytes\(/ \
    s/DispatchTypeConcurrent/DispatchTypeParallel/; do
    sed "$plant" "$folder/metal_backend.cpp" >"$planted"
    ! cmp -s "$planted" "$folder/metal_backend.cpp" && ! compiles "$planted" "$@" 2>/dev/null
    count $? "$name lets $plant pass"
  done
}

# Selectors and class names as strings, and values by static_assert; `setMathMode:` and `setMathFloatingPointFunctions:` are
# newer than most copies of metal-cpp.
compare() {
  local word
  for word in $(grep -ohE '"[A-Za-z:]+"' "$folder"/{foundation,metal_api}.h | tr -d '"' | sort -u); do
    [[ $word == setMath*: || $word == C ]] || grep -rqE "\"$word\"|[( ]$word[ ),]" "$real/Foundation" "$real/Metal"
    count $? "metal-cpp does not know $word"
  done
  {
    echo '#include "device/gpu/metal/metal_cpp.h"'
    grep -ohE '\b[A-Z][A-Za-z0-9_]+ = [0-9]+' "$folder/metal_api.h" |
      sed -E 's/(.*) = (.*)/static_assert(static_cast<unsigned long>(MTL::\1) == \2);/'
  } >"$planted"
  compiles "$planted" -fblocks -DPAGODA_METAL_CPP -isystem "$real"
  count $? "values differ from metal-cpp's"
}

# On iOS the memory limit is what the system still grants the app: here 1,000,000 bytes, of which the memory plan may use 90 %.
app_limit() {
  local program=${planted%.cpp}
  {
    echo '#include "device/host/host_memory.h"'
    echo 'extern "C" size_t os_proc_available_memory(void) { return 1000000; }'
    echo 'int main() { return pagoda::device::host::memory_limit_bytes() == 900000 ? 0 : 1; }'
  } >"$planted"
  clang++ -std=c++20 -DPAGODA_IOS_TYPES -isystem Tests/Stubs/apple -ICxxCore/src -ICxxCore/include "$planted" \
    CxxCore/src/device/host/host_memory.cpp -o "$program" && "$program"
  count $? "the memory limit of an app on iOS"
}

# The package takes metal-cpp if METAL_CPP names its folder, and only then. A stub of it, made of our own declarations, shows that
# the backend compiles with nothing else.
with_folder() {
  local folder
  folder=$(dirname "$planted")/metal-cpp
  mkdir -p "$folder/Foundation" "$folder/Metal"
  echo '#include "device/gpu/metal/foundation.h"' >"$folder/Foundation/Foundation.hpp"
  echo '#include "device/gpu/metal/metal_api.h"' >"$folder/Metal/Metal.hpp"
  # Calls that metal-cpp lacks must not be used with it.
  compiles CxxCore/src/device/gpu/metal/metal_backend.cpp -fblocks -DPAGODA_METAL_CPP -isystem "$folder"
  count $? "the backend with a folder of metal-cpp"
  ! compiles CxxCore/src/device/gpu/metal/metal_backend.cpp -fblocks -DPAGODA_METAL_CPP 2>/dev/null
  count $? "without the folder, metal-cpp is found somewhere"
  package_has() {
    env "$@" swift package --scratch-path "$folder/build" dump-package >"$folder/package.json" 2>/dev/null &&
      grep -q PAGODA_METAL_CPP "$folder/package.json"
  }
  package_has METAL_CPP="$folder" && ! package_has -u METAL_CPP
  count $? "the package does not take METAL_CPP"
}

# A release build for Apple platforms contains neither the software device's kernels nor CUDA's entry points.
metal_only() {
  local object=${planted%.cpp}.o stem
  for stem in argmax argmax_source; do
    clang++ -std=c++20 -O2 -DNDEBUG "$@" -ICxxCore/src -ICxxCore/include -IShaders -c \
      "CxxCore/src/device/gpu/generated/$stem.cpp" -o "$object" || return 1
    if nm "$object" | grep -q msl_entry || grep -aq MSL_GLOBAL "$object"; then return 1; fi
  done
}
metal_only -DPAGODA_METAL_ONLY
count $? "a release build for Apple platforms has kernels of other devices"
! metal_only
count $? "kernels of other devices are not where the check looks for them"
app_limit
with_folder
with "our declarations"
if [[ -n $real ]]; then
  with "metal-cpp" -fblocks -DPAGODA_METAL_CPP -isystem "$real"
  compare
else
  echo "not compared with metal-cpp: METAL_CPP does not name its folder"
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
