#!/bin/sh
# Joins the .cpp files of each folder into one, so that the compiler reads their headers once, in less than half the time.
# Usage: unity.sh OUT FILE..., with names relative to this folder. Prints the files to compile: one in OUT for each folder, and
# those that are compiled separately: files with a #pragma or #define, which would affect the next file, and files listed in
# unity_alone.txt, which define a local name that another file of their folder defines too.
set -eu
cd "$(dirname "$0")"
out=$1
shift
mkdir -p "$out"
rm -f "$out"/*.new

{
  sed 's|^|../../|' unity_alone.txt
  grep -lE '^#(pragma|define)' "$@" /dev/null || true
} >"$out/alone"
printf '%s\n' "$@" | grep -Fx -f "$out/alone" || true
printf '%s\n' "$@" | grep -Fxv -f "$out/alone" | awk -v out="$out" '{
  sub("^\\.\\./\\.\\./", "")
  folder = $0
  sub("/[^/]*$", "", folder)
  gsub("/", "_", folder)
  printf "#include \"%s\"\n", $0 > (out "/" folder ".new")
}'
for file in "$out"/*.new; do
  [ -e "$file" ] || continue
  source=${file%.new}.cpp
  if cmp -s "$file" "$source"; then rm "$file"; else mv "$file" "$source"; fi  # make compares timestamps
  echo "$source"
done
