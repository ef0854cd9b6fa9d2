#!/usr/bin/env bash
# Type-checks the adapter of swift-transformers, which Linux does not build, against a stub of what it uses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
swiftc -swift-version 6 -emit-module -module-name Tokenizers -parse-as-library \
  -emit-module-path "$out/Tokenizers.swiftmodule" Tools/checks/stubs/Tokenizers.swift
# The use of the type fails when the file did not see the stub and so has nothing in it.
echo 'func use(_ tokenizer: HubTokenizer) -> any TextTokenizer { tokenizer }' >"$out/use.swift"
kit=Sources/PagodaKit
swiftc -swift-version 6 -typecheck -package-name pagoda -module-name PagodaKit -I "$out" \
  "$kit"/{HubTokenizer,TextTokenizer,PagodaError,Message,JSONValue}.swift "$out/use.swift"
echo "swift-transformers adapter: types are right"
