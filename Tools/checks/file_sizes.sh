#!/usr/bin/env bash
# Reports source files of more than 400 lines, which may be due for a split. Never fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

git ls-files '*.cpp' '*.h' '*.swift' '*.metal' '*.py' '*.sh' | grep -vE 'ThirdParty|/generated/|_tables?\.(h|cpp)$' |
  while read -r file; do [[ -f $file ]] && echo "$(wc -l <"$file") $file"; done |
  sort -rn | awk '{ n++; lines += $1; if ($1 > 400) print "over 400 lines: " $0; }
    NR == 1 { longest = $0 }
    END { printf "%d source files, %d lines, longest: %s\n", n, lines, longest }'
