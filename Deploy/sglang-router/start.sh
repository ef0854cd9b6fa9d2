#!/usr/bin/env bash
# Starts sglang-router (pip install sglang-router==0.3.2) in front of replicas of `pagoda serve`.
# Usage: start.sh PORT REPLICA_URL... (options of the router may follow after --; with --service-discovery among them, no
# replica need be named). PYTHON chooses the interpreter.
set -euo pipefail

usage() {
  echo "usage: start.sh PORT [http://HOST:PORT...] [-- ROUTER OPTIONS]" >&2
  exit 64
}

(($# >= 2)) || usage
port=$1
shift
replicas=()
while (($#)) && [[ $1 != -- ]]; do
  [[ $1 == http://* || $1 == https://* ]] || usage
  replicas+=("${1%/}")
  shift
done
if (($#)); then shift; else ((${#replicas[@]})) || usage; fi
workers=()
((${#replicas[@]} == 0)) || workers=(--worker-urls "${replicas[@]}")

options=(
  --host "${HOST:-127.0.0.1}" --port "$port"
  --policy cache_aware
  # A prompt goes to the replica that has seen at least this share of its text; otherwise to the least loaded one. Higher
  # than the router's default of 0.3, so that a common system prompt does not send all conversations to one replica.
  --cache-threshold 0.5
  # Beyond this difference of requests in flight the shortest queue wins over the cache.
  --balance-abs-threshold 8 --balance-rel-threshold 1.5
  # Answers may be long. A refused request (429, 503, no connection) is retried for about five seconds: the policy
  # chooses the same replica until a check has found that it drains or is down.
  --request-timeout-secs 3600
  --retry-max-retries 8 --retry-initial-backoff-ms 100 --retry-backoff-multiplier 2 --retry-max-backoff-ms 1000
  # A replica is left out after one failed check, and is back after one good one.
  --health-check-endpoint /health --health-check-interval-secs 1 --health-check-timeout-secs 2
  --health-failure-threshold 1 --health-success-threshold 1
  # The circuit breaker counts client errors (400, 404) as failures of the replica: a few bad requests would take
  # all replicas out.
  --disable-circuit-breaker
  --max-concurrent-requests -1
  --prometheus-host 127.0.0.1 --prometheus-port "${PROMETHEUS_PORT:-29000}"
)
exec "${PYTHON:-python3}" -m sglang_router.launch_router "${options[@]}" "${workers[@]}" "$@"
