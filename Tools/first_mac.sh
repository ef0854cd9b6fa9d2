#!/usr/bin/env bash
# Runs what only a Mac can show, and writes one report. Usage: Tools/first_mac.sh [REPORT.txt]
# Each step runs even if an earlier one failed. docs/mac.md lists the steps and what to look for. METAL_CPP=FOLDER also compares
# our declarations of Metal with metal-cpp. --list prints the steps without running them.
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
memory|/usr/bin/time -l .build/release/pagoda bench --device metal --shape qwen3.5-0.8b --quantize 4bit --tests tg8
speed|.build/release/pagoda bench --device metal --shape qwen3.5-0.8b --quantize 4bit --tests tg64,b8,pp512,pp2048 --kernels
speed-4b|.build/release/pagoda bench --device metal --shape qwen3.5-4b --quantize 4bit --tests tg64,pp512
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

if [[ ${1:-} == --list ]]; then
  steps
  exit
fi
if [[ $(uname -s) != Darwin ]]; then
  echo "first_mac: this machine is no Mac; --list prints the steps" >&2
  exit 64
fi
: >"$report"
while IFS='|' read -r name command; do step "$name" "$command"; done < <(steps)
printf '%d passed, %d failed\n' "$passed" "$failed" | tee -a "$report"
echo "The report is in $report; please attach it to an issue."
((failed == 0))
