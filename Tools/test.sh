#!/usr/bin/env bash
# Runs tests and ends with "N passed, N failed". Usage: Tools/test.sh [--all | --quick | stage ...]
#   (nothing)  every unit, kernel, API and server test: checks swift kernels api server hub
#   --all      also mutants cluster package aarch64 client asan tsan, as CI does
#   --quick    after a build: unit tests, one chat, one server test
#   stage ...  only these; fuzz (FUZZ_SECONDS each, 30 by default) and release run only when named
# With --all, aarch64, client and the sanitizer builds run in the background at low priority; their output is shown after the
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
  rm -rf .build/precompiled  # an interrupted run may have left a header that it had only begun
  export CC=$PWD/Tools/native/package_cc.sh
fi

add() { passed=$((passed + $1)) failed=$((failed + $2)); }

say() { printf '%s\n' "$*"; }

# check NAME COMMAND...: one test; its output is shown.
check() {
  local name=$1
  shift
  if "$@"; then add 1 0; else add 0 1; say "FAIL $name"; fi
}

# counted KIND LOG [FILTER ...]: adds the counts that the runner printed, after comparing them with the tree.
counted() {
  local out
  out=$(Tools/checks/test_counts.py "$@")
  say "$out" | sed '$d'
  read -r ran_passed ran_failed < <(say "$out" | tail -n 1)
  add "${ran_passed:-0}" "${ran_failed:-1}"
}

# Prints the failures in a log with their context, and the runners' closing lines.
closing() {
  grep -av '^◇' "$1" |  # tests that start: their arguments may look like errors
    grep -aE -A 12 '^FAIL |error:|ERROR: |WARNING: ThreadSanitizer|runtime error|recorded an issue' | head -n 120
  grep -E 'Executed [0-9]+ tests?,|Test run with|^[0-9]+ passed, [0-9]+ failed$' "$1" || tail -n 20 "$1"
}

# ended STATUS LOG KIND [FILTER ...]: evaluates a runner that ended. One that fails although all its tests passed has
# found a leak.
ended() {
  local failed_before=$failed
  closing "$2"
  counted "$3" "$2" "${@:4}"
  if (($1 != 0 && failed == failed_before)); then
    say "FAIL the runner ended with status $1"
    tail -n 40 "$2"
    add 0 1
  fi
}

# native BUILD [FILTER ...]: runs the C++ tests whose names contain one of the filters, in one build of Tools/native; with
# `selected` set it compiles only the files of these tests.
native() {
  local log=$logs/$1${2:+-$2}.log
  make -s -j "$jobs" -C Tools/native BUILD="$1" FILTER="${*:2}" SELECTED="${selected:-}" test >"$log" 2>&1 </dev/null
  ended $? "$log" native "${@:2}"
}

stage_checks() {
  local self_tested
  for self_tested in include_direction.py header_sentence.py paths.sh test_counts.py documentation.py docs.py \
    load_commands.py portable_scripts.py api_baseline.py entry_points.py duplicate_code.py app_files.py tidy.sh apple_shaders.sh; do
    check "$self_tested --self-test" "Tools/checks/$self_tested" --self-test
  done
  check "first_mac.sh --self-test" Tools/first_mac.sh --self-test
  check "include direction" Tools/checks/include_direction.py
  check "opening sentences" Tools/checks/header_sentence.py
  check "machine paths" Tools/checks/paths.sh
  check "links and paths in the docs" Tools/checks/docs.py
  check "duplicate code" Tools/checks/duplicate_code.py
  check "entry points in the client package" Tools/checks/entry_points.py
  check "container images" Tools/checks/images.py
  check "layout" Tools/checks/format.sh
  check "clang-tidy, all headers" Tools/checks/tidy.sh
  check "scripts under bash 3.2" Tools/checks/portable_scripts.py
  check "generated kernels" Tools/mslc/generate.sh --check
  check "files of the app" Tools/checks/app_files.py
  check "swift-transformers adapter" Tools/checks/adapter.sh
  Tools/checks/file_sizes.sh
}

# When asan runs as well, C++ tests outside Tests/CxxCoreTests/device are left to it; Tools/checks/test_counts.py checks that
# it ran each of them. Tests of devices run in both builds: their code is what the optimiser changes most.
stage_swift() {
  local log=$logs/swift.log
  local -x PAGODA_CXX_TESTS_LEFT=$left
  check "swift build" swift build >"$logs/swift-build.log" 2>&1 </dev/null
  grep -E '^[^ ].*(error|warning):|^FAIL|^Build complete' "$logs/swift-build.log" | sort -u | head -n 40
  swift test >"$log" 2>&1 </dev/null
  ended $? "$log" swift
  if [[ -n $left ]]; then say "$(wc -l <"$left" | tr -d ' ') C++ tests are left to the asan stage"; fi
}

