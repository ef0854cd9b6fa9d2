#!/usr/bin/env bash
# Type-checks the code that needs SwiftUI, AppKit, UIKit, App Intents, Foundation Models or AnyLanguageModel, against the stubs in
# Tests/Stubs: the app as built for macOS and for iOS, where AppKit and the Mac's scenes do not exist.
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

# stub FOLDER NAME...: modules for one platform.
stub() {
  local folder=$1 name
  mkdir -p "$folder"
  for name in "${@:2}"; do
    swiftc -emit-module -o "$folder/$name.swiftmodule" -module-name "$name" "${flags[@]}" -I "$folder" -wmo \
      "Tests/Stubs/$name"/*.swift
  done
}
stub "$work" UniformTypeIdentifiers AVFoundation NaturalLanguage AppIntents FoundationModels XCTest AnyLanguageModel
stub "$work/macos" AppKit Carbon SwiftUI
stub "$work/ios" UIKit SwiftUI

# Names of these files have no spaces.
app=($(find Apps/PagodaChat -name '*.swift' | sort))
example=($(find Apps/Examples/Sources/MiniChat -name '*.swift' | sort))
adapter=($(find Sources/PagodaFoundationModels -name '*.swift' | sort))
uitests=($(find Apps/PagodaChatUITests -name '*.swift' | sort))
anymodel=($(find Apps/Examples/AnyLanguageModel/Sources -name '*.swift' | sort))

check_app() { swiftc -typecheck -module-name PagodaChat "${flags[@]}" -I "$work/macos" "$@"; }
check_phone() { swiftc -typecheck -module-name PagodaChat "${flags[@]}" -I "$work/ios" "$@"; }
check_example() { swiftc -typecheck -module-name MiniChat "${flags[@]}" -I "$work/macos" "$@"; }
check_anymodel() { swiftc -typecheck -module-name Adapter "${flags[@]}" "$@"; }
check_uitests() { swiftc -typecheck -module-name PagodaUITests "${flags[@]}" "$@"; }
check_adapter() { swiftc -typecheck -module-name PagodaFoundationModels -D PAGODA_STUBS "${flags[@]}" "$@"; }

phone=("${app[@]}")

check_app "${app[@]}"
check_phone "${phone[@]}"
check_anymodel "${anymodel[@]}"
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
planted app Apps/PagodaChat/Views/WelcomeView.swift 'welcome.choose(' 'welcome.chose(' chose
planted app Apps/PagodaChat/Views/ToolViews.swift 'always: true' 'forever: true' forever
planted app Apps/PagodaChat/Views/MessageView.swift 'textSelection' 'textSelektion' textSelektion
planted app Apps/PagodaChat/QuickPanel.swift 'UInt32(kVK_Space)' 'kVK_Space' UInt32
planted app Apps/PagodaChat/SystemSpeaker.swift 'didFinish' 'didEnd' AVSpeechSynthesizerDelegate
planted app Apps/PagodaChat/Views/FormulaView.swift 'scaleEffect' 'scaleEfect' scaleEfect
planted app Apps/PagodaChat/MacApp.swift 'ignoringOtherApps' 'ignoringOthers' ignoringOthers
planted app Apps/PagodaChat/AskIntent.swift 'dialog: Intent' 'dialogue: Intent' dialogue
planted app Apps/PagodaChat/AskIntent.swift 'question: String' 'question: Character' Character
planted app Apps/PagodaChat/AskIntent.swift 'ReturnsValue<String>' 'ReturnsValue<Int>' Int
planted app Apps/PagodaChat/AskIntent.swift 'AskPagodaIntent()' 'PagodaShortcuts()' AppIntent
planted phone Apps/PagodaChat/MacApp.swift '#if canImport(AppKit)' '#if true' AppKit
planted phone Apps/PagodaChat/Views/StatusBar.swift 'buttonStyle(.borderless)' 'buttonStyle(.link)' link
planted anymodel Apps/Examples/AnyLanguageModel/Sources/Adapter/PagodaModel.swift 'within session' 'inside session' LanguageModel
planted adapter Sources/PagodaFoundationModels/PagodaLanguageModel.swift 'streamingInto channel' 'into channel' LanguageModelExecutor
planted uitests Apps/PagodaChatUITests/ChatUITests.swift 'waitForNonExistence' 'waitForAbsence' waitForAbsence
echo "${#app[@]} files of the app for macOS and iOS, ${#example[@]} of the example, $((${#adapter[@]} + ${#anymodel[@]})) of the" \
  "adapters, ${#uitests[@]} of the UI tests type-check; 17 planted errors caught"
