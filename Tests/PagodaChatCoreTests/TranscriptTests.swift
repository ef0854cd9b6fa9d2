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

  private func finish(_ house: Harness, _ text: String, _ reason: FinishReason = .stop) async throws {
    #expect(await eventually { !house.engine.state.withLock { $0.continuations.isEmpty } })
    house.engine.say(text, reason)
    #expect(await eventually { !house.transcript.isAnswering })
  }

  @Test func an_answer_grows_and_is_kept_with_its_statistics() async throws {
    try await withHarness { house in
      house.transcript.settings.instructions = "Be brief."
      house.transcript.send("What is the capital of France?")
      #expect(house.transcript.isAnswering && house.transcript.messages.count == 2)
      house.engine.answer.yield(.reasoning("hm"))
      house.engine.answer.yield(.text("Par"))
      #expect(await eventually { house.transcript.messages.last?.text == "Par" })
      #expect(house.transcript.messages.last?.state == .streaming)
      try await finish(house, "is")
      let last = try #require(house.transcript.messages.last)
      #expect(last.text == "Paris" && last.reasoning == "hm" && last.state == .complete && last.modelName == "scripted")
      #expect(
        last.stats?.tokensPerSecond == 2 && last.stats?.secondsToFirstToken == 0.5 && last.stats?.cachedTokens == 4)
      #expect(house.engine.lastMessages == [.system("Be brief."), .user("What is the capital of France?")])
      #expect(house.transcript.conversation.title == "What is the capital of France?")
      let stored = house.store.messages(of: house.transcript.id).path(to: house.transcript.conversation.leafID)
      #expect(stored.map(\.text) == ["What is the capital of France?", "Paris"])
    }
  }

  @Test func stopping_cancels_the_request_and_keeps_what_came() async throws {
    try await withHarness { house in
      house.transcript.send("Count.")
      house.engine.answer.yield(.text("One, two"))
      #expect(await eventually { house.transcript.messages.last?.text == "One, two" })
      house.transcript.stop()
      #expect(await eventually { !house.transcript.isAnswering })
      #expect(house.engine.state.withLock { $0.cancelled } == 1)
      #expect(house.transcript.messages.last?.state == .stopped && house.transcript.failure == nil)
      #expect(house.store.messages(of: house.transcript.id).all.last?.text == "One, two")
      house.transcript.send("Go on.")
      #expect(house.engine.lastMessages.map(\.content) == ["Count.", "One, two", "Go on."])
      house.transcript.stop()
    }
  }

  @Test func a_failure_is_shown_with_its_cause_and_can_be_tried_again() async throws {
    try await withHarness { house in
      house.transcript.send("Hello")
      house.engine.answer.finish(throwing: PagodaError.contextOverflow("9000 tokens are more than 4096"))
      #expect(await eventually { !house.transcript.isAnswering })
      #expect(house.transcript.failure?.cause == "9000 tokens are more than 4096")
      #expect(house.transcript.failure?.advice?.contains("new chat") == true)
      #expect(house.transcript.messages.last?.state == .failed("9000 tokens are more than 4096"))
      house.transcript.regenerate()
      #expect(house.transcript.failure == nil)
      try await finish(house, "Hi")
      #expect(house.transcript.messages.map(\.text) == ["Hello", "Hi"])
    }
  }

  /// The text of an answer grows in place: it is reallocated only when it doubles, not with each token.
  @Test func a_token_does_not_copy_the_answer() async throws {
    try await withHarness { house in
      house.transcript.send("Hello")
      var (moves, copies, address) = (0, 0, UInt(0))
      var shown: MarkdownBlocks?
      for _ in 0..<10_000 {
        house.transcript.take(.text(" word"), into: house.transcript.messages[1].id)
        let now = house.transcript.messages[1].text.utf8.withContiguousStorageIfAvailable {
          UInt(bitPattern: $0.baseAddress)
        }
        moves += now == address ? 0 : 1
        address = now ?? 0
        let next = house.transcript.shownBlocks(of: house.transcript.messages[1])
        if let shown, shown.storage !== next.storage { copies += 1 }
        shown = next
      }
      #expect(house.transcript.messages[1].text.utf8.count == 50_000)
      #expect(moves < 64 && copies == 0, "\(moves) \(copies)")
      #expect(house.transcript.shownBlocks(of: house.transcript.messages[1]).count > 1)
      try await finish(house, ".")
      let whole = house.transcript.shownBlocks(of: house.transcript.messages[1])
      #expect(whole.count == 1)  // again
      #expect(house.transcript.shownBlocks(of: house.transcript.messages[1]).storage === whole.storage)  // parsed once
    }
  }

  /// However often a growing answer is saved, the total written is proportional to its length.
  @Test func saving_an_answer_as_it_grows_costs_as_much_as_its_length() async throws {
    func written(tokens: Int) async throws -> Int {
      var size = 0
      try await withHarness { house in
        house.transcript.savingInterval = .zero
        house.transcript.send("Count.")
        for _ in 0..<tokens { house.engine.answer.yield(.text(" word")) }
        try await finish(house, ".")
        size = try Data(contentsOf: house.store.url).count
      }
      return size
    }
    let (half, whole) = (try await written(tokens: 400), try await written(tokens: 800))
    #expect(half > 10 * 400 * 5)  // it is saved often enough
    #expect(whole < half * 22 / 10, "\(half) \(whole)")
  }

  @Test func without_a_model_the_question_is_kept_and_the_cause_is_said() async throws {
    try await withHarness(isLoaded: false) { house in
      house.transcript.send("Hello")
      #expect(!house.transcript.isAnswering && house.transcript.failure?.cause == "No model is loaded.")
      #expect(house.store.messages(of: house.transcript.id).all.map(\.text) == ["Hello"])
    }
  }

  @Test func an_answer_cut_off_says_so() async throws {
    try await withHarness { house in
      house.transcript.send("Hello")
      try await finish(house, "Once upon", .length)
      #expect(house.transcript.messages.last?.state == .cutOff)
    }
  }

  @Test func regenerating_keeps_the_earlier_answer_as_an_alternative() async throws {
    try await withHarness { house in
      house.transcript.send("Hello")
      try await finish(house, "first")
      house.transcript.regenerate()
      try await finish(house, "second")
      #expect(house.engine.lastMessages.map(\.content) == ["Hello"])
      let last = try #require(house.transcript.messages.last)
      #expect(last.text == "second")
      #expect(try #require(house.transcript.alternative(of: last.id)) == (2, 2))
      house.transcript.showAlternative(of: last.id, offset: -1)
      #expect(house.transcript.messages.last?.text == "first")
      house.transcript.showAlternative(of: try #require(house.transcript.messages.last).id, offset: -1)
      #expect(house.transcript.messages.last?.text == "first")
      let reopened = TranscriptModel(
        try #require(house.store.conversation(house.transcript.id)), store: house.store, engines: house.engines)
      #expect(reopened.messages.map(\.text) == ["Hello", "first"])
    }
  }

  @Test func editing_begins_another_path_and_the_old_one_stays() async throws {
    try await withHarness { house in
      house.transcript.send("one")
      try await finish(house, "answer one")
      house.transcript.send("two")
      try await finish(house, "answer two")
      house.transcript.edit(house.transcript.messages[2].id, to: "three")
      #expect(house.engine.lastMessages.map(\.content) == ["one", "answer one", "three"])
      try await finish(house, "answer three")
      #expect(house.transcript.messages.map(\.text) == ["one", "answer one", "three", "answer three"])
      house.transcript.showAlternative(of: house.transcript.messages[2].id, offset: -1)
      #expect(house.transcript.messages.map(\.text) == ["one", "answer one", "two", "answer two"])
    }
  }

  @Test func branching_copies_the_path_into_a_new_conversation() async throws {
    try await withHarness { house in
      house.transcript.send("one")
      try await finish(house, "answer one")
      house.transcript.send("two")
      try await finish(house, "answer two")
      let copy = try #require(house.transcript.branch(at: house.transcript.messages[1].id))
      let twin = TranscriptModel(copy, store: house.store, engines: house.engines)
      #expect(twin.messages.map(\.text) == ["one", "answer one"])
      twin.send("three")
      #expect(house.engine.lastMessages.map(\.content) == ["one", "answer one", "three"])
      #expect(house.transcript.messages.map(\.text) == ["one", "answer one", "two", "answer two"])
      twin.stop()
      #expect(await eventually { !twin.isAnswering })
    }
  }

  @Test func an_answer_that_the_program_did_not_live_to_finish_counts_as_stopped() async throws {
    try await withHarness { house in
      house.transcript.send("Hello")
      let conversation = try #require(house.store.conversation(house.transcript.id))
      let reopened = TranscriptModel(conversation, store: house.store, engines: house.engines)
      #expect(reopened.messages.last?.state == .stopped && !reopened.isAnswering)
      house.transcript.stop()
      #expect(await eventually { !house.transcript.isAnswering })
    }
  }

  @Test func a_message_during_an_answer_is_not_sent() async throws {
    try await withHarness { house in
      let composer = ComposerModel()
      composer.text = "  one \n"
      composer.send(in: house.transcript)
      #expect(composer.text.isEmpty && house.transcript.messages[0].text == "one")
      composer.text = "two"
      #expect(!composer.canSend(in: house.transcript))
      composer.send(in: house.transcript)
      #expect(composer.text == "two" && house.transcript.messages.count == 2)
      try await finish(house, "answer")
      composer.edit(house.transcript.messages[0])
      #expect(composer.text == "one")
      composer.cancelEditing()
      #expect(composer.text == "two")
      composer.edit(house.transcript.messages[0])
      composer.text = "uno"
      composer.send(in: house.transcript)
      #expect(composer.text == "two" && house.transcript.messages.map(\.text) == ["uno", ""])
      house.transcript.stop()
      #expect(await eventually { !house.transcript.isAnswering })
    }
  }
}
