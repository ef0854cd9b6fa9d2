// One conversation: streaming, stopping, failing, editing, regenerating, branching, with a scripted engine.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaChatCore

@MainActor @Suite struct TranscriptTests {
  private struct Harness {
    var store: ConversationStore
    var engines: EngineModel
    var engine: ScriptedEngine
    var transcript: TranscriptModel
  }

  private func withHarness(isLoaded: Bool = true, _ body: (Harness) async throws -> Void) async throws {
    try await withFolder { folder in
      let store = try ConversationStore(folder: folder)
      let loader = ScriptedLoader()
      let engines = EngineModel(loader: loader)
      if isLoaded { await engines.load(.mini, named: "scripted") }
      let transcript = TranscriptModel(Conversation(), store: store, engines: engines)
      try await body(Harness(store: store, engines: engines, engine: loader.engine, transcript: transcript))
    }
  }

  private func finish(_ harness: Harness, _ text: String, _ reason: FinishReason = .stop) async throws {
    #expect(await eventually { !harness.engine.state.withLock { $0.continuations.isEmpty } })
    harness.engine.say(text, reason)
    #expect(await eventually { !harness.transcript.isAnswering })
  }

  @Test func an_answer_grows_and_is_kept_with_its_statistics() async throws {
    try await withHarness { harness in
      harness.transcript.settings.instructions = "Be brief."
      harness.transcript.send("What is the capital of France?")
      #expect(harness.transcript.isAnswering && harness.transcript.messages.count == 2)
      harness.engine.answer.yield(.reasoning("hm"))
      harness.engine.answer.yield(.text("Par"))
      #expect(await eventually { harness.transcript.messages.last?.text == "Par" })
      #expect(harness.transcript.messages.last?.state == .streaming)
      try await finish(harness, "is")
      let last = try #require(harness.transcript.messages.last)
      #expect(last.text == "Paris" && last.reasoning == "hm" && last.state == .complete && last.modelName == "scripted")
      #expect(
        last.stats?.tokensPerSecond == 2 && last.stats?.secondsToFirstToken == 0.5 && last.stats?.cachedTokens == 4)
      #expect(harness.engine.lastMessages == [.system("Be brief."), .user("What is the capital of France?")])
      #expect(harness.transcript.conversation.title == "What is the capital of France?")
      let stored = harness.store.messages(of: harness.transcript.id).path(to: harness.transcript.conversation.leafID)
      #expect(stored.map(\.text) == ["What is the capital of France?", "Paris"])
    }
  }

  @Test func the_reading_of_a_long_prompt_and_omitted_messages_are_shown() async throws {
    try await withHarness { harness in
      harness.transcript.send("A long question.")
      let request = harness.engine.state.withLock { $0.requests.last }
      #expect(request?.contextPolicy == .trim && request?.promptProgressInterval != nil)
      harness.engine.answer.yield(.contextTrimmed(omittedMessages: 4))
      let read = PromptProgress(completedTokens: 430, totalTokens: 1000, elapsedSeconds: 8.8)
      harness.engine.answer.yield(.promptProgress(read))
      #expect(await eventually { harness.transcript.promptProgressText == "Reading 43 %, 12 s left" })
      try await finish(harness, "Paris")
      #expect(harness.transcript.promptProgress == nil)
      #expect(harness.transcript.omissionText == "The context is full: the oldest 4 messages were not read.")
      harness.transcript.settings.contextPolicy = .stop
      harness.transcript.send("Another one.")
      #expect(harness.engine.state.withLock { $0.requests.last }?.contextPolicy == .stop)
      #expect(harness.transcript.omissionText == nil)
      try await finish(harness, "Lima")
    }
  }

  @Test func stopping_cancels_the_request_and_keeps_the_partial_answer() async throws {
    try await withHarness { harness in
      harness.transcript.send("Count.")
      harness.engine.answer.yield(.text("One, two"))
      #expect(await eventually { harness.transcript.messages.last?.text == "One, two" })
      harness.transcript.stop()
      #expect(await eventually { !harness.transcript.isAnswering })
      #expect(harness.engine.state.withLock { $0.cancelled } == 1)
      #expect(harness.transcript.messages.last?.state == .stopped && harness.transcript.failure == nil)
      #expect(harness.store.messages(of: harness.transcript.id).all.last?.text == "One, two")
      harness.transcript.send("Go on.")
      #expect(harness.engine.lastMessages.map(\.content) == ["Count.", "One, two", "Go on."])
      harness.transcript.stop()
    }
  }

  @Test func a_failure_is_shown_with_its_cause_and_can_be_tried_again() async throws {
    try await withHarness { harness in
      harness.transcript.send("Hello")
      harness.engine.answer.finish(throwing: PagodaError.contextOverflow("9000 tokens are more than 4096"))
      #expect(await eventually { !harness.transcript.isAnswering })
      #expect(harness.transcript.failure?.cause == "9000 tokens are more than 4096")
      #expect(harness.transcript.failure?.advice?.contains("new chat") == true)
      #expect(harness.transcript.messages.last?.state == .failed("9000 tokens are more than 4096"))
      harness.transcript.regenerate()
      #expect(harness.transcript.failure == nil)
      try await finish(harness, "Hi")
      #expect(harness.transcript.messages.map(\.text) == ["Hello", "Hi"])
    }
  }

  /// The text of an answer grows in place: it is reallocated only when it doubles, not with each token.
  @Test func a_token_does_not_copy_the_answer() async throws {
    try await withHarness { harness in
      harness.transcript.send("Hello")
      var (moves, copies, address) = (0, 0, UInt(0))
      var shown: MarkdownBlocks?
      for _ in 0..<10_000 {
        harness.transcript.take(.text(" word"), into: harness.transcript.messages[1].id)
        let now = harness.transcript.messages[1].text.utf8.withContiguousStorageIfAvailable {
          UInt(bitPattern: $0.baseAddress)
        }
        moves += now == address ? 0 : 1
        address = now ?? 0
        let next = harness.transcript.shownBlocks(of: harness.transcript.messages[1])
        if let shown, shown.storage !== next.storage { copies += 1 }
        shown = next
      }
      #expect(harness.transcript.messages[1].text.utf8.count == 50_000)
      #expect(moves < 64 && copies == 0, "\(moves) \(copies)")
      #expect(harness.transcript.shownBlocks(of: harness.transcript.messages[1]).count > 1)
      try await finish(harness, ".")
      let whole = harness.transcript.shownBlocks(of: harness.transcript.messages[1])
      #expect(whole.count == 1)  // again
      let again = harness.transcript.shownBlocks(of: harness.transcript.messages[1])
      #expect(again.storage === whole.storage)  // parsed once
    }
  }

  /// However often a growing answer is saved, the total written is proportional to its length.
  @Test func saving_an_answer_as_it_grows_costs_as_much_as_its_length() async throws {
    func written(tokens: Int) async throws -> Int {
      var size = 0
      try await withHarness { harness in
        harness.transcript.savingInterval = .zero
        harness.transcript.send("Count.")
        for _ in 0..<tokens { harness.engine.answer.yield(.text(" word")) }
        try await finish(harness, ".")
        size = try Data(contentsOf: harness.store.url).count
      }
      return size
    }
    let (half, whole) = (try await written(tokens: 400), try await written(tokens: 800))
    #expect(half > 10 * 400 * 5)  // it is saved often enough
    #expect(whole < half * 22 / 10, "\(half) \(whole)")
  }

  @Test func without_a_model_the_question_is_kept_and_the_cause_is_said() async throws {
    try await withHarness(isLoaded: false) { harness in
      harness.transcript.send("Hello")
      #expect(!harness.transcript.isAnswering && harness.transcript.failure?.cause == "No model is loaded.")
      #expect(harness.store.messages(of: harness.transcript.id).all.map(\.text) == ["Hello"])
    }
  }

  @Test func an_answer_cut_off_says_so() async throws {
    try await withHarness { harness in
      harness.transcript.send("Hello")
      try await finish(harness, "Once upon", .length)
      #expect(harness.transcript.messages.last?.state == .cutOff)
    }
  }

  @Test func regenerating_keeps_the_earlier_answer_as_an_alternative() async throws {
    try await withHarness { harness in
      harness.transcript.send("Hello")
      try await finish(harness, "first")
      harness.transcript.regenerate()
      try await finish(harness, "second")
      #expect(harness.engine.lastMessages.map(\.content) == ["Hello"])
      let last = try #require(harness.transcript.messages.last)
      #expect(last.text == "second")
      #expect(try #require(harness.transcript.alternative(of: last.id)) == (2, 2))
      harness.transcript.showAlternative(of: last.id, offset: -1)
      #expect(harness.transcript.messages.last?.text == "first")
      harness.transcript.showAlternative(of: try #require(harness.transcript.messages.last).id, offset: -1)
      #expect(harness.transcript.messages.last?.text == "first")
      let reopened = TranscriptModel(
        try #require(harness.store.conversation(harness.transcript.id)), store: harness.store, engines: harness.engines)
      #expect(reopened.messages.map(\.text) == ["Hello", "first"])
    }
  }

  @Test func editing_begins_another_path_and_the_old_one_stays() async throws {
    try await withHarness { harness in
      harness.transcript.send("one")
      try await finish(harness, "answer one")
      harness.transcript.send("two")
      try await finish(harness, "answer two")
      harness.transcript.edit(harness.transcript.messages[2].id, to: "three")
      #expect(harness.engine.lastMessages.map(\.content) == ["one", "answer one", "three"])
      try await finish(harness, "answer three")
      #expect(harness.transcript.messages.map(\.text) == ["one", "answer one", "three", "answer three"])
      harness.transcript.showAlternative(of: harness.transcript.messages[2].id, offset: -1)
      #expect(harness.transcript.messages.map(\.text) == ["one", "answer one", "two", "answer two"])
    }
  }

  @Test func branching_copies_the_path_into_a_new_conversation() async throws {
    try await withHarness { harness in
      harness.transcript.send("one")
      try await finish(harness, "answer one")
      harness.transcript.send("two")
      try await finish(harness, "answer two")
      let copy = try #require(harness.transcript.branch(at: harness.transcript.messages[1].id))
      let twin = TranscriptModel(copy, store: harness.store, engines: harness.engines)
      #expect(twin.messages.map(\.text) == ["one", "answer one"])
      twin.send("three")
      #expect(harness.engine.lastMessages.map(\.content) == ["one", "answer one", "three"])
      #expect(harness.transcript.messages.map(\.text) == ["one", "answer one", "two", "answer two"])
      twin.stop()
      #expect(await eventually { !twin.isAnswering })
    }
  }

  @Test func an_answer_that_the_program_did_not_live_to_finish_counts_as_stopped() async throws {
    try await withHarness { harness in
      harness.transcript.send("Hello")
      let conversation = try #require(harness.store.conversation(harness.transcript.id))
      let reopened = TranscriptModel(conversation, store: harness.store, engines: harness.engines)
      #expect(reopened.messages.last?.state == .stopped && !reopened.isAnswering)
      harness.transcript.stop()
      #expect(await eventually { !harness.transcript.isAnswering })
    }
  }

  @Test func a_message_during_an_answer_is_not_sent() async throws {
    try await withHarness { harness in
      let composer = ComposerModel()
      composer.text = "  one \n"
      composer.send(in: harness.transcript)
      #expect(composer.text.isEmpty && harness.transcript.messages[0].text == "one")
      composer.text = "two"
      #expect(!composer.canSend(in: harness.transcript))
      composer.send(in: harness.transcript)
      #expect(composer.text == "two" && harness.transcript.messages.count == 2)
      try await finish(harness, "answer")
      composer.edit(harness.transcript.messages[0])
      #expect(composer.text == "one")
      composer.cancelEditing()
      #expect(composer.text == "two")
      composer.edit(harness.transcript.messages[0])
      composer.text = "uno"
      composer.send(in: harness.transcript)
      #expect(composer.text == "two" && harness.transcript.messages.map(\.text) == ["uno", ""])
      harness.transcript.stop()
      #expect(await eventually { !harness.transcript.isAnswering })
    }
  }
}
