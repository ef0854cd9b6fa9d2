#!/usr/bin/env bash
# Runs the HTTP server with many threads under the thread sanitizer; a race ends it with a report and a nonzero status.
# With --self-test it removes one lock after another, and fails if a race caused by that is not reported. Locks around a
# plain read of a stored value are left alone, because the compiler turns the read into a memory copy, which the sanitizer does
# not see; so is the lock of the Date header, which is written once a second.
# Usage: Tools/checks/http_threads.sh [--self-test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=.build/http-threads
# Without io_sync=0, anything sent on one socket counts as synchronised with a read from any other.
export TSAN_OPTIONS=io_sync=0:halt_on_error=1
mkdir -p "$build"

# compile PROGRAM SOURCE...
compile() {
  swiftc -swift-version 6 -wmo -package-name pagoda -parse-as-library -sanitize=thread -g -I Sources/CEpoll \
    -module-name http_threads -o "$1" Tools/checks/http_threads.swift \
    Sources/PagodaServer/Tracing/TraceContext.swift Sources/PagodaServer/Access/TrustedProxies.swift "${@:2}"
}

# Numbers the locks; the program skips the one given by PAGODA_UNLOCKED.
plant() {
  local copies=$build/planted
  rm -rf "$copies"
  mkdir "$copies"
  cat >"$copies/Lockable.swift" <<'END'
import Foundation

private let unlocked = Int(ProcessInfo.processInfo.environment["PAGODA_UNLOCKED"] ?? "")

extension NSLock {
  func with<T>(_ number: Int, _ body: () throws -> T) rethrows -> T {
    number == unlocked ? try body() : try withLock(body)
  }
}
END
  awk -v copies="$copies" '
    FNR == 1 { file = FILENAME; sub(".*/", "", file) }
    /lock\.withLock/ && !/lock\.withLock\(?[ ]*\{ [(A-Za-z., ]*\)? \}/ && file != "ResponseWriter.swift" {
      number += 1
      sub(/lock\.withLock/, "lock.with(" number ")")
      print number, file ":" FNR > (copies "/sites")
    }
    { print > (copies "/" file) }' Sources/PagodaServer/HTTP/*.swift
  compile "$build/planted_threads" "$copies"/*.swift
}

if [[ ${1:-} == --self-test ]]; then
  plant
  missed=0
  while read -r number location; do
    if PAGODA_UNLOCKED=$number "$build/planted_threads" >"$build/planted.log" 2>&1; then
      echo "not reported: without the lock of $location"
      missed=$((missed + 1))
    fi
  done <"$build/planted/sites"
  echo "$(wc -l <"$build/planted/sites") locks left out, $missed not reported"
  exit $((missed > 0))
fi
compile "$build/http_threads" Sources/PagodaServer/HTTP/*.swift
"$build/http_threads"
