// A chat's title, written by its model after the first answer, and its own model and preset.
import Foundation
import PagodaKit

extension TranscriptModel {
  /// Asks the model for a title, unless the user gave one or the model should not.
  func writeTitle() {
    guard wantsTitle, conversation.hasOwnTitle != true, modelWritesTitles(), let engine = engines.engine,
      let question = messages.first, let answer = messages.last, answer.state == .complete, !answer.text.isEmpty
    else { return }
    wantsTitle = false
    let text = "Question: \(question.text.prefix(1000))\n\nAnswer: \(answer.text.prefix(1000))"
    var request = Request(
      messages: [
        .system("Write a title of two to six words for the conversation, in its language. Answer with the title only."),
        .user(text),
      ], sampling: SamplingParameters(temperature: 0, maximumTokens: 24), thinking: false)
    request.priority = 1  // after answers that someone waits for
    titling = Task { [weak self] in
      var title = ""
      do {
        for try await event in engine.submit(request) { if case .text(let chunk) = event { title += chunk } }
      } catch {
        return  // the first words remain
      }
      self?.takeTitle(title)
    }
  }

  /// Uses a title that the model wrote, if it is one.
  private func takeTitle(_ text: String) {
    guard let title = Self.cleanTitle(text), conversation.hasOwnTitle != true else { return }
    conversation.title = title
    keepConversation()
  }

  /// One line without quotes, labels and full stop; nil for an empty or a long one.
  static func cleanTitle(_ text: String) -> String? {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
    guard var title = lines.first(where: { !$0.isEmpty }) else { return nil }
    if title.lowercased().hasPrefix("title:") { title = String(title.dropFirst(6)) }
    title = title.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'“”„«»*#.`"))
    return title.isEmpty || title.count > 60 ? nil : title
  }

  /// The chat's own model; nil for the one that is loaded. Another one is loaded with the next message.
  public var modelName: String? {
    get { conversation.modelName }
    set {
      conversation.modelName = newValue
      keepConversation()
    }
  }

  /// Takes over the settings and the model of a preset.
  public func use(_ preset: ChatPreset) {
    settings = preset.settings
    if let name = preset.modelName { modelName = name }
  }
}

extension SettingsModel {
  /// Keeps settings under a name, replacing those it had. False for an empty name.
  @discardableResult
  public func savePreset(_ name: String, _ chat: ChatSettings, modelName: String? = nil) -> Bool {
    let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !name.isEmpty else { return false }
    settings.presets.removeAll { $0.name == name }
    settings.presets.append(ChatPreset(name: name, settings: chat, modelName: modelName))
    settings.presets.sort { $0.name < $1.name }
    return true
  }

  /// Forgets a preset.
  public func removePreset(_ name: String) { settings.presets.removeAll { $0.name == name } }
}
