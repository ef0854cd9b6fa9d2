#!/usr/bin/env bash
# Type-checks PagodaTransformers, which needs swift-transformers, against a stub of what it uses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
swiftc -swift-version 6 -emit-module -module-name Tokenizers -parse-as-library \
  -emit-module-path "$out/Tokenizers.swiftmodule" Tools/checks/stubs/Tokenizers.swift
kit=Sources/PagodaKit
swiftc -swift-version 6 -emit-module -package-name pagoda -module-name PagodaKit -parse-as-library \
  -emit-module-path "$out/PagodaKit.swiftmodule" \
  "$kit"/Text/TextTokenizer.swift "$kit"/Values/{PagodaError,JSONValue,JSONValue+Parse}.swift "$kit"/Chat/{Message,Tool}.swift \
  "$kit"/Structured/{FillingDecoder,JSONSchema,JSONSchema+Derived,KnownForms}.swift
# The use of the type fails if the trait's condition left the file empty.
echo 'import PagodaKit
func use(_ tokenizer: HubTokenizer) -> any TextTokenizer { tokenizer }' >"$out/use.swift"
check() {
  swiftc -swift-version 6 -typecheck -D Transformers -package-name pagoda -module-name PagodaTransformers -I "$out" \
    "$1" "$out/use.swift"
}
check Sources/PagodaTransformers/HubTokenizer.swift
sed 's/convertTokenToId/convertTokenToIdentifier/' Sources/PagodaTransformers/HubTokenizer.swift >"$out/HubTokenizer.swift"
if check "$out/HubTokenizer.swift" 2>/dev/null; then
  echo "swift-transformers adapter: a wrong name was not caught" >&2
  exit 1
fi
echo "swift-transformers adapter: types are right"
