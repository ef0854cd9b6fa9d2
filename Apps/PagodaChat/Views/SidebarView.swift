// The sidebar: conversations in folders, search, rename, pin, move, delete.
import PagodaChatCore
import SwiftUI

struct SidebarView: View {
  @Bindable var list: ConversationListModel
  @State private var renamedID: UUID?
  @State private var title = ""
  @State private var movedID: UUID?
  @State private var folder = ""
  @State private var renamedFolder: String?

  var body: some View {
    List(selection: $list.selection) {
      ForEach(list.sections) { section in
        Section(section.folder) { rows(section.hits) }
      }
    }
    .searchable(text: $list.query, placement: .sidebar, prompt: "Search chats")
    .navigationTitle("Chats")
    .alert("Rename Chat", isPresented: isRenaming) {
      TextField("Title", text: $title)
      Button("Rename") { if let renamedID { list.rename(renamedID, to: title) } }
      Button("Cancel", role: .cancel) {}
    }
    .alert("New Folder", isPresented: isMoving) {
      TextField("Name", text: $folder)
      Button("Move") { if let movedID { list.move(movedID, to: folder) } }
      Button("Cancel", role: .cancel) {}
    }
    .alert("Rename Folder", isPresented: isRenamingFolder) {
      TextField("Name", text: $folder)
      Button("Rename") { if let renamedFolder { list.renameFolder(renamedFolder, to: folder) } }
      Button("Cancel", role: .cancel) {}
    }
    .confirmationDialog("Delete this chat?", isPresented: isRemoving, titleVisibility: .visible) {
      Button("Delete", role: .destructive) { list.answerRemoval(true) }
      Button("Cancel", role: .cancel) { list.answerRemoval(false) }
    } message: {
      Text(
        localized(
          "\(list.removalCandidate?.title ?? "") can be brought back with Undo Delete Chat until Pagoda is closed."))
    }
    .overlay {
      if list.hits.isEmpty && !list.query.isEmpty {
        ContentUnavailableView(
          "No Results", systemImage: "magnifyingglass", description: Text("No chat has all of these words."))
      }
    }
  }

  private func rows(_ hits: [SearchHit]) -> some View {
    ForEach(hits) { hit in
      SidebarRow(
        hit: hit, isAnswering: list.isAnswering(hit.id), isSearch: !list.query.isEmpty
      )
      .tag(hit.id)
      .contextMenu {
        Button("Rename…") {
          title = hit.conversation.title
          renamedID = hit.id
        }
        Button(hit.conversation.isPinned ? localized("Unpin") : localized("Pin")) { list.togglePin(hit.id) }
        Menu("Move to Folder") {
          ForEach(list.folders, id: \.self) { folder in Button(folder) { list.move(hit.id, to: folder) } }
          Button("New Folder…") {
            folder = ""
            movedID = hit.id
          }
          Button("No Folder") { list.move(hit.id, to: nil) }
        }
        if let name = hit.conversation.folder {
          Button("Rename Folder…") {
            folder = name
            renamedFolder = name
          }
        }
        Divider()
        Button("Delete", role: .destructive) { list.askToRemove(hit.id) }
      }
    }
  }

  private var isMoving: Binding<Bool> {
    Binding(get: { movedID != nil }, set: { if !$0 { movedID = nil } })
  }

  private var isRenamingFolder: Binding<Bool> {
    Binding(get: { renamedFolder != nil }, set: { if !$0 { renamedFolder = nil } })
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

  private var title: String { hit.conversation.title.isEmpty ? localized("New Chat") : hit.conversation.title }

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
