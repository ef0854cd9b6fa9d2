#!/usr/bin/env bash
# Runs the kernel tests with eight thread schedules and compares the output bits of every launch.
# Usage: schedules.sh TESTS_PROGRAM [FILTER ...]. Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

program=$1
shift
filters=("$@")
((${#filters[@]})) || filters=(gpu_software gpu_hazards_launches conformance)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0 failed=0

one() {  # ORDER SEED FILTER
  PAGODA_TEST_DEVICE=software PAGODA_SOFTWARE_ORDER=$1 PAGODA_SOFTWARE_SEED=$2 PAGODA_SOFTWARE_LOG=$out/$3.$1.$2 \
    perl -e 'alarm 170; exec @ARGV' "$program" Tests/Fixtures Sources/MiniModel/files "$3" >"$out/output.$3.$1.$2" 2>&1
  local status=$?
  sort -o "$out/$3.$1.$2" "$out/$3.$1.$2"  # tests run in parallel
  return $status
}

for filter in "${filters[@]}"; do
  for schedule in "forward 1" "reverse 1" "shuffled 1" "shuffled 2" "shuffled 3" "random 1" "random 2" "random 3"; do
    read -r order seed <<<"$schedule"
    if ! one "$order" "$seed" "$filter"; then
      echo "FAIL $filter in order $schedule"
      grep -A 6 '^FAIL' "$out/output.$filter.$order.$seed" | head -n 12
      failed=$((failed + 1))
    elif ! cmp -s "$out/$filter.forward.1" "$out/$filter.$order.$seed"; then
      echo "FAIL $filter: $schedule and forward differ in the output bits of"
      diff "$out/$filter.forward.1" "$out/$filter.$order.$seed" | grep '^>' | cut -d ' ' -f 2 | sort | uniq -c | head -n 5
      failed=$((failed + 1))
    else
      passed=$((passed + 1))
    fi
  done
  echo "$filter: $(wc -l <"$out/$filter.forward.1") launches compared in 8 orders"
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
