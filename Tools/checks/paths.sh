#!/usr/bin/env bash
# Checks that no committed file names a folder of somebody's machine. Usage: paths.sh [--self-test]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# An absolute path into a home, a scratch folder or a private toolchain; not a part of a longer relative path or a URL.
pattern='(^|[^A-Za-z0-9_.~/-])/(work|root|farm|tmp|home/[a-z]+|Users/[A-Za-z]+|opt/swift)(/|\b)'

if [[ ${1:-} == --self-test ]]; then
  for folder in work root farm tmp home/someone Users/Ann opt/swift; do
    for line in "cd /$folder/x" "\"/$folder/x\"" "OUT=/$folder/x" "(/$folder)"; do
      grep -qE "$pattern" <<<"$line" || { echo "self-test: not caught: $line"; exit 1; }
    done
  done
  for line in 'Tools/work/x' 'https://example.org/root/x' 'network/tmp' '$HOME/tmp/' './tmp/x' '/usr/include'; do
    ! grep -qE "$pattern" <<<"$line" || { echo "self-test: reported though it is fine: $line"; exit 1; }
  done
  exit 0
fi

# Data files hold text of other people, and this script has to spell what it looks for.
if git grep -InE "$pattern" -- . ':!*.json' ':!*.jsonl' ':!Tools/checks/paths.sh' ':!LICENSE'; then
  echo "machine paths in committed files: use a path relative to the repository, or an option"
  exit 1
fi
echo "no machine paths"
