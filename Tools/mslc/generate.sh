#!/usr/bin/env bash
# Generates CxxCore/src/device/gpu/generated from Shaders/*.metal, and Tests/CxxCoreTests/generated from Tests/Kernels.
# --check fails if the checked-in files are out of date.
# They are checked in because SwiftPM builds without Python; as string literals in .cpp files rather than with #embed,
# because the text differs from the file on disk: Tools/mslc/texts.py. Metal and CUDA share it; the software device's is translated.
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
  echo "$folder: $(find "$folder" -type f | wc -l) files are up to date"
  rm -rf "$out"
}

# Copies only files that differ, so that nothing else is rebuilt, and removes obsolete ones.
update() {
  local file
  for file in "$1"/*; do cmp -s "$file" "$2/$(basename "$file")" || cp "$file" "$2/"; done
  for file in "$2"/*; do [[ -f $1/$(basename "$file") ]] || rm "$file"; done
}

generate CxxCore/src/device/gpu/generated files Shaders/*.metal
generate Tests/CxxCoreTests/generated test_files Tests/Kernels/*.metal