# Type-checks what Linux cannot run: the app and the adapter, against stub frameworks; and checks the documentation.
stage_api() {
  local bin
  swift build >"$logs/api-build.log" 2>&1 </dev/null
  bin=$(swift build --show-bin-path)
  if [[ $(uname -s) == Linux ]]; then check "stubs" Tools/checks/apple_stubs.sh "$bin"; fi
  check "documentation" Tools/checks/documentation.py "$bin"
  check "API baseline" Tools/checks/api_baseline.py "$bin"
  own "commands of the docs" docs-commands.log Tools/checks/docs.py --run "$bin/pagoda"
}

# not_run REASON: reports a stage whose prerequisites are missing; a failure in CI.
not_run() {
  say "not run: $1 (Tools/setup.sh --dev)"
  if [[ ${CI:-} == true ]]; then add 0 1; fi
}

# install VENV REQUIREMENTS. uv takes 15 s where pip takes minutes: pip compiles files that no test imports, and searches long
# among packages that depend on each other in many ways.
install() {
  "$1/bin/pip" install -q uv==0.13.7 && UV_NATIVE_TLS=true "$1/bin/uv" pip install -q --python "$1/bin/python" -r "$2" ||
    "$1/bin/pip" install -q -r "$2"
}

# python_tests NAME FOLDER: runs pytest on a folder, in a virtual environment with its requirements.
python_tests() {
  local venv=$PWD/.build/$1-venv needs=$2/requirements.txt log=$logs/$1.log
  if ! cmp -s "$needs" "$venv/requirements.txt"; then
    rm -rf "$venv"
    if ! { python3 -m venv "$venv" && install "$venv" "$needs" && cp "$needs" "$venv"; } >"$log" 2>&1; then
      tail -n 5 "$log"
      rm -rf "$venv"
      not_run "the Python packages of $2 cannot be installed"
      return
    fi
  fi
  swift build --product pagoda >"$logs/$1-build.log" 2>&1 </dev/null
  PAGODA=$(swift build --show-bin-path)/pagoda "$venv/bin/python" -m pytest -q -rfEs -p no:cacheprovider \
    "$2" >"$log" 2>&1 </dev/null
  local status=$?
  grep -E '^(FAILED|ERROR|SKIPPED)|^E   ' "$log" | head -n 60
  tail -n 1 "$log"
  count() { grep -oE "[0-9]+ $1" <<<"$(tail -n 1 "$log")" | grep -oE '[0-9]+' || echo 0; }
  add "$(count passed)" "$(($(count failed) + $(count 'errors?')))"
  if ((status != 0 && $(count failed) + $(count 'errors?') == 0)); then add 0 1; say "FAIL pytest ended with status $status"; fi
}

# Drives the server with official clients, a browser, and requests generated from the API description; then with clients that
# need other versions of the same packages.
stage_server() {
  swift build --product MCPProbe >"$logs/server-probe.log" 2>&1 </dev/null  # for test_mcp_client.py
  python_tests server Tests/ServerPython
  python_tests clients Tests/ClientPython
}

# Pulls from a hub that injects faults, and runs huggingface_hub on the same cache.
stage_hub() { python_tests hub Tests/HubPython; }

# Puts two replicas behind sglang-router, HAProxy and Ray, as Deploy starts them, and checks the files there.
stage_cluster() {
  if ! PATH=$PATH:/usr/sbin command -v haproxy >/dev/null; then
    not_run "haproxy is not installed"
  else
    python_tests cluster Tests/ClusterPython
  fi
}

# Tests what depends on the architecture: kernels with vector instructions against the reference, their bits in any schedule,
# measured limits, text (char has no sign there), the fibers of the software device, and one answer from prompt to text. The
# whole suite takes half an hour under emulation: `make -C Tools/native aarch64` (its `paths` tests check each path against
# R1 in random schedules). The portable path and the kernels on the software device are the same C++ as on x86-64, up to a
# hundred times slower, so operations are tested on the other paths of the CPU only.
stage_aarch64() {
  local -x PAGODA_TEST_DEVICE=simd
  local selected=1
  if [[ $(uname -m) != x86_64 ]]; then
    say "not run: this machine is not x86-64, and the tests above ran on $(uname -m)"
  elif ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-g++-12 >/dev/null; then
    not_run "qemu-user and g++-12-aarch64-linux-gnu are not installed"
  else
    native aarch64 base_ conformance invariance packed_numbers packed_products packed_rotation sampler_ tokenizer_ \
      bench_limits gpu_software engine_the_embedded_model
  fi
}

