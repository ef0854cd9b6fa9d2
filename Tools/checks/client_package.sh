#!/bin/sh
# Builds and runs Apps/Examples, a package without C++ interop that uses PagodaKit, like any client package. Release only:
# with BIN (swift build --show-bin-path), its sources are also type-checked against the modules of that debug build, which
# takes seconds instead of the minutes of a second build of the core. Usage: client_package.sh [BIN]
set -eu
cd "$(dirname "$0")/../../Apps/Examples"
if [ $# -gt 0 ]; then
  for program in Ask Tour; do
    swiftc -typecheck -swift-version 6 -parse-as-library -I "$1/Modules" Sources/$program/*.swift
  done
  echo "examples, debug: type-check"
fi
swift build -c release --quiet
bin=$(swift build -c release --show-bin-path)
answer=$("$bin/Tour")
case "$answer" in
  *Paris*complete*42*) echo "examples, release: Tour works" ;;
  *) printf 'Tour, unexpected answer:\n%s\n' "$answer" >&2; exit 1 ;;
esac
answer=$("$bin/Ask" "What is the capital of Japan?")
case "$answer" in
  *Tokyo*stop*tokens*) echo "examples, release: Ask works" ;;
  *) printf 'Ask, unexpected answer:\n%s\n' "$answer" >&2; exit 1 ;;
esac
