# The stages that Tools/test.sh adds with --all, and those that run only when named; sourced by it.

# Plants defects in the kernels and fails if the tests miss one; Tools/mslc/mutate.py --only <kernel> tries one kernel.
stage_mutants() {
  local -x SWIFT_OBJECTS=../../.build/debug  # as above
  swift build >"$logs/mutants-build.log" 2>&1 </dev/null || tail -n 20 "$logs/mutants-build.log"
  own "mutants" kernels-mutants.log Tools/mslc/mutate.py
}

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

# The whole path of a release but its tag; the tree must be clean.
stage_release() {
  check "release" Tools/release.sh "$(sed -n 's/.*static let current = "\(.*\)".*/\1/p' Sources/PagodaKit/Engine/PagodaVersion.swift)" --dry-run
}

stage_fuzz() {
  check "fuzzers" make -s -j "$jobs" -C Tools/native SECONDS="${FUZZ_SECONDS:-30}" fuzz
}
