#!/usr/bin/env bash
# Makes a release: checks the tree, packs a source tarball, builds and tries it, packs the program, then tags the commit.
# Usage: Tools/release.sh VERSION [--dry-run] [--debug] [--out FOLDER] [--url URL]
#   --dry-run  does everything except tagging, and accepts any branch
#   --debug    builds the tarball in the debug configuration, which is faster (only with --dry-run)
#   --out      folder for the files, by default .build/release-VERSION
#   --url      where people will download them from, for the Homebrew formula; by default that folder
# The files: the source tarball; the program as a tarball, a .deb, a Homebrew formula and a container file (Tools/package); SHA256SUMS.
# Run Tools/test.sh first: this script only checks that the tarballs are complete, that the source builds, and that the program
# answers on a machine without Swift.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() { sed -n 's/^# Usage: /usage: /p' Tools/release.sh >&2; exit 64; }
fail() { echo "release: $*" >&2; exit 1; }

version='' dry_run=false configuration=release out='' url=''
while (($#)); do
  case $1 in
    --dry-run) dry_run=true ;;
    --debug) configuration=debug ;;
    --out) [[ $# -gt 1 ]] || usage; out=$2; shift ;;
    --url) [[ $# -gt 1 ]] || usage; url=$2; shift ;;
    -*) usage ;;
    *) [[ -z $version ]] || usage; version=$1 ;;
  esac
  shift
done
[[ -n $version ]] || usage
[[ $configuration == release ]] || $dry_run || usage
[[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] || fail "a version looks like 1.2.3, not $version"
out=${out:-.build/release-$version}
name=pagoda-$version
tag=v$version

check_tree() {
  [[ -z $(git status --porcelain) ]] || fail "there are uncommitted or untracked files"
  if ! $dry_run && [[ $(git rev-parse --abbrev-ref HEAD) != main ]]; then fail "releases are made from main"; fi
  if git rev-parse -q --verify "refs/tags/$tag" >/dev/null; then fail "the tag $tag exists already"; fi
  grep -q "static let current = \"$version\"" Sources/PagodaKit/Engine/PagodaVersion.swift ||
    fail "Sources/PagodaKit/Engine/PagodaVersion.swift has another version"
  # Images that are built from a release must be the same tomorrow.
  $dry_run || Tools/checks/images.py --release || fail "base images have no digests"
  grep -qE "^## \[?${version//./\\.}\]?( |$)" CHANGELOG.md || fail "CHANGELOG.md has no section $version"
}

# Same commit, same bytes: git archive sets all times to the commit's, gzip -n omits its own.
pack() {
  mkdir -p "$out"
  git archive --format=tar --prefix="$name/" HEAD | gzip -9 -n >"$out/$name.tar.gz"
}

# The tarball contains exactly the committed files, with their contents.
check_contents() {
  local folder=$1/$name
  diff <(git ls-tree -r --name-only HEAD | sort) <(cd "$folder" && find . -type f -o -type l | sed 's|^\./||' | sort) ||
    fail "the tarball does not contain the committed files"
  (cd "$folder" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 git hash-object --no-filters) >"$1/packed"
  (cd "$folder" && find . -type f -print0 | LC_ALL=C sort -z) | tr '\0' '\n' | sed 's|^\./|HEAD:|' |
    git cat-file --batch-check='%(objectname)' | diff - "$1/packed" || fail "files of the tarball differ from the committed ones"
}

# Swift's libraries inside the program, where the toolchain has them in that form; else pack.sh puts them beside it, and the
# program must not look for them in this machine's toolchain first.
link_options() {
  local resources
  resources=$(swiftc -print-target-info | sed -n 's/^ *"runtimeResourcePath": "\(.*\)",*$/\1/p')
  if [[ -d ${resources}_static ]]; then echo --static-swift-stdlib; else echo -Xswiftc -no-toolchain-stdlib-rpath; fi
}

# Builds the unpacked tarball, which has no .git, and asks the embedded model. Sets `pagoda`.
try() {
  local answer options=(-c "$configuration" -Xswiftc -gnone -Xcxx -g0)
  if [[ $(uname -s) == Linux ]]; then read -r -a link < <(link_options); options+=("${link[@]}"); fi
  (cd "$1/$name" && swift build "${options[@]}" --product pagoda >"$1/build.log" 2>&1) || { tail -n 30 "$1/build.log" >&2; fail "it does not build"; }
  pagoda=$(cd "$1/$name" && swift build "${options[@]}" --show-bin-path)/pagoda
  [[ $("$pagoda" --version) == "pagoda $version" ]] || fail "pagoda --version says $("$pagoda" --version)"
  answer=$("$pagoda" generate --temperature 0 --prompt "What is the capital of France?" </dev/null 2>/dev/null) || fail "pagoda generate failed"
  [[ $answer == *Paris* ]] || fail "unexpected answer: $answer"
}

# The program for people without Swift. Status 75: this machine does not let a test enter another root folder.
pack_program() {
  Tools/package/pack.sh "$pagoda" "$out" ${url:+--url "$url"}
  if ! command -v dpkg-deb >/dev/null; then echo "not tried without Swift: dpkg is not installed"; return; fi
  Tools/package/try.sh "$out" || (($? == 75)) || fail "the packed program does not work without Swift"
}

check_tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack
tar -xzf "$out/$name.tar.gz" -C "$work"
check_contents "$work"
try "$work"
pack_program
if $dry_run; then
  echo "dry run: $out has a release that builds and answers; not tagged"
else
  git tag -a "$tag" -m "Pagoda $version"
  echo "tagged $tag; publish it with: git push origin $tag, and upload the files in $out"
fi
