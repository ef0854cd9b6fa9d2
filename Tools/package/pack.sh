#!/usr/bin/env bash
# Packs a built program for people without Swift: a tarball, a .deb, a Homebrew formula and a container file.
# Usage: Tools/package/pack.sh PROGRAM OUT [--url URL] [--fast]
#   PROGRAM  a `pagoda` for this machine. If it is linked to Swift's libraries, they are packed beside it.
#   OUT      the folder for the files. A source tarball pagoda-VERSION.tar.gz in it gets a place in the formula.
#   --url    where people will download the files from, for the formula; by default OUT itself
#   --fast   compresses less, for tests
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() { sed -n 's/^# Usage: /usage: /p' "$here/pack.sh" >&2; exit 64; }
fail() { echo "pack: $*" >&2; exit 1; }

program='' out='' url='' level=9
while (($#)); do
  case $1 in
    --url) [[ $# -gt 1 ]] || usage; url=$2; shift ;;
    --fast) level=1 ;;
    -*) usage ;;
    *) if [[ -z $program ]]; then program=$1; elif [[ -z $out ]]; then out=$1; else usage; fi ;;
  esac
  shift
done
[[ -n $program && -n $out ]] || usage
version=$("$program" --version)
version=${version#pagoda }
case $(uname -s) in
  Darwin) system=macos ;;
  Linux) system=linux ;;
  *) fail "only for Linux and macOS" ;;
esac
machine=$(uname -m)
name=pagoda-$version-$system-$machine
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/$name

# bundled PROGRAM: the libraries that it loads from outside the system's folders, that is, Swift's; and those for image files, whose
# names differ between distributions (libjpeg.so.62 of Debian is libjpeg.so.8 of Ubuntu).
bundled() {
  if [[ $system == macos ]]; then return; fi  # Swift's libraries are part of the system
  ldd "$1" | sed -n 's/^.* => \(\/.*\) (0x.*$/\1/p' | awk '!/^\/(usr\/)?lib(32|64)?\// || /\/lib(jpeg|png16|webp)\.so/'
}

