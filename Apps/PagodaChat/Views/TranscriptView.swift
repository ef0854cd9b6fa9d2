// The open conversation: messages, the streaming answer, and the composer.
import PagodaChatCore
import SwiftUI

struct TranscriptView: View {
  let app: AppModel
  let window: ConversationListModel
  @Bindable var transcript: TranscriptModel

  var body: some View {
    VStack(spacing: 0) {
      ScrollViewReader { proxy in
        if transcript.find.isShown {
          FindBar(find: transcript.find, messages: transcript.messages) { proxy.scrollTo($0, anchor: .center) }
        }
        ScrollView {
          LazyVStack(alignment: .leading, spacing: 20) {
            ForEach(transcript.messages) { message in
              MessageView(message: message, app: app, window: window, transcript: transcript).id(message.id)
            }
            // Visible when the user has scrolled to the end. The view follows the answer only while it is visible.
            Color.clear.frame(height: 1).id("end").accessibilityHidden(true)
              .onAppear { transcript.follower.endAppeared() }
              .onDisappear { transcript.follower.endDisappeared() }
          }
          .frame(maxWidth: 780)
          .padding()
          .frame(maxWidth: .infinity)
        }
        .defaultScrollAnchor(.bottom)
        .modifier(ScrollWatch(follower: transcript.follower))
        .onChange(of: transcript.messages.count) { scroll(proxy) }
        .onChange(of: transcript.messages.last?.text.utf8.count) { scroll(proxy) }
        .overlay(alignment: .bottom) {
          if !transcript.follower.isFollowing {
            Button("Jump to the end", systemImage: "arrow.down") {
              transcript.follower.follow()
              scroll(proxy)
            }
            .padding(8)
          }
        }
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
      if let question = app.tools.question { ToolQuestionView(tools: app.tools, question: question) }
      Divider()
      ComposerView(app: app, transcript: transcript, composer: transcript.composer)
    }
    .dropDestination(for: URL.self) { urls, _ in transcript.composer.attach(urls) }
    .navigationTitle(transcript.conversation.title.isEmpty ? localized("New Chat") : transcript.conversation.title)
    .onChange(of: transcript.isAnswering) { window.refresh() }
  }

  private func scroll(_ proxy: ScrollViewProxy) {
    if transcript.follower.contentGrew() { proxy.scrollTo("end", anchor: .bottom) }
  }
}

/// Tells the follower that the user scrolls. Earlier systems report only whether the end is visible.
private struct ScrollWatch: ViewModifier {
  let follower: ScrollFollower

  func body(content: Content) -> some View {
    if #available(macOS 15, iOS 18, *) {
      content.onScrollPhaseChange { _, phase in
        switch phase {
        case .tracking, .interacting: follower.userBegan()
        case .idle: follower.userEnded()
        default: break
        }
      }
    } else {
      content
    }
  }
}