stage_asan() {
  local -x PAGODA_CXX_TESTS_LEFT=$left SWIFT_OBJECTS
  SWIFT_OBJECTS=$(objects)
  native asan
}

# objects: where asan and tsan find the objects that the package's build shares with them, when that build is one of the stages.
objects() { if [[ -n $left ]]; then say ../../.build/debug; fi; }

# The thread sanitizer is slow, so it covers only the engine's thread, the thread pool and the server's HTTP.
where_threads_meet() {
  local -x SWIFT_OBJECTS
  SWIFT_OBJECTS=$(objects)
  local -x selected=1 TEST_DIRS="$(printf "../../Tests/CxxCoreTests/%s " support base engine)"
  "$@" tsan engine base_thread
}
stage_tsan() {
  where_threads_meet native
  check "HTTP threads" Tools/checks/http_threads.sh
}

# Compiles ahead of a stage, which then reports failures. The tests themselves run alone: some of them have deadlines.
build() {
  make -s -j "$jobs" -C Tools/native BUILD="$1" FILTER="${*:2}" SELECTED="${selected:-}" build \
    >"$logs/$1-build.log" 2>&1 </dev/null
}
ahead_asan() {
  local -x SWIFT_OBJECTS
  SWIFT_OBJECTS=$(objects)
  build asan
}
ahead_tsan() { where_threads_meet build; }

stage_client() {
  local bin
  swift build >"$logs/client-build.log" 2>&1 </dev/null
  bin=$(swift build --show-bin-path)
  [[ -d $bin/Modules ]] || bin=
  check "versioned client" Tools/checks/client_package.sh ${bin:+"$bin"}
  if [[ -n $bin && $(uname -s) == Linux ]]; then check "sizes of products" Tools/checks/product_sizes.sh "$bin"; fi
}

# Packs the program of the debug build as a release would, and uses it without the toolchain. A release build of all takes
# minutes: that is the stage `release`.
stage_package() {
  local out=$PWD/.build/packed
  if [[ $(uname -s) != Linux ]] || ! command -v dpkg-deb >/dev/null; then
    say "not run: packages are for Linux, and tried with dpkg"
    return
  fi
  swift build --product pagoda >"$logs/package-build.log" 2>&1 </dev/null
  rm -rf "$out"
  check "packing" Tools/package/pack.sh "$(swift build --show-bin-path)/pagoda" "$out" --fast
  check "packed program without Swift" can_be_impossible Tools/package/try.sh "$out"
  rm -rf "$out"
}
# A test that ends with status 75 has said why this machine cannot run it.
can_be_impossible() { "$@" || (($? == 75)); }

# The whole path of a release but its tag; the tree must be clean.
stage_release() {
  check "release" Tools/release.sh "$(sed -n 's/.*static let current = "\(.*\)".*/\1/p' Sources/PagodaKit/Engine/PagodaVersion.swift)" --dry-run
}

# own NAME LOG COMMAND...: runs one of our runners, which prints its failures and ends with "N passed, N failed".
own() {
  local name=$1 log=$logs/$2 line
  shift 2
  "$@" >"$log" 2>&1 </dev/null
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
  grep -E -A 6 '^FAIL' "$log" | head -n 60
  [[ -n $line ]] || { tail -n 20 "$log"; line="0 passed, 1 failed"; }
  say "$name: $line"
  add "$(cut -d ' ' -f 1 <<<"$line")" "$(cut -d ' ' -f 3 <<<"$line")"
}

