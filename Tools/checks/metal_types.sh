#!/usr/bin/env bash
# Type-checks the Metal backend without a Mac: with our declarations of Metal, over a stub of the Objective-C
# runtime, and with metal-cpp itself if METAL_CPP names its folder. Wrong names must be refused. With metal-cpp, every
# selector, class and value that we declare is compared with its own. Also runs the backend's steps on a fake of Metal, with planted
# faults, lists the devices of machines with old, new and no GPUs, and the memory limit of iOS on a stub. Ends with "N passed, N failed".
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
  for plant in s/memoryBarrier/memoryBarier/ s/BarrierScopeBuffers/BarrierScopeBuffer/ 's/setBytes(binding.values,/setBytes(0, binding.values,/' \
    s/DispatchTypeConcurrent/DispatchTypeParallel/; do
    sed "$plant" "$folder/metal_steps.cpp" >"$planted"
    ! cmp -s "$planted" "$folder/metal_steps.cpp" && ! compiles "$planted" "$@" 2>/dev/null
    count $? "$name lets $plant pass"
  done
}

# Selectors and class names as strings, and values by static_assert; residency sets, waiting for events, `setMathMode:` and
# `setMathFloatingPointFunctions:` are newer than most copies of metal-cpp.
compare() {
  local word
  for word in $(grep -ohE '"[A-Za-z:]+"' "$folder"/{foundation,metal_api}.h | tr -d '"' | sort -u); do
    [[ $word == setMath*: || $word == *Residency* || $word == *Allocation: || $word == waitUntilSignaledValue* || $word == C ]] || grep -rqE "\"$word\"|[( ]$word[ ),]" "$real/Foundation" "$real/Metal"
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

# A command-line tool on macOS has no default GPU unless it links CoreGraphics: so says Apple's page of
# MTLCreateSystemDefaultDevice. `pagoda` and every package that uses the core must link it.
links_core_graphics() { grep -qE 'linkedFramework\("CoreGraphics", \.when\(platforms: \[\.macOS\]\)\)' "$1"; }

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
  local file
  for file in metal_backend metal_steps residency; do
    compiles "CxxCore/src/device/gpu/metal/$file.cpp" -fblocks -DPAGODA_METAL_CPP -isystem "$folder"
    count $? "$file with a folder of metal-cpp"
  done
  ! compiles CxxCore/src/device/gpu/metal/metal_backend.cpp -fblocks -DPAGODA_METAL_CPP 2>/dev/null
  count $? "without the folder, metal-cpp is found somewhere"
  package_has() {
    env "$@" swift package --scratch-path "$folder/build" dump-package >"$folder/package.json" 2>/dev/null &&
      grep -q PAGODA_METAL_CPP "$folder/package.json"
  }
  package_has METAL_CPP="$folder" && ! package_has -u METAL_CPP
  count $? "the package does not take METAL_CPP"
}

