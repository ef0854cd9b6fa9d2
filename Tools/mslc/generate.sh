#!/usr/bin/env bash
# Makes CxxCore/src/device/gpu/generated from Shaders/*.metal; --check fails when what is checked in is not that.
# Checked in, because SwiftPM builds without Python; as text in .cpp files and not with #embed, because no file on disk
# is what a compiler gets: Metal's has its headers in place, CUDA's is translated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=CxxCore/src/device/gpu/generated
out=$folder
if [[ ${1:-} == --check ]]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"
PYTHONDONTWRITEBYTECODE=1 python3 Tools/mslc/mslc.py --target all -o "$out" Shaders/*.metal
if [[ ${1:-} == --check ]]; then
  if ! diff -rq "$out" "$folder"; then
    echo "generated kernels are stale: Tools/mslc/generate.sh"
    exit 1
  fi
  echo "$(find "$folder" -name '*.cpp' -o -name '*.h' | wc -l) generated files are what the kernels say"
else
  for file in "$folder"/*; do  # of kernels that are gone
    stem=$(basename "$file" .cpp)
    stem=${stem%_source}
    case $stem in files | bindings.h | cuda_headers) ;; *) [[ -f Shaders/$stem.metal ]] || rm "$file" ;; esac
  done
fi
