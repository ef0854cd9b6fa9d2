#!/usr/bin/env bash
# The C and C++ compiler for `swift build` in Tools/test.sh under CI on Linux (SwiftPM takes it from CC). It precompiles the
# standard headers once for each set of flags and reduces debug information to line tables; together this halves the time.
# The release build of the client stage and a plain `swift build` do not use it, and detect missing includes.
# With CCACHE_DIR set it compiles through ccache instead, which takes longer at first and almost no time when nothing has changed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clang=$(dirname "$(command -v swift)")/clang

source='' flags=() previous=''
for argument in "$@"; do
  case $previous in
    -c) source=$argument ;;
    -o | -MF | -MT | -index-store-path) ;;
    *) case $argument in -c | -o | -M* | -index-store-path) ;; *) flags+=("$argument") ;; esac ;;
  esac
  previous=$argument
done
case $source in
  */device/gpu/*/* | */Tests/CxxCoreTests/generated/*) exec "$clang" "$@" ;;  # these include few standard headers
  */CxxCore/joined/*.cpp | */Tests/CxxCoreTests/*.cpp) ;;
  *) exec "$clang" "$@" ;;
esac
if [[ -n ${CCACHE_DIR:-} ]]; then exec ccache "$clang" "$@" -gline-tables-only; fi

flags+=(-gline-tables-only)
key=$( (ls -lL "$clang"; printf '%s\n' ${flags[@]+"${flags[@]}"} | grep -v '^-I') | cksum | tr ' ' -)
folder=$here/../../.build/precompiled
pch=$folder/$key.pch
mkdir -p "$folder"
if mkdir "$folder/$key" 2>/dev/null; then  # the first of several concurrent compilers
  "$clang" ${flags[@]+"${flags[@]}"} -fpch-instantiate-templates -x c++-header "$here/std.h" -o "$pch.new" && mv "$pch.new" "$pch" ||
    rmdir "$folder/$key"
fi
until [[ -e $pch ]]; do
  if [[ ! -d $folder/$key ]]; then echo "package_cc.sh: std.h does not compile" >&2; exit 1; fi
  sleep 1
done
exec "$clang" "$@" -gline-tables-only -include-pch "$pch"
