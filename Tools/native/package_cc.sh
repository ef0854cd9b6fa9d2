#!/usr/bin/env bash
# The C and C++ compiler for `swift build` in Tools/test.sh under CI on Linux (SwiftPM takes it from CC). It precompiles the
# standard headers once for each set of flags and reduces debug information to line tables; together this halves the time.
# A plain `swift build` does not use it, and detects missing includes. With CCACHE_DIR set it compiles through ccache, so that
# a file that has not changed takes almost no time, in another checkout too.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clang=$(dirname "$(command -v swift)")/clang
compiler=("$clang")
if [[ -n ${CCACHE_DIR:-} ]]; then compiler=(ccache "$clang"); fi

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
  */CxxCore/gpu/generated/* | */Tests/CoreTestSuite/generated/*) exec "${compiler[@]}" "$@" ;;  # these include few standard headers
  */CxxCore/joined/*.cpp | */CxxCore/gpu/*.cpp | */Tests/CoreTestSuite/*.cpp) ;;
  *) exec "$clang" "$@" ;;
esac
# The precompiled header contains the path of its source, so checkouts that share a compiler cache share both.
folder=$here/../../.build/precompiled
if [[ -n ${CCACHE_DIR:-} ]]; then folder=$CCACHE_DIR/precompiled; fi
flags+=(-gline-tables-only)
key=$( (ls -lL "$clang"; cat "$here/std.h"; printf '%s\n' ${flags[@]+"${flags[@]}"} | grep -v '^-I') | cksum | tr ' ' -)
pch=$folder/$key.pch
mkdir -p "$folder"
if [[ ! -e $pch ]] && mkdir "$folder/$key" 2>/dev/null; then  # the first of several concurrent compilers
  cp "$here/std.h" "$folder/$key"
  "$clang" ${flags[@]+"${flags[@]}"} -fpch-instantiate-templates -Xclang -fno-pch-timestamp -x c++-header "$folder/$key/std.h" -o "$pch.new" &&
    mv "$pch.new" "$pch" || rm -r "${folder:?}/$key"
fi
until [[ -e $pch ]]; do
  if [[ ! -d $folder/$key ]]; then echo "package_cc.sh: std.h does not compile" >&2; exit 1; fi
  sleep 1
done
exec "${compiler[@]}" "$@" -gline-tables-only -include-pch "$pch"
