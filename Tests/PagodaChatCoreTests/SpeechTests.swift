// Messages read aloud and selected as one text, and the panel for a quick question.
import Foundation
import PagodaKit
import Testing

@testable import PagodaChatCore

/// Says a sentence when the test lets it.
@MainActor final class ScriptedSpeaker: Speaker {
  private(set) var said: [String] = []
  private(set) var stops = 0
  private var waiting: CheckedContinuation<Void, Never>?

  func say(_ text: String) async {
    said.append(text)
    await withCheckedContinuation { waiting = $0 }
  }

  func stop() {
    stops += 1
    finish()
  }

  func finish() {
    waiting?.resume()
    waiting = nil
  }
}

@MainActor @Suite struct SpeechTests {
  private static let text = """
    # *Two* things
    Dr. A said **so**, see [the page](https://x.y). Right? 3.5 is `x`; $x^2$ too.

    - one_two ~~gone~~
    ```c
    int x;
    ```
    | a | b |
    |---|---|
    | 1 | *2* |
    $$x = \\frac12$$
    ---
    """

  private func message(_ text: String) -> ChatMessage {
    ChatMessage(conversationID: UUID(), parentID: nil, role: .assistant, text: text)
  }

  @Test func sentences_have_no_marks_and_code_is_not_read() {
    #expect(
      MarkdownBlocks(Self.text).spokenSentences == [
        "Two things", "Dr.", "A said so, see the page.", "Right?", "3.5 is x; x² too.", "one_two gone", "Here is code.",
        "a, b", "1, 2", "x = 1/2",
      ])
    #expect("2 * 3 \\* 4 [x] ![alt](u) *".plainText == "2 * 3 * 4 [x] alt ")
    #expect("你好。再见！Yes".sentences == ["你好。", "再见！", "Yes"])
  }

  @Test func a_selection_may_span_all_blocks() {
    let pieces = MarkdownBlocks(Self.text).selectablePieces
    #expect(pieces.map(\.style) == [.heading, .body, .body, .verbatim, .verbatim, .verbatim])
    #expect(pieces.map(\.text)[2...] == ["• one_two ~~gone~~", "int x;", "a  b\n1  *2*", "x = 1/2"])
  }

  @Test func a_message_is_shown_as_one_text_and_again_as_blocks() async throws {
    try await withFolder { folder in
      let engines = EngineModel(loader: ScriptedLoader())
      let transcript = TranscriptModel(Conversation(), store: try ConversationStore(folder: folder), engines: engines)
      let (first, second) = (UUID(), UUID())
      for (id, shown) in [(first, first), (second, second), (second, nil)] as [(UUID, UUID?)] {
        transcript.toggleSelectable(id)
        #expect(transcript.selectableID == shown)
      }
    }
  }

  @Test func one_message_is_read_at_a_time_until_it_ends_or_is_stopped() async {
    let speaker = ScriptedSpeaker()
    let speech = SpeechModel(speaker: speaker)
    let (first, second) = (message("One. Two."), message("Three."))
    speech.toggle(first)
    #expect(await eventually { speaker.said == ["One."] } && speech.messageID == first.id)
    speaker.finish()
    #expect(await eventually { speaker.said == ["One.", "Two."] })
    speech.toggle(second)  // the other falls silent
    #expect(await eventually { speaker.said.last == "Three." } && speech.messageID == second.id && speaker.stops == 1)
    speaker.finish()
    #expect(await eventually { speech.messageID == nil })
    speech.toggle(first)
    #expect(await eventually { speaker.said.count == 4 })
    speech.toggle(first)
    #expect(speech.messageID == nil && speaker.stops == 2)
    speech.toggle(message("---"))
    #expect(speech.messageID == nil && speaker.said.count == 4)
  }

  @Test func without_a_voice_nothing_is_read_and_the_background_is_silent() async throws {
    let mute = SpeechModel(speaker: nil)
    mute.toggle(message("One."))
    #expect(!mute.isAvailable && mute.messageID == nil)
    try await withFolder { folder in
      let speaker = ScriptedSpeaker()
      let app = try AppModel(
        folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader(), speaker: speaker)
      app.speech.toggle(message("One. Two."))
      #expect(await eventually { speaker.said == ["One."] })
      app.enteredBackground(stopsAnswers: false)  // on a Mac, hidden windows go on
      #expect(app.speech.messageID != nil)
      app.enteredBackground(stopsAnswers: true)
      #expect(app.speech.messageID == nil && speaker.stops == 1)
    }
  }
}

@MainActor @Suite struct QuickPanelTests {
  private func withPanel(_ body: (AppModel, QuickPanelModel, ScriptedEngine) async throws -> Void) async throws {
    try await withFolder { folder in
      let loader = ScriptedLoader()
      let app = try AppModel(folder: folder, loader: loader, downloader: ScriptedDownloader())
      await app.start()
      app.newChat()
      try await body(app, app.quickPanel, loader.engine)
    }
  }

  @Test func a_question_is_answered_in_a_chat_of_its_own_and_continued() async throws {
    try await withPanel { app, panel, engine in
      let selected = app.conversations.selection
      app.settings.settings.newChats.instructions = "Be brief."
      panel.toggle()
      panel.text = " \n"
      #expect(panel.isShown && !panel.canSend)
      panel.text = " Capital of France? "
      panel.send()
      #expect(panel.text.isEmpty && !panel.canSend && app.conversations.selection == selected)
      #expect(engine.lastMessages.map(\.content) == ["Be brief.", "Capital of France?"])
      engine.say("Paris.")
      let transcript = try #require(panel.transcript)
      #expect(await eventually { !transcript.isAnswering })
      #expect(panel.answer?.text == "Paris.")
      panel.text = "And of Italy?"
      panel.send()
      #expect(engine.lastMessages.count == 4 && panel.transcript === transcript)
      engine.say("Rome.")
      #expect(await eventually { !transcript.isAnswering })
      #expect(app.conversations.hits.contains { $0.id == transcript.id })
      #expect(panel.openInWindow() && app.conversations.selection == transcript.id && !panel.isShown)
      #expect(!panel.openInWindow())
    }
  }

  @Test func a_panel_shown_again_begins_anew_unless_it_is_being_answered() async throws {
    try await withPanel { app, panel, engine in
      panel.toggle()
      panel.text = "One?"
      panel.send()
      let transcript = try #require(panel.transcript)
      panel.hide()
      panel.toggle()
      #expect(panel.isShown && panel.transcript === transcript)  // still in progress
      engine.say("1")
      #expect(await eventually { !transcript.isAnswering })
      await app.relieve(.warning, now: app.idleSince)
      #expect(app.conversations.transcript(of: transcript.id) === transcript)  // not another model of the same chat
      app.conversations.remove(transcript.id)
      panel.text = "Two?"
      panel.send()
      #expect(panel.transcript !== transcript && engine.lastMessages.map(\.content) == ["Two?"])
      engine.say("2")
      #expect(await eventually { panel.transcript?.isAnswering == false })
      panel.toggle()
      panel.toggle()
      #expect(panel.isShown && panel.transcript == nil && panel.answer == nil)
    }
  }
}