# Programs and libraries. $ORIGIN, where SwiftPM's programs look for libraries, is the folder of the file that a link points to.
put_program() {
  local library
  mkdir -p "$tree/bin"
  if [[ -z $(bundled "$program") ]]; then
    install -m 755 "$program" "$tree/bin/pagoda"
    strip "$tree/bin/pagoda"
    return
  fi
  mkdir -p "$tree/lib/pagoda"
  install -m 755 "$program" "$tree/lib/pagoda/pagoda"
  for library in $(bundled "$program"); do install -m 644 "$library" "$tree/lib/pagoda/"; done
  strip "$tree"/lib/pagoda/*
  ln -s ../lib/pagoda/pagoda "$tree/bin/pagoda"
  readelf -d "$tree/lib/pagoda/pagoda" | grep -qE 'R(UN)?PATH.*\$ORIGIN' || fail "$program does not look for libraries beside itself"
}

put_texts() {
  local root=$here/../.. share=$tree/share
  mkdir -p "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d" "$share/doc/pagoda"
  "$program" completions bash >"$share/bash-completion/completions/pagoda"
  "$program" completions zsh >"$share/zsh/site-functions/_pagoda"
  "$program" completions fish >"$share/fish/vendor_completions.d/pagoda.fish"
  "$program" man "$share/man/man1" >/dev/null
  cp "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE" "$share/doc/pagoda/"
  cat >"$share/doc/pagoda/copyright" <<'TEXT'
Pagoda: Apache License 2.0, in the file LICENSE.
The program contains, or comes with, parts of the Swift project: Apache License 2.0 with the Runtime Library Exception
(https://swift.org/LICENSE.txt), and ICU: Unicode License v3 (https://www.unicode.org/license.txt).
It may come with libpng (libpng License version 2), libjpeg-turbo (IJG License and BSD 3-Clause; this software is based in part on the work
of the Independent JPEG Group) and libwebp (BSD 3-Clause, Copyright 2010 Google Inc.).
TEXT
}

# The same input gives the same bytes: sorted, without times and owners of this machine.
put_tarball() {
  if [[ $system == macos ]]; then
    tar -cf - -C "$work" "$name" | gzip "-$level" -n >"$out/$name.tar.gz"
  else
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - -C "$work" "$name" | gzip "-$level" -n >"$out/$name.tar.gz"  # Linux only
  fi
}

# needed FILES...: the names of the libraries that must be there before these can start.
needed() { for file in "$@"; do readelf -d "$file" | sed -n 's/^.*(NEEDED).*\[\(.*\)\]$/\1/p'; done | sort -u; }

# depends: the packages that contain the needed libraries, at least in this machine's version where it decides about symbols.
depends() {
  local soname path package
  local files=("$tree"/bin/pagoda)
  if [[ -d $tree/lib/pagoda ]]; then files=("$tree"/lib/pagoda/*); fi
  for soname in $(needed "${files[@]}"); do
    if [[ -e $tree/lib/pagoda/$soname ]]; then continue; fi
    path=$(ldd "$program" | sed -n "s|^.*$soname\( =>\)\{0,1\} *\(/[^ ]*\) (0x.*$|\2|p; s|^[[:space:]]*\(/[^ ]*$soname\) (0x.*$|\1|p" | head -n 1)
    [[ -n $path ]] || fail "$soname is not on this machine"
    package=$({ dpkg -S "$path" || dpkg -S "/usr$path"; } 2>/dev/null | head -n 1 | cut -d : -f 1)
    [[ -n $package ]] || fail "no package contains $path"
    echo "$package"
  done | sort -u | while read -r package; do
    case $package in
      libc6 | libstdc++6) echo "$package (>= $(dpkg-query -W -f '${Version}' "$package" | sed 's/-.*$//; s/+.*$//'))" ;;
      *) echo "${package%t64}" ;;  # the packages of Debian 13 with that ending provide the name of Debian 12's
    esac
  done | paste -s -d , - | sed 's/,/, /g'
}

put_deb() {
  local deb=$work/deb architecture relations
  if ! command -v dpkg-deb >/dev/null; then echo "pack: no .deb: dpkg-deb is not installed"; return; fi
  architecture=$(dpkg --print-architecture)
  relations=$(depends)
  mkdir -p "$deb/usr" "$deb/DEBIAN"
  cp -R "$tree"/. "$deb/usr/"
  cat >"$deb/DEBIAN/control" <<TEXT
Package: pagoda
Version: $version
Architecture: $architecture
Maintainer: The Pagoda project <pagoda@localhost>
Section: science
Priority: optional
Installed-Size: $(du -sk "$deb/usr" | cut -f 1)
Depends: $relations
Recommends: ca-certificates
Description: runs language models on your own computer
 A chat in the terminal, a server for programs that speak OpenAI's, Anthropic's or Ollama's API, and a chat page. It comes with a
 small demo model; others are downloaded on request.
TEXT
  find "$deb" -type d -exec chmod 755 {} +
  if ((level == 1)); then set -- -Zgzip -z1; else set -- -Zxz; fi
  SOURCE_DATE_EPOCH=0 dpkg-deb "$@" --root-owner-group --build "$deb" "$out/pagoda_${version}_$architecture.deb" >/dev/null
  local image  # with its digest, which a release has
  image=$(sed -n 's/^DEBIAN_IMAGE=//p' "$here/../../Deploy/container/images.txt")
  sed -e "s/@DEB@/pagoda_${version}_$architecture.deb/g" -e "s|@DEBIAN_IMAGE@|$image|" "$here/Containerfile.in" >"$out/Containerfile"
}

checksum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }

# Macs build from source: a program from a download would be quarantined. Without a source tarball the formula is for Linux only.
put_formula() {
  local source=$out/pagoda-$version.tar.gz hash='' cpu=intel without=
  if [[ -e $source ]]; then hash=$(checksum "$source"); else without='/^  on_macos do/,/^  end/d'; fi
  if [[ $machine == aarch64 || $machine == arm64 ]]; then cpu=arm; fi
  sed -e "s|@URL@|${url:-file://$out}|g; s|@VERSION@|$version|g; s|@MACHINE@|$machine|g; s|@CPU@|$cpu|g" \
    -e "$without" -e "s|@SOURCE_SHA256@|$hash|; s|@LINUX_SHA256@|$(checksum "$out/$name.tar.gz")|" "$here/pagoda.rb.in" >"$out/pagoda.rb"
}

put_program
put_texts
put_tarball
if [[ $system == linux ]]; then
  put_deb
  put_formula
fi
(cd "$out" && for file in *.tar.gz *.deb; do if [[ -e $file ]]; then echo "$(checksum "$file")  $file"; fi; done >SHA256SUMS)
(cd "$out" && ls -l ./*.tar.gz ./*.deb 2>/dev/null | awk '{ printf "%s: %.1f MB\n", $NF, $5 / 1e6 }')
