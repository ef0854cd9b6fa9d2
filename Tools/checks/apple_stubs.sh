#!/usr/bin/env bash
# Type-checks the files that need SwiftUI, AppKit or Foundation Models on Linux, against the stubs in Tests/Stubs.
# Usage: apple_stubs.sh BIN, the folder of the package's built modules (swift build --show-bin-path).
# Then plants misspelt views, modifiers and calls and a wrong label, each of which must be reported.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-swift-version 6 -suppress-warnings -parse-as-library -I "$work" -I "$bin/Modules" -I Sources/CEpoll
  -Xcc "-fmodule-map-file=$bin/ServerPage.build/module.modulemap"
  -Xcc "-fmodule-map-file=$bin/CDigest.build/module.modulemap")

for name in AppKit SwiftUI FoundationModels XCTest; do
  swiftc -emit-module -o "$work/$name.swiftmodule" -module-name "$name" "${flags[@]}" -wmo "Tests/Stubs/$name"/*.swift
done

# Names of these files have no spaces.
app=($(find Apps/PagodaChat -name '*.swift' | sort))
example=($(find Apps/Examples/Sources/MiniChat -name '*.swift' | sort))
adapter=($(find Sources/PagodaFoundationModels -name '*.swift' | sort))
uitests=($(find Apps/PagodaChatUITests -name '*.swift' | sort))

check_app() { swiftc -typecheck -module-name PagodaChat "${flags[@]}" "$@"; }
check_example() { swiftc -typecheck -module-name MiniChat "${flags[@]}" "$@"; }
check_uitests() { swiftc -typecheck -module-name PagodaUITests "${flags[@]}" "$@"; }
check_adapter() { swiftc -typecheck -module-name PagodaFoundationModels -D PAGODA_STUBS "${flags[@]}" "$@"; }

check_app "${app[@]}"
check_example "${example[@]}"
check_adapter "${adapter[@]}"
check_uitests "${uitests[@]}"

# planted KIND FILE FROM TO MESSAGE: the check must fail, with the given text in its output.
planted() {
  local file files
  sed "s/$3/$4/" "$2" >"$work/planted.swift"
  if cmp -s "$2" "$work/planted.swift"; then echo "$2 has no '$3' to misspell"; return 1; fi
  files=("$work/planted.swift")
  for file in $(eval 'printf "%s\n" "${'"$1"'[@]}"'); do [[ $file == "$2" ]] || files+=("$file"); done
  if "check_$1" "${files[@]}" >"$work/log" 2>&1; then echo "not caught: $4 in $2"; return 1; fi
  grep -q "$5" "$work/log" || { echo "$4 in $2 was reported for another reason:"; cat "$work/log"; return 1; }
}
planted app Apps/PagodaChat/Views/ContentView.swift 'NavigationSplitView' 'NavigationSplitVeiw' NavigationSplitVeiw
planted app Apps/PagodaChat/Views/MessageView.swift 'textSelection' 'textSelektion' textSelektion
planted app Apps/PagodaChat/PagodaChatApp.swift 'ignoringOtherApps' 'ignoringOthers' ignoringOthers
planted adapter Sources/PagodaFoundationModels/PagodaLanguageModel.swift 'streamingInto channel' 'into channel' LanguageModelExecutor
planted uitests Apps/PagodaChatUITests/ChatUITests.swift 'waitForNonExistence' 'waitForAbsence' waitForAbsence
echo "${#app[@]} files of the app, ${#example[@]} of the example, ${#adapter[@]} of the adapter, ${#uitests[@]} of the UI tests type-check;"
echo "5 planted errors caught"
