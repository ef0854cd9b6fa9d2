#!/usr/bin/env bash
# Checks that no committed file contains an absolute path of a developer's machine: a home or temporary folder, or a folder
# of the machine that runs the check (its checkout, home, temporary folder and Swift toolchain). Usage: paths.sh [--self-test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# top_folder PATH: the part of PATH that identifies a machine: its first component, or the first two below folders that
# every machine has. Prints nothing for system folders and relative paths.
top_folder() {
  local first second
  IFS=/ read -r _ first second _ <<<"$1"
  case $1:$first in
    [!/]* | *:'' | *:usr | *:bin | *:lib | *:etc | *:Library | *:System | *:Applications) ;;
    *:opt | *:var | *:mnt | *:srv | *:home | *:Users | *:Volumes | *:private) if [[ -n $second ]]; then echo "$first/$second"; fi ;;
    *) echo "$first" ;;
  esac
}

# pattern PATH...: an absolute path into one of these machine folders; not a part of a relative path or a URL.
pattern() {
  local path folders='root|tmp|var/tmp|home/[a-z]+|Users/[A-Za-z]+'
  for path; do
    path=$(top_folder "$path" | sed 's/[][\.*^$+?(){}|]/\\&/g')
    if [[ -n $path ]]; then folders+="|$path"; fi
  done
  printf '%s' "(^|[^A-Za-z0-9_.~/-])/($folders)(/|\b)"
}

if [[ ${1:-} == --self-test ]]; then
  folders=(builds/group/project home/ann var/folders/x9/T opt/swift-6/usr/bin/swift usr/bin/swift)
  found=$(pattern "${folders[@]/#//}" "")
  for folder in root tmp var/tmp home/someone Users/Ann builds home/ann var/folders opt/swift-6; do
    for line in "cd /$folder/x" "\"/$folder/x\"" "OUT=/$folder/x" "(/$folder)"; do
      grep -qE "$found" <<<"$line" || { echo "self-test: not reported: $line"; exit 1; }
    done
  done
  for line in 'Tools/builds/x' 'https://example.org/root/x' 'network/tmp' '$HOME/tmp/' './tmp/x' '/usr/include' '/opt/other' \
    '/v1/models' 'GET /home' '/buildsx/y'; do
    ! grep -qE "$found" <<<"$line" || { echo "self-test: reported by mistake: $line"; exit 1; }
  done
  [[ -z $(top_folder /usr/local/bin)$(top_folder relative/path)$(top_folder /) ]] || { echo "self-test: a system folder"; exit 1; }
  exit 0
fi

swift=$(command -v swift || true)
if [[ -n $swift ]]; then swift=$(python3 -c 'import os, sys; print(os.path.realpath(sys.argv[1]))' "$swift"); fi
machine=$(pattern "$PWD" "${HOME:-}" "${TMPDIR:-}" "$swift")
# JSON data contains text from elsewhere.
if git grep -InE "$machine" -- . ':!*.json' ':!*.jsonl' ':!LICENSE'; then
  echo "paths of a machine in committed files: use a path relative to the repository, or an option"
  exit 1
fi
echo "no paths of a machine"
