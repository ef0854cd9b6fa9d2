#!/bin/sh
# Links a small program with each product of the package, from the objects of a debug build (whose C++ core is optimised), without
# unreferenced sections, and prints its size after strip: the figures of docs/embedding.md. A release build is smaller, because its
# Swift is optimised too. Usage: product_sizes.sh BIN (swift build --show-bin-path)
set -eu
cd "$(dirname "$0")/../.."
bin=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kit="CxxCore PagodaFoundation PagodaKit"

# measure NAME TARGETS <source: links the program on the input with the objects of these targets.
measure() {
  cat >"$work/main.swift"
  for target in $2; do grep -F "/$target.build/" "$bin/pagoda.product/Objects.LinkFileList"; done >"$work/objects"
  swiftc -O -swift-version 6 -I "$bin/Modules" -I Sources/CEpoll "$work/main.swift" "@$work/objects" -o "$work/program" \
    -Xcc "-fmodule-map-file=$bin/CDigest.build/module.modulemap" -Xcc "-fmodule-map-file=$bin/ServerPage.build/module.modulemap" \
    -Xlinker --gc-sections -lstdc++
  strip "$work/program"
  files=$(grep -c '\.cpp\.o' "$work/objects")
  wc -c <"$work/program" | awk -v name="$1" -v files="$files" '{ printf "%s: %.1f MB, %d C++ files\n", name, $1 / 1e6, files }'
}

chat='let session = ChatSession(try await Engine.load(source)); print(try await session.respond(to: "Hello"))'
folder='import PagodaKit
let source = ModelSource.folder(path: CommandLine.arguments[1])'
printf '%s\n' "$folder" "$chat" | measure PagodaKit "$kit"
printf '%s\n' "$folder" "$chat" | measure "PagodaKit, PagodaCUDA" "$kit CxxGPU CUDADevice"
printf '%s\n' "$folder" "$chat" | measure "PagodaKit, PagodaSoftwareDevice" "$kit CxxGPU SoftwareDevice"
printf '%s\n' "import PagodaKit" "import PagodaMini" "let source = ModelSource.mini" "$chat" |
  measure "PagodaKit, PagodaMini" "$kit MiniModel PagodaMini"
printf '%s\n' "import PagodaHub" "import PagodaKit" 'let source = ModelSource.hub("Qwen/Qwen3.5-0.8B")' "$chat" |
  measure "PagodaKit, PagodaHub" "$kit CDigest PagodaHub"
printf '%s\n' "import PagodaServer" "$folder" 'let server = try Server.start(try await Engine.load(source)); print(server.url)' |
  measure "PagodaKit, PagodaServer" "$kit CDigest ServerPage PagodaServer"
