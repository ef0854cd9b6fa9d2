# Counts results and shows what failed; sourced by Tools/test.sh. `stage` is the stage that runs, `logs` the folder of its output.

add() { passed=$((passed + $1)) failed=$((failed + $2)); }

say() { printf '%s\n' "$*"; }

# fail NAME: counts and shows a failure of the stage that runs, and names it in the summary.
fail() {
  add 0 1
  say "FAIL $1"
  say "$1" >>"$logs/failed-$stage.txt"
}

# check NAME COMMAND...: one test; its output is shown.
check() {
  local name=$1
  shift
  if "$@"; then add 1 0; else fail "$name"; fi
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

# name_failures LOG: names the failures that a runner printed, in the summary.
name_failures() {
  grep -aoE "^✘ Test .* failed|^Test Case '.*' failed|^FAIL .*|^(FAILED|ERROR) [^ ]+" "$1" | sed -E 's/^(✘ Test|FAIL) //; s/ failed$//' | sort -u |
    head -n 20 >>"$logs/failed-$stage.txt"
}

# ended STATUS LOG KIND [FILTER ...]: evaluates a runner that ended. One that fails although all its tests passed has
# found a leak.
ended() {
  local failed_before=$failed
  closing "$2"
  name_failures "$2"
  counted "$3" "$2" "${@:4}"
  if (($1 != 0 && failed == failed_before)); then
    fail "the runner ended with status $1"
    tail -n 40 "$2"
  fi
}

# own NAME LOG COMMAND...: runs one of our runners, which prints its failures and ends with "N passed, N failed".
own() {
  local name=$1 log=$logs/$2 line
  shift 2
  "$@" >"$log" 2>&1 </dev/null
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
  grep -E -A 6 '^FAIL' "$log" | head -n 60
  name_failures "$log"
  [[ -n $line ]] || { tail -n 20 "$log"; line="0 passed, 1 failed"; }
  say "$name: $line"
  add "$(cut -d ' ' -f 1 <<<"$line")" "$(cut -d ' ' -f 3 <<<"$line")"
}

# quietly LOG COMMAND...: shows the output only of a command that fails.
quietly() { "${@:2}" >"$1" 2>&1 </dev/null || { closing "$1"; return 1; }; }

# not_run REASON: reports a stage whose prerequisites are missing; a failure in CI.
not_run() {
  say "not run: $1 (Tools/setup.sh --dev)"
  if [[ ${CI:-} == true ]]; then fail "not run: $1"; fi
}

# A test that ends with status 75 has said why this machine cannot run it.
can_be_impossible() { "$@" || (($? == 75)); }
