// The open conversation: messages, the streaming answer, and the composer.
import PagodaChatCore
import SwiftUI

struct TranscriptView: View {
  let app: AppModel
  @Bindable var transcript: TranscriptModel
  @State private var composer = ComposerModel()

  var body: some View {
    VStack(spacing: 0) {
      ScrollViewReader { proxy in
        ScrollView {
          LazyVStack(alignment: .leading, spacing: 20) {
            ForEach(transcript.messages) { message in
              MessageView(message: message, app: app, transcript: transcript, composer: composer).id(message.id)
            }
          }
          .frame(maxWidth: 780)
          .padding()
          .frame(maxWidth: .infinity)
        }
        .defaultScrollAnchor(.bottom)
        .onChange(of: transcript.messages.count) { scroll(proxy) }
        .onChange(of: transcript.messages.last?.text) { scroll(proxy) }
      }
      if let failure = transcript.failure {
        HStack {
          FailureView(failure: failure)
          Spacer()
          Button("Dismiss") { transcript.failure = nil }
        }
        .padding(10)
        .background(Color.orange.opacity(0.12))
      }
      Divider()
      ComposerView(app: app, transcript: transcript, composer: composer)
    }
    .navigationTitle(transcript.conversation.title.isEmpty ? "New Chat" : transcript.conversation.title)
    .onChange(of: transcript.isAnswering) { app.conversations.refresh() }
  }

  private func scroll(_ proxy: ScrollViewProxy) {
    if let last = transcript.messages.last { proxy.scrollTo(last.id, anchor: .bottom) }
  }
}
