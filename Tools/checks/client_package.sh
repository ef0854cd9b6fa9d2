#!/bin/sh
# Builds and runs Apps/Examples and Tests/Client, which uses every public entry point, in a package without C++ interop, as a
# client that depends on a version of this package, with no
# network and nothing cached: it must resolve, fetch nothing else, build and chat. With the trait Transformers on, SwiftPM must
# request swift-transformers, which is not available here. A program that does not request the embedded model, CUDA and the
# software device must not contain them. Release only: with BIN (swift build --show-bin-path), the sources are also
# type-checked against the modules of that debug build, in seconds instead of the minutes of a second build of the core.
# Tests the tracked files in their current state, committed or not. Usage: client_package.sh [BIN]
set -eu
cd "$(dirname "$0")/../.."
unset CC  # CI's precompiling compiler: nothing is precompiled here, so that missing includes are found
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ $# -gt 0 ]; then
  for program in Ask Tour Lean; do
    swiftc -typecheck -swift-version 6 -parse-as-library -I "$1/Modules" Apps/Examples/Sources/$program/*.swift
  done
  swiftc -typecheck -warnings-as-errors -swift-version 6 -parse-as-library -I "$1/Modules" -I Sources/CEpoll \
    -Xcc "-fmodule-map-file=$1/CDigest.build/module.modulemap" \
    -Xcc "-fmodule-map-file=$1/ServerPage.build/module.modulemap" Tests/Client/*.swift Tests/Client/Serving/*.swift
  echo "examples and entry points, debug: type-check"
fi

# A repository whose only commit is the version 0.1.0. `stash create` locks the index, so it gets a copy: another check may be
# using git at the same time.
as_check() { git -c user.name=check -c user.email=check@localhost "$@"; }
cp "$(git rev-parse --git-path index)" "$work/index"
state=$(GIT_INDEX_FILE=$work/index as_check stash create)
git init -q "$work/pagoda"
git archive "${state:-HEAD}" | tar -x -C "$work/pagoda"
git -C "$work/pagoda" add -A
(cd "$work/pagoda" && as_check commit -q -m "0.1.0" && git tag 0.1.0)

# Git may only read local repositories, and the network is cut off for all processes where the system allows it.
export GIT_ALLOW_PROTOCOL=file
offline=
if unshare -rn true 2>/dev/null; then offline="unshare -rn"; fi

# client NAME [TRAITS]: copies the examples and makes them depend on a version of pagoda instead of its folder.
client() {
  mkdir "$work/$1"
  cp -R Apps/Examples/Sources "$work/$1"
  sed "s|name: \"pagoda\", path: \"../..\"|url: \"file://$work/pagoda\", from: \"0.1.0\"${2:-}|; s|tools-version: 6.0|tools-version: 6.1|" \
    Apps/Examples/Package.swift >"$work/$1/Package.swift"
  cp -R Tests/Client "$work/$1/Sources/EntryPoints"
  rm -r "$work/$1/Sources/EntryPoints/Serving"  # a release build of the server would take a minute
  cat >>"$work/$1/Package.swift" <<'EOF'
let more = ["PagodaHub", "PagodaTesting"].map { Target.Dependency.product(name: $0, package: "pagoda") }
package.targets.append(.executableTarget(name: "EntryPoints", dependencies: [kit, mini] + more))
EOF
  grep -q 'from: "0.1.0"' "$work/$1/Package.swift" || { echo "the examples name pagoda in another way: correct this check" >&2; exit 1; }
}
in_client() { (cd "$work/$1" && shift && $offline "$@"); }
packages="--cache-path $work/cache --config-path $work/config --security-path $work/security"

client traits ', traits: ["Transformers"]'
if answer=$(in_client traits swift package $packages resolve 2>&1); then
  echo "the trait Transformers fetches nothing" >&2
  exit 1
fi
case "$answer" in
  *error*swift-transformers*) ;;
  *) printf 'the trait Transformers does not ask for swift-transformers:\n%s\n' "$answer" >&2; exit 1 ;;
esac
rm -rf "$work/cache"

client plain
in_client plain swift package $packages resolve
fetched=$(ls "$work/plain/.build/checkouts")
if [ "$fetched" != pagoda ]; then
  echo "a client without traits fetches: $fetched" >&2
  exit 1
fi
grep -q '"version" : "0.1.0"' "$work/plain/Package.resolved" || { echo "the client was not resolved by version" >&2; exit 1; }
in_client plain swift build $packages -c release -Xcxx -g0 --quiet
bin=$(in_client plain swift build $packages -c release --show-bin-path)
echo "versioned client: resolves and builds offline and fetches nothing else; with the trait it asks for swift-transformers"

# expect PROGRAM PATTERN ANSWER
expect() {
  case "$3" in
    $2) echo "versioned client: $1 works" ;;
    *) printf '%s, unexpected answer:\n%s\n' "$1" "$3" >&2; exit 1 ;;
  esac
}
model=$work/pagoda/Sources/MiniModel/files
expect Tour '*Paris*complete*42*' "$(in_client plain "$bin/Tour")"
expect Ask '*Tokyo*stop*tokens*' "$(in_client plain "$bin/Ask" "What is the capital of Japan?")"
expect EntryPoints '*Paris.*Sunny.*' "$(in_client plain "$bin/EntryPoints")"
expect Lean '*Paris*' "$(in_client plain "$bin/Lean" "$model" "What is the capital of France?")"
expect "Lean without CUDA" '*built without*PagodaCUDA*' "$("$bin/Lean" "$model" "Hello" cuda)"
expect "Lean without the software device" '*built without*PagodaSoftwareDevice*' "$("$bin/Lean" "$model" "Hello" software)"

# Symbols of components that a program must not contain; the pattern must match in a program that does contain them.
left='pagoda_mini_file|SoftwareBackend|CudaBackend|cuda_headers|matmul_tiles_source|paged_attention_kernels'
symbols() { nm -C "$1" | grep -E "$left" || true; }
if [ -n "$(symbols "$bin/Lean")" ]; then
  echo "Lean has what it does not ask for:" >&2
  symbols "$bin/Lean" | head -n 20 >&2
  exit 1
fi
if [ $# -gt 0 ]; then
  for word in $(echo "$left" | tr '|' ' '); do
    symbols "$1/pagoda" | grep -q "$word" || { echo "nothing is called $word any more: correct this check" >&2; exit 1; }
  done
fi
size() { wc -c <"$1" | tr -d ' '; }
if [ -z "$(symbols "$bin/Ask")" ] || [ "$(($(size "$bin/Ask") - $(size "$bin/Lean")))" -lt 20000000 ]; then
  echo "the check of symbols and sizes does not see the embedded model in Ask" >&2
  exit 1
fi
for program in Lean Ask; do
  strip -o "$work/stripped" "$bin/$program"
  echo "versioned client: $program has $(size "$bin/$program") bytes, $(size "$work/stripped") stripped"
done
