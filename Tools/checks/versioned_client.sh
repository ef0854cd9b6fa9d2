#!/bin/sh
# Resolves a client package that depends on a version of this one, with no network and nothing cached: nothing else may be
# fetched. With the trait Transformers on, SwiftPM must ask for swift-transformers, which it cannot have here. Also plans a
# build, which refuses packages with flags that versions must not have; client_package.sh builds a client whole.
# Checks the committed state. Usage: versioned_client.sh
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git init -q "$work/pagoda"
git archive HEAD | tar -x -C "$work/pagoda"
git -C "$work/pagoda" add -A
git -C "$work/pagoda" -c user.name=check -c user.email=check@localhost commit -q -m "0.1.0"
git -C "$work/pagoda" tag 0.1.0

# client NAME TRAITS
client() {
  mkdir -p "$work/$1/Sources/Client"
  cat >"$work/$1/Package.swift" <<END
// swift-tools-version: 6.1
// A client of a version.
import PackageDescription

let package = Package(
  name: "client",
  platforms: [.macOS(.v14)],
  dependencies: [.package(url: "file://$work/pagoda", from: "0.1.0"$2)],
  targets: [.executableTarget(name: "Client", dependencies: [.product(name: "PagodaKit", package: "pagoda")])])
END
  echo 'import PagodaKit' >"$work/$1/Sources/Client/main.swift"
}

# Without a network where the system allows that.
offline=
if unshare -rn true 2>/dev/null; then offline="unshare -rn"; fi
swift_package() { (cd "$work/$1" && shift && $offline swift "$@" --cache-path "$work/cache" 2>&1); }

client plain ""
swift_package plain package resolve || { echo "a versioned client cannot be resolved" >&2; exit 1; }
checkouts=$(ls "$work/plain/.build/checkouts")
if [ "$checkouts" != pagoda ]; then
  echo "a client without traits fetches: $checkouts" >&2
  exit 1
fi
swift_package plain build --target CDigest || { echo "a versioned client cannot be built" >&2; exit 1; }

client traits ', traits: ["Transformers"]'
if answer=$(swift_package traits package resolve); then
  echo "the trait Transformers fetches nothing, or there is a network" >&2
  [ -z "$offline" ] || exit 1
else
  case "$answer" in
    *swift-transformers*) ;;
    *) printf 'the trait Transformers does not ask for swift-transformers:\n%s\n' "$answer" >&2; exit 1 ;;
  esac
fi
echo "versioned client: resolves offline, fetches nothing else; with the trait it asks for swift-transformers"
