#!/bin/sh
# Builds and runs Tests/ClientPackage, a package without C++ interop, in debug and release: what any user does first.
set -eu
cd "$(dirname "$0")/../../Tests/ClientPackage"
for configuration in debug release; do
  swift build -c "$configuration" --quiet
  answer="$("$(swift build -c "$configuration" --show-bin-path)/Client")"
  case "$answer" in
    *Paris*complete*42*) echo "client package, $configuration: ok" ;;
    *) printf 'client package, %s: unexpected answer:\n%s\n' "$configuration" "$answer" >&2; exit 1 ;;
  esac
done
