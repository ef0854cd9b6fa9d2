# The stages that Tools/test.sh runs by default, and --quick; sourced by it.

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
  check "joined files" Tools/native/join.py --check
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
  if [[ $(uname -s) == Linux ]]; then
    check "stubs" Tools/checks/apple_stubs.sh "$bin"
    check "HTTPS of Apple's systems" Tools/checks/apple_tls.sh "$bin"
  fi
  check "documentation" Tools/checks/documentation.py "$bin"
  check "API baseline" Tools/checks/api_baseline.py "$bin"
  own "commands of the docs" docs-commands.log Tools/checks/docs.py --run "$bin/pagoda"
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
  name_failures "$log"
  tail -n 1 "$log"
  count() { grep -oE "[0-9]+ $1" <<<"$(tail -n 1 "$log")" | grep -oE '[0-9]+' || echo 0; }
  add "$(count passed)" "$(($(count failed) + $(count 'errors?')))"
  if [[ ${CI:-} == true ]] && (($(count skipped) > 0)); then fail "$(count skipped) tests of $2 were skipped"; fi
  if ((status != 0 && $(count failed) + $(count 'errors?') == 0)); then fail "pytest ended with status $status"; fi
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
  check "benches compile" make -s -j "$jobs" -C Tools/native OUT=../../.build/native/benches CXXFLAGS_release=-O0 benches
  own "8 schedules" kernels-schedules.log Tools/mslc/schedules.sh .build/native/release/tests
  local checked=check
  if [[ " ${stages[*]} " == *" mutants "* ]]; then
    checked=mutants  # the same build with mutants that are not active, so that the kernels are compiled once
    Tools/mslc/mutate.py --plant || fail "planting mutants"
  fi
  native "$checked" gpu
  PAGODA_TEST_DEVICE=software native "$checked" conformance
}

# What developers run while they work: the C++ tests that need no device, the kit, one chat and one test of the server.
stage_quick() {
  local log=$logs/quick.log
  local -x SWIFT_OBJECTS=../../.build/debug  # as in stage kernels: nothing of the core is compiled a second time
  check "swift build" swift build --build-tests >"$logs/quick-build.log" 2>&1 </dev/null
  check "unit tests" quietly "$log" swift test --skip-build --filter 'PagodaKitTests|PagodaHubTests|PagodaCLITests.ArgumentTests'
  native release base_ cache_ scheduler_ sampler_ speculate_ grammar_ json_ tokenizer_
  check "one chat" quietly "$logs/quick-chat.log" one_chat "$(swift build --show-bin-path)/pagoda"
  check "one server test" quietly "$logs/quick-server.log" swift test --skip-build --filter HealthTests
}

one_chat() { "$1" generate -p 'What is the capital of France?' --max-tokens 20 | grep -q Paris; }
