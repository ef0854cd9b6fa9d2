#!/usr/bin/env bash
# Runs tests and ends with "N passed, N failed". Usage: Tools/test.sh [--all | --quick | stage ...]
#   (nothing)  every unit, kernel, API and server test: checks swift kernels api server hub
#   --all      also mutants cluster package aarch64 client asan tsan, as CI does
#   --quick    after a build: unit tests, one chat, one server test
#   stage ...  only these; fuzz (FUZZ_SECONDS each, 30 by default) and release run only when named
# By default checks, kernels and api compute in the background, at low priority, while server and hub wait for servers; all need
# what swift has built. With --all, aarch64, client and the sanitizer builds do. Output of the background is shown after the
# others'. The full output of each stage is in .build/test-logs.
# Exits 0 only if nothing failed and every runner ran at least as many tests as the tree contains.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

logs=$PWD/.build/test-logs
left=  # list of the C++ tests that the swift stage leaves to the asan stage; empty when only one of them runs
jobs=$(getconf _NPROCESSORS_ONLN)
passed=0 failed=0
usual=(checks swift kernels api server hub)
extra=(mutants cluster package aarch64 client asan tsan)
mkdir -p "$logs"
# Half of the compiler's time for the package; elsewhere the objects would not be those of a developer's `swift build`.
if [[ ${CI:-} == true && $(uname -s) == Linux ]]; then
  for begun in {.build,${CCACHE_DIR:-.build}}/precompiled/*/; do  # headers that an interrupted run did not finish
    if [[ ! -e ${begun%/}.pch && ! -e $begun/std.pch ]]; then rm -rf "$begun"; fi
  done
  export CC=$PWD/Tools/native/package_cc.sh
fi
for part in results usual extra order; do source "Tools/stages/$part.sh"; done

stages=("$@") first=() second=() last=()
case ${1:-} in
  '') stages=("${usual[@]}") ;;
  --all) stages=("${usual[@]}" "${extra[@]}") ;;
  --quick) stages=(quick) ;;
esac
: >"$logs/summary.txt"
for stage in "${stages[@]}"; do
  if ! declare -F "stage_$stage" >/dev/null; then
    say "test.sh: no stage '$stage'; there are ${usual[*]} ${extra[*]} fuzz release, and the options --all and --quick" >&2
    exit 64
  fi
  case $stage in
    aarch64 | client) second+=("$stage") ;;
    asan | tsan) last+=("$stage") ;;
    *) first+=("$stage") ;;
  esac
done
if [[ " ${stages[*]} " == *" swift "* && " ${stages[*]} " == *" asan "* ]]; then
  left=$logs/left-to-asan.txt
  Tools/checks/test_counts.py leave "$left" || exit 1
fi
if (($# == 0)); then
  run swift
  start checks kernels api
  run server hub
  join
elif ((${#first[@]} && ${#second[@]})); then
  start ${second[@]+"${second[@]}"}
  run ${first[@]+"${first[@]}"}
  join
  run ${last[@]+"${last[@]}"}
else
  run "${stages[@]}"
fi
say "== summary"
cat "$logs/summary.txt"
say "all stages: $SECONDS s"
say "$passed passed, $failed failed"
((failed == 0 && passed > 0))
