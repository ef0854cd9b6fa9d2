#!/usr/bin/env bash
# Uses the files that pack.sh made, in a root folder that has only the packages named by the .deb: no Swift, no shell.
# Usage: Tools/package/try.sh OUT. Linux with dpkg only; needs root or user namespaces, and says so if it has neither.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
deb=$(echo "$out"/pagoda_*.deb)
tarball=$(echo "$out"/pagoda-*-linux-*.tar.gz)
version=$(dpkg-deb -f "$deb" Version)

fail() { echo "FAIL $*" >&2; exit 1; }

# closure PACKAGES...: these packages and all that they depend on, as installed here; the first of alternatives that is.
closure() {
  local known=' ' package
  set -- "$@"
  while (($#)); do
    package=$1
    shift
    if [[ $known == *" $package "* ]]; then continue; fi
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -q '^installed$' || continue
    known+="$package "
    # shellcheck disable=SC2046
    set -- "$@" $(dpkg-query -W -f '${Pre-Depends},${Depends}\n' "$package" | head -n 1 | tr ',|' '\n\n' | sed 's/(.*)//; s/:any//; s/ //g')
  done
  echo "$known"
}

# The files of these packages, without texts. Debian's /lib is a link to /usr/lib.
make_root() {
  local folder
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,tmp,home,opt}
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
  # shellcheck disable=SC2046
  dpkg-query -L $(closure $(dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/(.*)//; s/ //g')) | grep '^/' | grep -vE '^/usr/share/(doc|man|locale|lintian)' |
    sort -u | while read -r path; do if [[ -f $path || -L $path ]]; then echo "$path"; fi; done |
    tar -cf - --no-recursion -T - 2>/dev/null | tar -xf - --keep-directory-symlink -C "$root"  # Linux only
  : >"$root/dev/null"
  : >"$root/dev/urandom"
}

# inside COMMAND...: runs in the root folder, in a mount namespace and with an environment of its own.
inside() { "${enter[@]}" "$here/enter.sh" "$root" "$@"; }
find_entrance() {
  local why
  enter=(unshare -m)
  if ((EUID != 0)); then enter=(unshare -rm); fi
  if ! why=$("${enter[@]}" mount --rbind /proc "$root/proc" 2>&1); then
    echo "not run: a mount namespace needs root or user namespaces here: $why"
    exit 75
  fi
}

# expect PATTERN COMMAND...
expect() {
  local pattern=$1 answer
  shift
  answer=$(inside "$@" 2>&1 </dev/null) || true
  # shellcheck disable=SC2053
  [[ $answer == $pattern ]] || fail "$*: unexpected answer: $answer"
}

use() {
  expect "pagoda $version" "$1" --version
  expect "*Paris*" "$1" ask "What is the capital of France?"
  expect '*"text"*42*' "$1" ask --json "What is 12 plus 30?"
  expect "*Memory plan*" "$1" info
  expect "*127.0.0.1*" "$1" pull a/b --retries 1  # the library for downloads
}

make_root
if find "$root" -iname '*swift*' | grep -q .; then fail "the packages that pagoda needs contain Swift"; fi
dpkg-deb -x "$deb" "$root"
find_entrance
use /usr/bin/pagoda

# The tarball, in any folder and through a link.
rm -rf "$root"/usr/bin/pagoda "$root"/usr/lib/pagoda
mkdir "$root/opt/any folder"
tar -xzf "$tarball" -C "$root/opt/any folder"
ln -s "../../opt/any folder/$(basename "$tarball" .tar.gz)/bin/pagoda" "$root/usr/bin/linked"
use "/opt/any folder/$(basename "$tarball" .tar.gz)/bin/pagoda"
use /usr/bin/linked
(cd "$out" && sha256sum --quiet -c SHA256SUMS)  # Linux only
if command -v ruby >/dev/null; then
  ruby "$here/try_formula.rb" "$out/pagoda.rb" "$work/brew"
else
  echo "not run: the formula (ruby is not installed)"
  [[ ${CI:-} != true ]] || exit 1
fi
size=$(wc -c <"$tarball")
((size < 60000000)) || fail "the tarball has $size bytes"
echo "the .deb and the tarball ($((size / 1000000)) MB) work without Swift, with: $(dpkg-deb -f "$deb" Depends)"