# The order of what steps tell a GPU, on a fake that logs it; each planted fault must be found.
steps_on_fake() {
  local work=${planted%.cpp}_steps gpu=CxxCore/src/device/gpu plant source
  if [[ $(uname -s) == Darwin ]]; then echo "not run: steps on a fake of Metal, which needs another system than Metal's"; return; fi
  mkdir -p "$work"
  object() {
    clang++ -std=c++20 -ffunction-sections -Wall -Wextra -Werror -Wno-unused-parameter -DPAGODA_METAL_TYPES -isystem Tests/Stubs/apple \
      -ICxxCore/src -ICxxCore/include -ITests/Stubs/fake_metal -c "$1" -o "$work/$(basename "$1" .cpp).o"
  }
  # No function that needs the tables of kernels is called; the linker drops them.
  # A planted fault may wait forever. (A subshell that watched and was killed at once ran this script's EXIT trap instead,
  # which removed the folder.)
  runs() {
    clang++ -Wl,--gc-sections "$work"/*.o -o "$work/steps" -lpthread && timeout 60 "$work/steps"  # Linux only
  }
  for source in Tests/Stubs/fake_metal/*.cpp "$gpu"/metal/{metal_steps,residency,launch_record,step_parts}.cpp "$gpu"/{hazards,launch_checks}.cpp; do
    object "$source" || count 1 "$source does not compile"
  done
  runs
  count $? "steps on a fake of Metal"
  for plant in '/waitForFence/d' '/updateFence/d' '/setRetainedReferences/d' 's/hazards_.clear();/{}/' \
    's/if (commits) parts.back/if (false) parts.back/' 's/forget_step();  \/\/ without/(void)0;  \/\/ without/' '/^  last_step_ = 0;$/d' '/^  again_.clear();$/d' \
    's/^  retire();$//' 's/error_ = error_of/if (false) error_ = error_of/' '/residency_.set_last/d' '/residency_.note_use/d' 's/^  settle();$//' \
    's/ \&\& running_.size() <= kMaxRepeatedParts//' 's/if (!error_.is_ok() || record_/if (record_/' 's/size_t i = first;/size_t i = running_.size() - 1;/' \
    's/^  (void)wait();$//' '/not encoded again/d'; do
    sed "$plant" "$folder/metal_steps.cpp" >"$work/metal_steps.cpp"
    ! cmp -s "$work/metal_steps.cpp" "$folder/metal_steps.cpp" && object "$work/metal_steps.cpp" && ! runs >/dev/null 2>&1
    count $? "steps on a fake of Metal let $plant pass"
  done
}

# A GPU that is too old for the kernels, as that of hosted runners (Apple5), is not listed, and `auto` says why; newer ones are. Takes
# the objects of steps_on_fake.
gpus_on_fake() {
  local work=${planted%.cpp}_steps device=CxxCore/src/device metal=CxxCore/src/device/gpu/metal source fault
  if [[ $(uname -s) == Darwin ]]; then return; fi
  rm -f "$work/steps.o"
  lists() {
    local machine
    clang++ -Wl,--gc-sections "$work"/*.o -o "$work/listed" -lpthread || return 2
    for machine in 1005 1007 0 "1007 list" "1005 list"; do
      # shellcheck disable=SC2086  # two arguments
      HOME=$work timeout 60 "$work/listed" $machine || return 1
    done
  }
  for source in Tests/Stubs/fake_gpus/listed.cpp "$device"/{registry,auto_device,optional_devices}.cpp \
    "$metal"/{metal_backend,metal_steps,pipeline_cache}.cpp "$device"/gpu/{kernel_table,weights/host_staging}.cpp "$device/host/host_memory.cpp" \
    CxxCore/src/base/{cache_folder,dtype}.cpp; do
    object "$source" || count 1 "$source does not compile"
  done
  lists
  count $? "GPUs on a fake of Metal"
  while read -r source fault; do
    sed "$fault" "$source" >"$work/$(basename "$source")"
    ! cmp -s "$work/$(basename "$source")" "$source" && object "$work/$(basename "$source")" && { lists >/dev/null 2>&1; (($? == 1)); }
    count $? "GPUs on a fake of Metal let $fault pass"
    object "$source"
  done <<END
$device/registry.cpp s/if (device->is_there())/if (true)/
$device/registry.cpp s/choice.reason);/"");/
$device/auto_device.cpp s/choice.reason = tried.status.message/(void)0/
$metal/metal_backend.cpp s/if (!device->supportsFamily(MTL::GPUFamilyApple7))/if (false)/
$metal/metal_backend.cpp s/if (!device) return/if (false) return/
$metal/metal_backend.cpp s/devices->count() > 0/false/
END
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
links_core_graphics Package.swift
count $? "the core does not link CoreGraphics on macOS"
sed '/linkedFramework("CoreGraphics", .when(platforms: \[.macOS\]))/d' Package.swift >"$planted"
! links_core_graphics "$planted"
count $? "a core without CoreGraphics passes"
app_limit
steps_on_fake
gpus_on_fake
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
