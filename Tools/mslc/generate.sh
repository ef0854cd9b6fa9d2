#!/usr/bin/env bash
# Makes CxxCore/src/device/gpu/generated from Shaders/*.metal, and the same of the test kernels in Tests/Kernels.
# --check fails when what is checked in is not that.
# Checked in, because SwiftPM builds without Python; as text in .cpp files and not with #embed, because no file on disk
# is what a compiler gets: Metal's has its headers in place, CUDA's is translated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export PYTHONDONTWRITEBYTECODE=1

check=false
[[ ${1:-} == --check ]] && check=true

# generate FOLDER TABLE SOURCE...
generate() {
  local folder=$1 table=$2 out
  shift 2
  out=$(mktemp -d)
  python3 Tools/mslc/mslc.py --target all --table "$table" -o "$out" "$@" || { rm -rf "$out"; return 1; }
  if ! diff -rq "$out" "$folder" >/dev/null 2>&1; then
    if $check; then
      diff -rq "$out" "$folder" || true
      echo "generated kernels are stale: Tools/mslc/generate.sh"
      rm -rf "$out"
      return 1
    fi
    mkdir -p "$folder"
    update "$out" "$folder"
  fi
  echo "$folder: $(find "$folder" -type f | wc -l) files are what the kernels say"
  rm -rf "$out"
}

# Copies what differs, so that nothing else is rebuilt, and removes what is gone.
update() {
  local file
  for file in "$1"/*; do cmp -s "$file" "$2/$(basename "$file")" || cp "$file" "$2/"; done
  for file in "$2"/*; do [[ -f $1/$(basename "$file") ]] || rm "$file"; done
}

generate CxxCore/src/device/gpu/generated files Shaders/*.metal
generate Tests/CxxCoreTests/generated test_files Tests/Kernels/*.metal
