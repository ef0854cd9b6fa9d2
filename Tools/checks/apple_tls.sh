#!/usr/bin/env bash
# Type-checks HTTPS for Apple's systems (Sources/CTLS/apple.c and its caller) against the stubs in Tests/Stubs/apple, where a wrong
# name must be refused, and runs it over a stub of Secure Transport.
# Usage: apple_tls.sh BIN, the folder of the package's built modules (swift build --show-bin-path).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c11 -Wall -Wextra -Werror -DPAGODA_APPLE_TYPES -isystem Tests/Stubs/apple -ISources/CTLS/include -ISources/CTLS)

sed s/SSLSetIOFuncs/SSLSetIOFunctions/ Sources/CTLS/apple.c >"$work/planted.c"
if clang "${flags[@]}" -fsyntax-only "$work/planted.c" 2>/dev/null; then echo "a wrong name is not caught"; exit 1; fi

clang -fuse-ld=lld "${flags[@]}" -g -fsanitize=address,undefined Sources/CTLS/apple.c Tests/Stubs/apple/Security/secure_transport.c Tools/checks/apple_tls.c \
  -o "$work/run"
"$work/run"

# The names of package declarations contain the package's name, which is that of its folder.
package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]')
typecheck() {
  swiftc -typecheck -module-name PagodaTLS -package-name "$package" -swift-version 6 -suppress-warnings -D PAGODA_APPLE_TYPES -I "$bin/Modules" \
    -I Sources/CEpoll -Xcc -DPAGODA_APPLE_TYPES -Xcc "-fmodule-map-file=$bin/ServerPage.build/module.modulemap" \
    -Xcc "-fmodule-map-file=$bin/CDigest.build/module.modulemap" -Xcc "-fmodule-map-file=$bin/CTLS.build/module.modulemap" "$@"
}
typecheck Sources/PagodaTLS/*.swift
sed s/num_bytes:/num_byte:/ Sources/PagodaTLS/Certificates.swift >"$work/Certificates.swift"
if typecheck "$work/Certificates.swift" Sources/PagodaTLS/{PEM,CertificateFiles}.swift >"$work/log" 2>&1; then
  echo "a wrong label is not caught"
  exit 1
fi
grep -q num_byte "$work/log"
echo "HTTPS for Apple's systems type-checks and runs over a stub"
