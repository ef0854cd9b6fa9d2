// MiniChat: a minimal SwiftUI app that chats with a model: one view model, one view.
import AppKit
import Observation
import PagodaKit
import PagodaMini
import SwiftUI

@main
struct MiniChatApp: App {
  init() {
    // A program started by `swift run` has no bundle; without this it gets no keyboard input.
    NSApplication.shared.setActivationPolicy(.regular)
    NSApplication.shared.activate(ignoringOtherApps: true)
  }

  var body: some Scene {
    WindowGroup("MiniChat") { ChatView() }
  }
}

@MainActor @Observable
final class Chat {
  private(set) var lines: [String] = []
  private(set) var isAnswering = false
  private let model = ModelContainer(.mini)
  private var session: ChatSession?

  func send(_ question: String) async {
    isAnswering = true
    defer { isAnswering = false }
    lines.append("You: \(question)")
    lines.append("")
    do {
      if session == nil { session = try await model.session(instructions: "Answer briefly.") }
      guard let session else { return }
      for try await text in session.streamResponse(to: question) { lines[lines.count - 1] += text }
    } catch {
      lines[lines.count - 1] = "Error: \(error.localizedDescription)"
    }
  }
}

struct ChatView: View {
  @State private var chat = Chat()
  @State private var question = ""

  var body: some View {
    VStack(alignment: .leading) {
      ScrollView {
        VStack(alignment: .leading, spacing: 8) {
          ForEach(Array(chat.lines.enumerated()), id: \.offset) { _, line in Text(line).textSelection(.enabled) }
        }
        .frame(maxWidth: .infinity, alignment: .leading)
      }
      TextField("Message", text: $question)
        .disabled(chat.isAnswering)
        .onSubmit {
          let asked = question
          question = ""
          Task { await chat.send(asked) }
        }
    }
    .padding()
    .frame(minWidth: 420, minHeight: 320)
  }
}
