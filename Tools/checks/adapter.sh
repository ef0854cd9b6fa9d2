#!/usr/bin/env bash
# Compiles PagodaTransformers, which needs swift-transformers, with stubs of the parts it uses, and runs it on them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# module NAME FLAGS_AND_FILES...: a static library and its module.
module() {
  swiftc -swift-version 6 -parse-as-library -package-name pagoda -module-name "$1" -I "$out" -emit-library -static -emit-module \
    -emit-module-path "$out/$1.swiftmodule" -o "$out/lib$1.a" "${@:2}"
}
module Tokenizers Tools/checks/stubs/Tokenizers.swift
module Hub Tools/checks/stubs/Hub.swift
module PagodaFoundation -enable-library-evolution -suppress-warnings Sources/PagodaFoundation/*.swift
kit=Sources/PagodaKit
module PagodaKit -enable-testing \
  "$kit"/Text/{TextTokenizer,ChatTokenizer}.swift "$kit"/Model/ModelSource.swift \
  "$kit"/Values/{PagodaError,JSONValue,JSONValue+Parse}.swift "$kit"/Chat/{Message,Tool}.swift "$kit"/Images/ImageInput.swift Tools/checks/stubs/ImageFiles.swift \
  "$kit"/Structured/{FillingDecoder,Guided,IncompleteOutput,JSONSchema,JSONSchema+Derived,KnownForms,ValueForms}.swift
adapter() { module PagodaTransformers -D Transformers "$1"/*.swift; }
adapter Sources/PagodaTransformers
swiftc -swift-version 6 -parse-as-library -package-name pagoda -I "$out" -L "$out" Tools/checks/stubs/adapter_test.swift -o "$out/test" \
  -lPagodaTransformers -lPagodaKit -lPagodaFoundation -lTokenizers -lHub
mkdir -p "$out/snapshots"/{whole,sharded,empty}
touch "$out/snapshots"/{whole/config.json,whole/model.safetensors,sharded/config.json,sharded/model-00001-of-00002.safetensors}
echo '{"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}}' \
  >"$out/snapshots/sharded/model.safetensors.index.json"
STUB_SNAPSHOTS=$out/snapshots "$out/test"
# planted FILE FROM TO: the compiler must refuse it.
planted() {
  rm -rf "$out/planted"
  cp -R Sources/PagodaTransformers "$out/planted"
  sed "s/$2/$3/" "Sources/PagodaTransformers/$1" >"$out/planted/$1"
  if cmp -s "Sources/PagodaTransformers/$1" "$out/planted/$1" || adapter "$out/planted" 2>/dev/null; then
    echo "swift-transformers adapter: $3 in $1 was not caught" >&2
    exit 1
  fi
}
planted HubTokenizer.swift convertTokenToId convertTokenToIdentifier
planted HubSnapshot.swift 'revision: revision' 'commit: revision'
echo "swift-transformers adapter: types are right"
