// Find in chat: a field, the number of matches, and steps between them.
import PagodaChatCore
import SwiftUI

struct FindBar: View {
  @Bindable var find: FindModel
  let messages: [ChatMessage]
  let show: (UUID) -> Void

  var body: some View {
    HStack(spacing: 8) {
      TextField("Find in this chat", text: $find.query).onSubmit { step(1) }
      if let status = find.status(in: messages) { Text(status).font(.caption).monospacedDigit() }
      Button("Previous Match", systemImage: "chevron.up") { step(-1) }
      Button("Next Match", systemImage: "chevron.down") { step(1) }
      Button("Done") { find.close() }
    }
    .labelStyle(.iconOnly)
    .padding(8)
    .onChange(of: find.query) { if let match = find.current(in: messages) { show(match.messageID) } }
  }

  private func step(_ steps: Int) {
    find.advance(steps, in: messages)
    if let match = find.current(in: messages) { show(match.messageID) }
  }
}
