// The keyboard map: every shortcut of the app.
import PagodaChatCore
import SwiftUI

struct KeyboardMapView: View {
  static let windowID = "keyboard"

  var body: some View {
    Grid(alignment: .leading, horizontalSpacing: 24, verticalSpacing: 6) {
      ForEach(KeyboardMap.all) { shortcut in
        GridRow {
          Text(shortcut.keys).monospacedDigit()
          Text(shortcut.title)
        }
        .accessibilityElement(children: .combine)
      }
    }
    .padding()
  }
}
