// Ask Pagoda: a question from Siri, Shortcuts or Spotlight, answered by the app's model.
import AppIntents
import PagodaChatCore

struct AskPagodaIntent: AppIntent {
  static let title: LocalizedStringResource = "Ask Pagoda"
  static let description = IntentDescription("Answers a question with the model on this device. It stays as a chat.")

  @Parameter(title: "Question") var question: String

  @MainActor
  func perform() async throws -> some IntentResult & ReturnsValue<String> & ProvidesDialog {
    let answer = try await StartState.shared.ready().ask(question)
    return .result(value: answer, dialog: IntentDialog(stringLiteral: answer))
  }
}

struct PagodaShortcuts: AppShortcutsProvider {
  static var appShortcuts: [AppShortcut] {
    AppShortcut(
      intent: AskPagodaIntent(), phrases: ["Ask \(.applicationName)", "Ask \(.applicationName) a question"],
      shortTitle: "Ask Pagoda", systemImageName: "building.columns")
  }
}
