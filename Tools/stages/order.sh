# Runs stages one after another or in the background, with a line for each in the summary; sourced by Tools/test.sh.

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

# count_cpu FILE: sets `cpu` to the processor seconds of all commands that have ended; FILE is written and removed.
count_cpu() {
  local part minutes
  times >"$1"  # in a pipe it would count those of the pipe
  cpu=0
  for part in $(tail -n 1 "$1"); do
    minutes=${part%%m*} part=${part#*m}
    cpu=$((cpu + 60 * minutes + ${part%%[.,]*}))
  done
  rm "$1"
}

# run STAGE...: runs stages one after another, and adds a line for each to the summary.
run() {
  local stage before_passed before_failed since ticker cpu cpu_before
  for stage in "$@"; do
    count_cpu "$logs/times-$stage"
    before_passed=$passed before_failed=$failed since=$SECONDS ticker= cpu_before=$cpu
    if [[ -t 1 ]]; then
      ticking "$stage" &
      ticker=$!
    else
      say "== $stage"
    fi
    rm -f "$logs/failed-$stage.txt"
    "stage_$stage" 2>&1
    if [[ -n $ticker ]]; then
      kill "$ticker"
      wait "$ticker" 2>/dev/null
      printf '\r'
    fi
    say "-- $stage: $((SECONDS - since)) s"
    count_cpu "$logs/times-$stage"
    printf '%-9s %5d passed %4d failed %6d s %6d s of processor time\n' "$stage" $((passed - before_passed)) \
      $((failed - before_failed)) $((SECONDS - since)) $((cpu - cpu_before)) >>"$logs/summary.txt"
    if ((failed > before_failed)); then
      if [[ -s $logs/failed-$stage.txt ]]; then sed 's/^/          /' "$logs/failed-$stage.txt" >>"$logs/summary.txt"; fi
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
  if read -r -a counts <"$logs/beside.counts"; then add "${counts[@]}"; else fail "the stages beside did not end"; fi
}
