#!/usr/bin/env bash
# Builds Pagoda.app on macOS and signs it. Usage: make-app.sh [OUTPUT_FOLDER]; SIGN_IDENTITY names a certificate,
# default: ad hoc. The sandbox requires a team's certificate, so an ad hoc signature omits the entitlements.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
[[ $(uname -s) == Darwin ]] || { echo "make-app: an app bundle can be built on macOS only" >&2; exit 1; }

out=${1:-.build/app}
app=$out/Pagoda.app
source=Apps/PagodaChat
swift build -c release --product PagodaChat
rm -rf "$app"
mkdir -p "$app/Contents/MacOS" "$app/Contents/Resources"
cp "$(swift build -c release --show-bin-path)/PagodaChat" "$app/Contents/MacOS/PagodaChat"
cp "$source/Info.plist" "$app/Contents/Info.plist"

# Checks that the program links only libraries that a fresh Mac has.
Tools/checks/load_commands.py "$app/Contents/MacOS/PagodaChat"

# The icon in all sizes that macOS requires.
iconset=$(mktemp -d)/Pagoda.iconset
mkdir -p "$iconset"
for size in 16 32 128 256 512; do
  cp "$source/Assets.xcassets/AppIcon.appiconset/icon-$size.png" "$iconset/icon_${size}x${size}.png"
  cp "$source/Assets.xcassets/AppIcon.appiconset/icon-$((2 * size)).png" "$iconset/icon_${size}x${size}@2x.png"
done
iconutil -c icns "$iconset" -o "$app/Contents/Resources/Pagoda.icns"

# The languages of the interface.
xcrun xcstringstool compile "$source/Localizable.xcstrings" --output-directory "$app/Contents/Resources"

identity=${SIGN_IDENTITY:--}
entitlements=()
[[ $identity == - ]] || entitlements=(--options runtime --entitlements "$source/Pagoda.entitlements")
codesign --force --sign "$identity" ${entitlements[@]+"${entitlements[@]}"} "$app"
codesign --verify --strict "$app"
# Only Xcode's build extracts the descriptions of App Intents that Shortcuts and Siri read.
echo "make-app: without Shortcuts and Siri; for these, build the project that xcodegen makes from $source/project.yml" >&2
echo "$app"
