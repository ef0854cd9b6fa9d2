#!/usr/bin/env bash
# Runs what only a Mac can show, and writes one report. Usage: Tools/first_mac.sh [REPORT.txt]
# Each step runs even if an earlier one failed. docs/mac.md lists the steps and what to look for. METAL_CPP=FOLDER also compares
# our declarations of Metal with metal-cpp. --list prints the steps without running them; --self-test runs them all with
# stub tools, on any machine.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

report=${1:-first-mac-report.txt}
passed=0 failed=0

steps() {
  cat <<'STEPS'
machine|sw_vers && sysctl -n machdep.cpu.brand_string hw.memsize hw.perflevel0.logicalcpu && swift --version && xcodebuild -version
shaders|Tools/checks/apple_shaders.sh
metal-cpp|Tools/checks/metal_types.sh
build|swift build -c release --product pagoda && swift build --build-tests
device|.build/release/pagoda info && .build/release/pagoda info --device metal
answer|.build/release/pagoda generate --device metal -p 'What is the capital of France?' | grep Paris
kernels|make -s -j8 -C Tools/native build && PAGODA_TEST_DEVICE=metal .build/native/release/tests Tests/Fixtures Sources/MiniModel/files conformance invariance gpu_matmul gpu_fusion expert latent on_kernels matches_transformers
tests|Tools/test.sh swift
memory|env time -l .build/release/pagoda bench --device metal --shape qwen3.5-0.8b --quantize 4bit --tests tg8
speed|.build/release/pagoda bench --device metal --shape qwen3.5-0.8b --quantize 4bit --tests tg64,b8,pp512,pp2048 --kernels
speed-4b|.build/release/pagoda bench --device metal --shape qwen3.5-4b --quantize 4bit --tests tg64,pp512
products|.build/release/pagoda info --device metal --shape qwen3.5-0.8b --quantize 4bit
predicted|.build/release/pagoda bench --predict m4-pro --shape qwen3.5-0.8b --quantize 4bit
speed-cpu|.build/release/pagoda bench --device cpu --shape qwen3.5-0.8b --quantize 8bit --tests tg64,b8,pp512
self-test|rm -rf ~/.cache/pagoda/devices ~/.cache/pagoda/metal && time .build/release/pagoda info
app|Apps/PagodaChat/Scripts/make-app.sh
client|Tools/test.sh client
sanitizers|Tools/test.sh asan
STEPS
}

# step NAME COMMAND: its output goes to the report, its outcome also to the terminal.
step() {
  local since=$SECONDS outcome
  printf '\n== %s: %s\n' "$1" "$2" >>"$report"
  if bash -o pipefail -c "$2" >>"$report" 2>&1 </dev/null; then
    outcome=ok passed=$((passed + 1))
  else
    outcome=FAIL failed=$((failed + 1))
  fi
  printf '%-4s %-11s %d s\n' "$outcome" "$1" $((SECONDS - since)) | tee -a "$report"
}

# The documents name every step with its command, and every script of a step exists.
check_list() {
  local name command word
  while IFS='|' read -r name command; do
    grep -qF "**$name**" docs/mac.md || { echo "docs/mac.md does not describe the step $name"; return 1; }
    grep -qF -- "$command" docs/mac.md || { echo "docs/mac.md has another command for $name"; return 1; }
    for word in $command; do
      case $word in
        Tools/*.sh | Apps/*.sh) [[ -x $word ]] || { echo "$name: $word is no program"; return 1; } ;;
      esac
    done
  done < <(steps)
}

# stub_tree FOLDER: this script among tools that do nothing but succeed; pagoda prints what the steps look for.
stub_tree() {
  local word
  mkdir -p "$1/bin" "$1/.build/release" "$1/.build/native/release"
  for word in $(steps | grep -oE '(Tools|Apps)/[A-Za-z/_-]+\.sh|\.build/[a-z/]+' | sort -u) \
    bin/sw_vers bin/sysctl bin/swift bin/xcodebuild bin/make bin/time; do
    mkdir -p "$(dirname "$1/$word")"
    printf '#!/bin/sh\necho "stub $0 $*: Paris"\n' >"$1/$word"
    chmod +x "$1/$word"
  done
  printf '#!/bin/sh\necho Darwin\n' >"$1/bin/uname"
  chmod +x "$1/bin/uname"
  cp Tools/first_mac.sh "$1/Tools/first_mac.sh"
}

# Runs the copy: HOME too is the folder's, because a step empties the cache of kernels.
in_stubs() { HOME=$1 PATH=$1/bin:$PATH "$1/Tools/first_mac.sh" "$1/report.txt" >"$1/out.txt" 2>&1; }

self_test() {
  local tree count name
  check_list || return 1
  tree=$(mktemp -d) count=$(steps | wc -l | tr -d ' ')
  stub_tree "$tree"
  in_stubs "$tree" || { echo "a run in which every step passes failed:"; cat "$tree/out.txt"; return 1; }
  grep -qx "$count passed, 0 failed" "$tree/report.txt" || { echo "not all $count steps ran"; return 1; }
  for name in $(steps | cut -d '|' -f 1); do
    grep -q "^== $name: " "$tree/report.txt" || { echo "the report has no output of $name"; return 1; }
  done
  # One that fails neither stops the others nor is overlooked; an answer without Paris is a failure.
  printf '#!/bin/sh\nexit 3\n' >"$tree/bin/swift"
  printf '#!/bin/sh\necho London\n' >"$tree/.build/release/pagoda"
  if in_stubs "$tree"; then echo "failing steps were overlooked"; return 1; fi
  grep -qx "$((count - 3)) passed, 3 failed" "$tree/report.txt" || { echo "wrong counts:"; cat "$tree/out.txt"; return 1; }
  for name in machine build answer; do
    grep -q "^FAIL $name " "$tree/out.txt" || { echo "$name did not fail"; return 1; }
  done
  printf '#!/bin/sh\necho Linux\n' >"$tree/bin/uname"
  in_stubs "$tree"
  [[ $? == 64 ]] || { echo "it runs on machines that are no Mac"; return 1; }
  rm -rf "$tree"
}

case ${1:-} in
  --list) steps; exit ;;
  --self-test) self_test; exit ;;
esac
if [[ $(uname -s) != Darwin ]]; then
  echo "first_mac: this machine is no Mac; --list prints the steps" >&2
  exit 64
fi
: >"$report"
while IFS='|' read -r name command; do step "$name" "$command"; done < <(steps)
printf '%d passed, %d failed\n' "$passed" "$failed" | tee -a "$report"
echo "The report is in $report; please attach it to an issue."
((failed == 0))
