// The model library: installed models, downloads, and the memory each needs.
import Foundation
import PagodaChatCore
import SwiftUI

struct LibraryView: View {
  let app: AppModel
  @Environment(\.dismiss) private var dismiss
  @State private var words = ""
  @State private var sheet: ModelSheetModel?

  var body: some View {
    VStack(alignment: .leading, spacing: 12) {
      Text("Models").font(.title2)
      List {
        ForEach(app.library.entries) { entry in
          LibraryRow(entry: entry, app: app) { sheet = ModelSheetModel(entry.id, app: app) }
        }
      }
      HStack {
        TextField("Search, or Organisation/Model", text: $words).onSubmit { app.library.search(words) }
        if app.library.isSearching { ProgressView().controlSize(.small).accessibilityLabel("Searching") }
        Button("Search") { app.library.search(words) }.disabled(words.isEmpty)
        Button("Download") { Task { await app.library.fetch(named: words) } }.disabled(!words.contains("/"))
      }
      if !app.library.found.isEmpty {
        List { ForEach(app.library.found) { FoundRow(model: $0, library: app.library) } }
      }
      if let failure = app.library.failure { FailureView(failure: failure) }
      HStack {
        Spacer()
        Button("Done") { dismiss() }.keyboardShortcut(.defaultAction)
      }
    }
    .padding()
    .frame(minWidth: 560, minHeight: 420)
    .task { await app.library.refresh() }
    .sheet(item: $sheet) { ModelSheet(model: $0) }
    .confirmationDialog("Which file?", isPresented: asksForFile, titleVisibility: .visible) {
      ForEach(app.library.question?.choices ?? []) { choice in
        Button("\(choice.id), \(choice.sizeBytes.formatted(.byteCount(style: .file)))") { app.library.answer(choice) }
      }
      Button("Cancel", role: .cancel) { app.library.answer(nil) }
    } message: {
      Text(localized("\(app.library.question?.repository ?? "") has the same model in several sizes; one is enough."))
    }
    .confirmationDialog("Delete this model?", isPresented: isRemoving, titleVisibility: .visible) {
      Button("Delete", role: .destructive) { Task { await app.library.answerRemoval(true) } }
      Button("Cancel", role: .cancel) { Task { await app.library.answerRemoval(false) } }
    } message: {
      Text(localized("\(app.library.removalCandidate ?? "") would have to be downloaded again."))
    }
  }

  private var isRemoving: Binding<Bool> {
    Binding(
      get: { app.library.removalCandidate != nil }, set: { if !$0 { Task { await app.library.answerRemoval(false) } } })
  }

  private var asksForFile: Binding<Bool> {
    Binding(get: { app.library.question != nil }, set: { if !$0 { app.library.answer(nil) } })
  }
}

/// A model that the search found.
private struct FoundRow: View {
  let model: FoundModel
  let library: LibraryModel

  var body: some View {
    HStack {
      VStack(alignment: .leading, spacing: 2) {
        Text(model.id)
        Text(model.obstacle ?? localized("\(model.downloads) downloads a month")).font(.caption).foregroundStyle(
          .secondary)
        if !model.details.isEmpty { Text(model.details).font(.caption).foregroundStyle(.secondary) }
      }
      Spacer()
      Button("Download") { Task { await library.fetch(named: model.id) } }
    }
    .accessibilityElement(children: .contain)
    .accessibilityLabel("Found model")
  }
}

private struct LibraryRow: View {
  let entry: LibraryEntry
  let app: AppModel
  let choose: () -> Void

  private var isLoaded: Bool { app.engines.modelName == entry.id }

  var body: some View {
    HStack {
      VStack(alignment: .leading, spacing: 3) {
        Text(entry.id)
        Text(details).font(.caption).foregroundStyle(.secondary)
        if case .downloading(let progress) = entry.state {
          ProgressView(value: progress.fraction ?? 0).accessibilityLabel(localized("Download of \(entry.id)"))
        }
        if case .failed(let failure) = entry.state { FailureView(failure: failure) }
      }
      Spacer()
      buttons
    }
    .accessibilityElement(children: .contain)
    .accessibilityLabel(entry.spokenLabel)
  }

  @ViewBuilder private var buttons: some View {
    switch entry.state {
    case .ready:
      if isLoaded {
        Button("Unload") { Task { await app.unload() } }
      } else {
        Button("Load") { Task { await app.use(entry.id) } }.disabled(entry.estimate?.fits == false)
      }
      Button("Load with…", action: choose).help("Choose device, weights and context, and see the memory they take")
      if !entry.isEmbedded {
        Button("Delete", systemImage: "trash", role: .destructive) { app.library.askToRemove(entry.id) }
          .labelStyle(.iconOnly).disabled(isLoaded)
      }
    case .downloading: Button("Pause") { app.library.pause(entry.id) }
    case .paused: Button("Resume") { app.library.download(entry.id) }
    case .failed: Button("Try Again") { app.library.download(entry.id) }
    }
  }

  private var details: String {
    switch entry.state {
    case .ready:
      [size(entry.sizeBytes).map { localized("\($0) on disk") }, memory].compactMap { $0 }.joined(separator: ", ")
    case .downloading(let progress), .paused(let progress):
      [
        size(progress.receivedBytes), size(progress.totalBytes).map { localized("of \($0)") },
        entry.bytesPerSecond.flatMap { size(Int64($0)) }.map { localized("\($0)/s") },
        entry.secondsLeft.map {
          localized(
            "\(Duration.seconds($0).formatted(.units(allowed: [.hours, .minutes, .seconds], width: .narrow))) left")
        },
      ].compactMap { $0 }.joined(separator: " ")
    case .failed: localized("Not downloaded")
    }
  }

  private var memory: String? {
    guard let estimate = entry.estimate, let needed = size(estimate.totalBytes) else { return nil }
    return estimate.fits
      ? localized("takes \(needed) of memory")
      : localized("needs \(needed) of memory, \(size(estimate.limitBytes) ?? "0") are there")
  }

  private func size(_ bytes: Int64?) -> String? { bytes?.formatted(.byteCount(style: .file)) }
}
