#!/usr/bin/env bash
# Reads random streams of HTTP requests, good and broken ones, in random chunks; every split must give the same requests and errors.
# Usage: Tools/fuzz/framing.sh [STREAMS [SEED]], 1000000 streams by default; prints the seed, and fails on the first difference.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=.build/framing-fuzz
mkdir -p "$build"
cat >"$build/main.swift" <<'EOF'
import Foundation

// Of HTTPTypes.swift, which needs the rest of the server.
struct HTTPHeader: Sendable, Hashable {
  var name: String
  var value: String

  init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let (streams, seed) = (arguments.first ?? 1_000_000, arguments.count > 1 ? arguments[1] : UInt64.random(in: 0...UInt64.max))
print("seed \(seed)")
for round in 0..<streams / 2 {
  var random = SplitMix(state: seed &+ round)
  do { try FramingStreams.round(&random) } catch {
    print("round \(round), seed \(seed &+ round): \(error)")
    exit(1)
  }
}
print("\(streams / 2 * 2) streams, no difference")
EOF
http=Sources/PagodaServer/HTTP
swiftc -O -module-name framing -o "$build/framing" "$build/main.swift" Tests/PagodaServerTests/FramingStreams.swift \
  "$http"/RequestFraming.swift "$http"/RequestHead.swift "$http"/FramingError.swift
"$build/framing" "$@"
