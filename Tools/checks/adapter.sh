#!/usr/bin/env bash
# Type-checks PagodaTransformers, which needs swift-transformers, against stubs of the parts it uses.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
swiftc -swift-version 6 -emit-module -module-name Tokenizers -parse-as-library \
  -emit-module-path "$out/Tokenizers.swiftmodule" Tools/checks/stubs/Tokenizers.swift
swiftc -swift-version 6 -emit-module -module-name Hub -parse-as-library -emit-module-path "$out/Hub.swiftmodule" \
  Tools/checks/stubs/Hub.swift
kit=Sources/PagodaKit
swiftc -swift-version 6 -emit-module -package-name pagoda -module-name PagodaKit -parse-as-library \
  -emit-module-path "$out/PagodaKit.swiftmodule" \
  "$kit"/Text/{TextTokenizer,ChatTokenizer}.swift "$kit"/Model/ModelSource.swift "$kit"/Values/{PagodaError,JSONValue,JSONValue+Parse}.swift "$kit"/Chat/{Message,Tool}.swift \
  "$kit"/Structured/{FillingDecoder,JSONSchema,JSONSchema+Derived,KnownForms}.swift
# Using the type fails if the trait's condition left the file empty.
echo 'import PagodaKit
func use(_ tokenizer: HubTokenizer) -> any ChatTokenizer { tokenizer }
let source = ModelSource.transformersHub("org/model")' >"$out/use.swift"
check() {
  swiftc -swift-version 6 -typecheck -D Transformers -package-name pagoda -module-name PagodaTransformers -I "$out" \
    "$1"/*.swift "$out/use.swift"
}
check Sources/PagodaTransformers
# planted FILE FROM TO: the check must fail.
planted() {
  rm -rf "$out/planted"
  cp -R Sources/PagodaTransformers "$out/planted"
  sed "s/$2/$3/" "Sources/PagodaTransformers/$1" >"$out/planted/$1"
  if cmp -s "Sources/PagodaTransformers/$1" "$out/planted/$1" || check "$out/planted" 2>/dev/null; then
    echo "swift-transformers adapter: $3 in $1 was not caught" >&2
    exit 1
  fi
}
planted HubTokenizer.swift convertTokenToId convertTokenToIdentifier
planted ModelSource+Transformers.swift 'revision: revision' 'commit: revision'
echo "swift-transformers adapter: types are right"
