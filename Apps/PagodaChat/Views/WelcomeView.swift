// The first launch: models that suit this machine.
import Foundation
import PagodaChatCore
import SwiftUI

struct WelcomeView: View {
  let welcome: WelcomeModel
  @Environment(\.dismiss) private var dismiss

  var body: some View {
    VStack(alignment: .leading, spacing: 12) {
      Text("Choose a Model").font(.title2)
      Text("It is downloaded once and runs on this device. A small model answers meanwhile.").foregroundStyle(
        .secondary)
      List {
        ForEach(welcome.offers) { offer in
          HStack {
            VStack(alignment: .leading, spacing: 2) {
              Text(offer.title)
              Text("\(offer.downloadBytes.formatted(.byteCount(style: .file))). \(offer.note)")
                .font(.caption).foregroundStyle(.secondary)
            }
            Spacer()
            if offer.isRecommended { Text("Recommended").font(.caption) }
            Button("Download") {
              Task { await welcome.choose(offer.id) }
              dismiss()
            }
            .disabled(!offer.fits)
          }
          .accessibilityElement(children: .contain)
          .accessibilityLabel("Model to choose")
        }
      }
      HStack {
        Spacer()
        Button("Not Now") {
          welcome.skip()
          dismiss()
        }
      }
    }
    .padding()
    .frame(minWidth: 480, minHeight: 360)
    .task { await welcome.prepare() }
  }
}