# Checks the kernel text: language subset, address spaces, thread order, races and bounds.
stage_kernels() {
  local file kernels=(Shaders/*.metal Tests/Kernels/*.metal)
  for file in "${kernels[@]}"; do
    check "lint $file" python3 -B Tools/mslc/mslc.py --target lint -o /dev/null "$file"
    check "strict $file" Tools/mslc/strict.sh "$file"
  done
  own "types of the Metal backend" kernels-metal.log Tools/checks/metal_types.sh
  own "generator" kernels-generator.log Tools/mslc/test_mslc.py
  own "bad snippets" kernels-snippets.log Tools/mslc/bad_snippets.py
  own "instructions and registers" kernels-counts.log Tools/mslc/count.py --check
  # Reuses objects of the package's own build; the path is relative because make splits names at spaces.
  local -x SWIFT_OBJECTS=../../.build/debug
  { swift build && make -s -j "$jobs" -C Tools/native build; } >"$logs/kernels-build.log" 2>&1 </dev/null ||
    tail -n 20 "$logs/kernels-build.log"
  check "benches compile" make -s -j "$jobs" -C Tools/native benches
  own "8 schedules" kernels-schedules.log Tools/mslc/schedules.sh .build/native/release/tests
  native check gpu
  PAGODA_TEST_DEVICE=software native check conformance
}

# Plants defects in the kernels and fails if the tests miss one; Tools/mslc/mutate.py --only <kernel> tries one kernel.
stage_mutants() {
  local -x SWIFT_OBJECTS=../../.build/debug  # as above
  swift build >"$logs/mutants-build.log" 2>&1 </dev/null || tail -n 20 "$logs/mutants-build.log"
  own "mutants" kernels-mutants.log Tools/mslc/mutate.py
}

stage_fuzz() {
  check "fuzzers" make -s -j "$jobs" -C Tools/native SECONDS="${FUZZ_SECONDS:-30}" fuzz
}

# What developers run while they work: the C++ tests that need no device, the kit, one chat and one test of the server.
stage_quick() {
  local log=$logs/quick.log
  check "swift build" swift build --build-tests >"$logs/quick-build.log" 2>&1 </dev/null
  check "unit tests" quietly "$log" swift test --skip-build --filter 'PagodaKitTests|PagodaHubTests|PagodaCLITests.ArgumentTests'
  native release base_ cache_ scheduler_ sampler_ speculate_ grammar_ json_ tokenizer_
  check "one chat" quietly "$logs/quick-chat.log" one_chat "$(swift build --show-bin-path)/pagoda"
  check "one server test" quietly "$logs/quick-server.log" swift test --skip-build --filter HealthTests
}

one_chat() { "$1" generate -p 'What is the capital of France?' --max-tokens 20 | grep -q Paris; }

# quietly LOG COMMAND...: shows the output only of a command that fails.
quietly() { "${@:2}" >"$1" 2>&1 </dev/null || { closing "$1"; return 1; }; }

# ticking STAGE: on a terminal, shows how long a stage has been running.
ticking() {
  local since=$SECONDS
  while sleep 1; do printf '\r== %s: %d s ' "$1" $((SECONDS - since)) >/dev/tty; done
}

# how_to_repeat STAGE: how to run one failed test of a stage alone.
how_to_repeat() {
  case $1 in
    swift | quick) say "swift test --filter NAME" ;;
    server) say "PAGODA=.build/debug/pagoda .build/server-venv/bin/python -m pytest FILE -k NAME" ;;
    hub | cluster) say "PAGODA=.build/debug/pagoda .build/$1-venv/bin/python -m pytest FILE -k NAME" ;;
    asan | tsan | aarch64) say "make -C Tools/native $1 FILTER=NAME" ;;
    mutants) say "Tools/mslc/mutate.py --only KERNEL" ;;
    *) say "Tools/test.sh $1" ;;
  esac
}

# run STAGE...: runs stages one after another, and adds a line for each to the summary.
run() {
  local stage before_passed before_failed since ticker
  for stage in "$@"; do
    before_passed=$passed before_failed=$failed since=$SECONDS ticker=
    if [[ -t 1 ]]; then
      ticking "$stage" &
      ticker=$!
    else
      say "== $stage"
    fi
    "stage_$stage" 2>&1
    if [[ -n $ticker ]]; then
      kill "$ticker"
      wait "$ticker" 2>/dev/null
      printf '\r'
    fi
    say "-- $stage: $((SECONDS - since)) s"
    printf '%-9s %5d passed %4d failed %6d s\n' "$stage" $((passed - before_passed)) $((failed - before_failed)) \
      $((SECONDS - since)) >>"$logs/summary.txt"
    if ((failed > before_failed)); then
      say "          one alone: $(how_to_repeat "$stage"); all output: .build/test-logs" >>"$logs/summary.txt"
    fi
  done
}

# beside STAGE...: like `run` at low priority; leaves its counts for `join`.
beside() {
  local stage
  renice -n 10 -p "$(exec sh -c 'echo $PPID')" >/dev/null
  run "$@"
  for stage in ${last[@]+"${last[@]}"}; do "ahead_$stage"; done
  say "$passed $failed" >"$logs/beside.counts"
}

# start STAGE...: starts stages in the background, in a process group that ends with this script.
start() {
  rm -f "$logs/beside.counts"
  follower=
  set -m
  beside "$@" >"$logs/beside.txt" 2>&1 </dev/null &
  group=$!
  set +m
  trap 'kill -- "-$group" $follower 2>/dev/null' EXIT
}

# Shows the output of the stages that `start` began, and waits for them.
join() {
  local counts
  tail -n +1 -f "$logs/beside.txt" &
  follower=$!
  wait "$group"
  trap - EXIT
  sleep 1  # for the last lines
  kill "$follower"
  if read -r -a counts <"$logs/beside.counts"; then add "${counts[@]}"; else add 0 1; say "FAIL the stages beside did not end"; fi
}

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
if ((${#first[@]} && ${#second[@]})); then
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
