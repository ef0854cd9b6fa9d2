#!/usr/bin/env bash
# Makes a release: checks the tree, packs a source tarball, builds and tries it, then tags the commit.
# Usage: Tools/release.sh VERSION [--dry-run] [--debug] [--out FOLDER]
#   --dry-run  does everything except tagging, and accepts any branch
#   --debug    builds the tarball in the debug configuration, which is faster (only with --dry-run)
#   --out      folder for the tarball and its checksum, by default .build/release-VERSION
# Run Tools/test.sh first: this script only checks that the tarball is complete, builds and answers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() { sed -n 's/^# Usage: /usage: /p' Tools/release.sh >&2; exit 64; }
fail() { echo "release: $*" >&2; exit 1; }

version='' dry_run=false configuration=release out=''
while (($#)); do
  case $1 in
    --dry-run) dry_run=true ;;
    --debug) configuration=debug ;;
    --out) [[ $# -gt 1 ]] || usage; out=$2; shift ;;
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

# Builds the unpacked tarball, which has no .git, and asks the embedded model.
try() {
  local pagoda answer
  (cd "$1/$name" && swift build -c "$configuration" --product pagoda >"$1/build.log" 2>&1) || { tail -n 30 "$1/build.log" >&2; fail "it does not build"; }
  pagoda=$(cd "$1/$name" && swift build -c "$configuration" --show-bin-path)/pagoda
  [[ $("$pagoda" --version) == "pagoda $version" ]] || fail "pagoda --version says $("$pagoda" --version)"
  answer=$("$pagoda" generate --temperature 0 --prompt "What is the capital of France?" </dev/null 2>/dev/null) || fail "pagoda generate failed"
  [[ $answer == *Paris* ]] || fail "unexpected answer: $answer"
}

check_tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack
tar -xzf "$out/$name.tar.gz" -C "$work"
check_contents "$work"
try "$work"
(cd "$out" && if command -v sha256sum >/dev/null; then sha256sum "$name.tar.gz"; else shasum -a 256 "$name.tar.gz"; fi >"$name.tar.gz.sha256")
if $dry_run; then
  echo "dry run: $out/$name.tar.gz builds and answers; not tagged"
else
  git tag -a "$tag" -m "Pagoda $version"
  echo "tagged $tag; publish it with: git push origin $tag, and upload $out/$name.tar.gz with its .sha256"
fi
