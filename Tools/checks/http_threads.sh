#!/usr/bin/env bash
# Runs the HTTP server between many threads under the thread sanitizer; a race ends it with a report and a status other than 0.
# Usage: Tools/checks/http_threads.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=.build/http-threads
mkdir -p "$build"
swiftc -swift-version 6 -package-name pagoda -parse-as-library -sanitize=thread -g -I Sources/CEpoll -module-name http_threads \
  -o "$build/http_threads" Tools/checks/http_threads.swift Sources/PagodaServer/HTTP/*.swift
"$build/http_threads"
