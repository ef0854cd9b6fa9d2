// The sidebar: conversations, search, rename, pin, delete.
import PagodaChatCore
import SwiftUI

struct SidebarView: View {
  @Bindable var list: ConversationListModel
  @State private var renamedID: UUID?
  @State private var title = ""

  var body: some View {
    List(selection: $list.selection) {
      ForEach(list.hits) { hit in
        SidebarRow(
          hit: hit, isAnswering: list.transcript(of: hit.id)?.isAnswering == true, isSearch: !list.query.isEmpty
        )
        .tag(hit.id)
        .contextMenu {
          Button("Rename…") {
            title = hit.conversation.title
            renamedID = hit.id
          }
          Button(hit.conversation.isPinned ? "Unpin" : "Pin") { list.togglePin(hit.id) }
          Divider()
          Button("Delete", role: .destructive) { list.askToRemove(hit.id) }
        }
      }
    }
    .searchable(text: $list.query, placement: .sidebar, prompt: "Search chats")
    .navigationTitle("Chats")
    .alert("Rename Chat", isPresented: isRenaming) {
      TextField("Title", text: $title)
      Button("Rename") { if let renamedID { list.rename(renamedID, to: title) } }
      Button("Cancel", role: .cancel) {}
    }
    .confirmationDialog("Delete this chat?", isPresented: isRemoving, titleVisibility: .visible) {
      Button("Delete", role: .destructive) { list.answerRemoval(true) }
      Button("Cancel", role: .cancel) { list.answerRemoval(false) }
    } message: {
      Text("\(list.removalCandidate?.title ?? "It") can be brought back with Undo Delete Chat until Pagoda is closed.")
    }
    .overlay {
      if list.hits.isEmpty && !list.query.isEmpty {
        ContentUnavailableView(
          "No Results", systemImage: "magnifyingglass", description: Text("No chat has all of these words."))
      }
    }
  }

  private var isRemoving: Binding<Bool> {
    Binding(get: { list.removalCandidate != nil }, set: { if !$0 { list.answerRemoval(false) } })
  }

  private var isRenaming: Binding<Bool> {
    Binding(get: { renamedID != nil }, set: { if !$0 { renamedID = nil } })
  }
}

private struct SidebarRow: View {
  let hit: SearchHit
  let isAnswering: Bool
  let isSearch: Bool

  private var title: String { hit.conversation.title.isEmpty ? "New Chat" : hit.conversation.title }

  var body: some View {
    HStack {
      VStack(alignment: .leading, spacing: 2) {
        Text(title).lineLimit(1)
        if isSearch && hit.messageID != nil {
          Text(hit.excerpt).font(.caption).foregroundStyle(.secondary).lineLimit(2)
        }
      }
      Spacer()
      if isAnswering { ProgressView().controlSize(.small).accessibilityLabel("Answering") }
      if hit.conversation.isPinned { Image(systemName: "pin.fill").font(.caption).accessibilityLabel("Pinned") }
    }
    .accessibilityElement(children: .combine)
  }
}
