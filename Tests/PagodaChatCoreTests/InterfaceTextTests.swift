// Texts in the user's language: keys, values in any order, and the translations of the app's catalog.
import Foundation
import Testing

@testable import PagodaChatCore

@Suite struct InterfaceTextTests {
  @Test func values_take_the_places_that_a_translation_gives_them() {
    let text: InterfaceText = "\(2) of \("five") % done"
    #expect(text.key == "%@ of %@ %% done")
    #expect(localized(text) == "2 of five % done")  // no catalog here
    #expect(text.text { _ in "%2$@: %1$@ %%" } == "five: 2 %")
    #expect(text.text { _ in "%@ %@ %@ %3$@ % %1 %" } == "2 five   % %1 %")
  }

  private struct Catalog: Decodable {
    struct Entry: Decodable {
      struct Localization: Decodable {
        struct Unit: Decodable { var value: String }
        var stringUnit: Unit
      }
      var localizations: [String: Localization]
    }
    var strings: [String: Entry]
  }

  private static func catalog() throws -> Catalog {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let data = try Data(contentsOf: root.appending(path: "Apps/PagodaChat/Localizable.xcstrings"))
    return try JSONDecoder().decode(Catalog.self, from: data)
  }

  @Test(arguments: [
    ("de", "2 von 5", "Liest, 40 %, noch 3 s"), ("fr", "2 sur 5", "Lecture, 40 %, encore 3 s"),
    ("ja", "2 / 5", "読み込み中 40%、残り 3 秒"), ("zh-Hans", "第 2 个，共 5 个", "正在读取 40%，剩余 3 秒"),
  ])
  func the_catalog_has_the_texts_with_their_values(_ language: String, _ found: String, _ reading: String) throws {
    let strings = try Self.catalog().strings
    func shown(_ text: InterfaceText) -> String {
      text.text { strings[$0]?.localizations[language]?.stringUnit.value ?? "missing: \($0)" }
    }
    #expect(shown("\(2) of \(5)") == found)
    #expect(shown("Reading \(40) %, \(3) s left") == reading)
    #expect(!shown("No model is loaded.").contains("missing") && shown("No model is loaded.") != "No model is loaded.")
  }

  /// A value that a translation leaves out or repeats would be lost, or shown at the wrong place.
  @Test func every_translation_shows_each_value_once() throws {
    for (key, entry) in try Self.catalog().strings where key.contains("%@") {
      let values = (1...5).map { "⟨\($0)⟩" }
      let count = key.components(separatedBy: "%@").count - 1
      for (language, localization) in entry.localizations {
        let text = InterfaceText(key: key, values: Array(values.prefix(count))).text { _ in
          localization.stringUnit.value
        }
        for value in values.prefix(count) {
          #expect(text.components(separatedBy: value).count == 2, "\(key) in \(language): \(text)")
        }
      }
    }
  }
}
