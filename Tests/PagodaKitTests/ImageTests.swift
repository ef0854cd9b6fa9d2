// Images in messages: tokens, usage, caches, saved chats and refusals, with a tiny random model that has a vision tower.
import Foundation
import PagodaKit
import Testing

@Suite struct ImageTests {
  static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
    path: "Fixtures")
  private static let loading = Task { try await load() }

  private static func load() async throws -> Engine {
    try await Engine.load(
      .folder(fixtures.appending(path: "vision/chat")),
      options: EngineOptions(device: .cpu, maximumModelLength: 512))
  }

  private func image(_ name: String, detail: ImageInput.Detail = .high) throws -> ImageInput {
    try ImageInput(contentsOf: Self.fixtures.appending(path: "images/\(name)"), detail: detail)
  }

  private func request(_ messages: [Message]) -> Request {
    var sampling = SamplingParameters(temperature: 0)
    sampling.maximumTokens = 6
    sampling.ignoresEndOfText = true
    return Request(messages: messages, sampling: sampling, thinking: false)
  }

  /// 21 x 13 pixels become 24 x 16, which are 3 x 2 tokens of 8 x 8.
  @Test func an_image_becomes_its_number_of_tokens() async throws {
    let engine = try await Self.loading.value
    #expect(engine.info.readsImages && engine.info.imageRefusal == nil && engine.info.visionParameterCount > 0)
    let photo = try image("plain.jpg")
    #expect(try photo.pixelSize == (21, 13))
    #expect(try engine.tokenCount(of: photo) == 6)
    #expect(try image("turned_6.jpg").pixelSize == (13, 21))
    let text = try engine.tokenCount(of: request([.user("What is this?")]))
    let both = try engine.tokenCount(of: request([.user("What is this?", images: [photo])]))
    #expect(both == text + 6 + 2)  // <|vision_start|> and <|vision_end|>
    let answer = try await engine.respond(to: request([.user("What is this?", images: [photo])]))
    #expect(answer.usage.promptTokens == both && answer.usage.imageTokens == 6)
    #expect(answer.tokens.count == 6)
    #expect(try await engine.respond(to: request([.user("Hi")])).usage.imageTokens == 0)
  }

  @Test func images_stand_where_their_parts_are() async throws {
    let engine = try await Self.loading.value
    let (a, b) = (try image("rgb.png"), try image("lossless.webp"))
    let parts = Message(role: .user, parts: [.text("First "), .image(a), .text(" then "), .image(b), .text(".")])
    #expect(parts.content == "First  then ." && parts.images == [a, b])
    let ids = try engine.encode(.messages([parts]), thinking: false)
    #expect(ids.images.map(\.tokenCount) == [6, 6])
    let between = ids.images[1].firstToken - ids.images[0].firstToken - 6
    #expect(between == " then ".utf8.count + 2)
    #expect(ids.images.map(\.image) == [a, b])
  }

  /// The text of a message never becomes a placeholder.
  @Test func text_that_spells_a_placeholder_stays_text() async throws {
    let engine = try await Self.loading.value
    let spelled = "<|vision_start|><|image_pad|><|vision_end|>"
    let photo = try image("gray.png")
    let encoded = try engine.encode(.messages([.user(spelled, images: [photo])]), thinking: false)
    #expect(encoded.images.count == 1)
    #expect(encoded.ids.count { $0 == encoded.ids[encoded.images[0].firstToken] } == 6)
  }

  /// The tower runs once for the same picture, also in another turn; another picture changes the answer's prefix.
  @Test func a_second_turn_reuses_the_image() async throws {
    let engine = try await Self.load()
    let first = Message.user("What is in this picture of the town?", images: [try image("rgb.png")])
    let answer = try await engine.respond(to: request([first]))
    let second = try await engine.respond(to: request([first, .assistant(answer.text), .user("And now?")]))
    #expect(engine.statistics.images.computed == 1 && engine.statistics.images.hits == 1)
    #expect(second.usage.cachedTokens > 6 && second.usage.imageTokens == 6)
    let other = Message.user("What is in this picture of the town?", images: [try image("cmyk.jpg")])
    let third = try await engine.respond(to: request([other]))
    #expect(engine.statistics.images.computed == 2)
    #expect(third.usage.matchedTokens < second.usage.matchedTokens)
  }

  @Test func low_detail_limits_the_tokens() async throws {
    let engine = try await Self.loading.value
    let large = try image("large.png")
    #expect(try large.pixelSize == (640, 480))
    #expect(try engine.tokenCount(of: large) <= 64)
    var low = large
    low.detail = .low
    #expect(try engine.tokenCount(of: low) <= engine.tokenCount(of: large))
  }

  @Test func what_cannot_be_read_is_refused_by_name() async throws {
    let engine = try await Self.loading.value
    let mini = try await Engine.load(.mini, options: EngineOptions(device: .cpu, vision: false))
    let photo = try image("plain.jpg")
    let text = await #expect(throws: PagodaError.self) {
      try await mini.respond(to: request([.user("Hi", images: [photo])]))
    }
    #expect(text?.code == "unsupported" && text?.message.contains("reads text only") == true)
    for (name, reason) in [("picture.gif", "GIF"), ("half_of_rgb.png", "truncated"), ("bomb.png", "the limit is")] {
      let file = Self.fixtures.appending(path: "images/refused/\(name)")
      let broken = ImageInput(data: try Data(contentsOf: file))
      let error = await #expect(throws: PagodaError.self) {
        try await engine.respond(to: request([.user("Hi", images: [photo, broken])]))
      }
      #expect(error?.message.hasPrefix("image 2: ") == true && error?.message.contains(reason) == true)
    }
    let system = Message(role: .system, parts: [.image(photo)])
    #expect(throws: PagodaError.self) { try engine.tokenCount(of: request([system, .user("Hi")])) }
    #expect(throws: PagodaError.self) { try ImageInput(contentsOf: URL(string: "https://example.com/a.png")!) }
    #expect(throws: PagodaError.self) { try ImageInput(contentsOf: URL(filePath: "/nowhere/a.png")) }
  }

  @Test func messages_with_images_are_saved_and_older_readers_see_the_text() throws {
    let message = Message(
      role: .user, parts: [.text("Look: "), .image(ImageInput(data: Data([1, 2, 3]), detail: .low)), .text("nice")])
    let data = try JSONEncoder().encode(Transcript(messages: [message, .assistant("Yes.")]))
    let read = try JSONDecoder().decode(Transcript.self, from: data)
    #expect(read.messages == [message, .assistant("Yes.")])
    let json = try #require(JSONValue.parse(String(decoding: data, as: UTF8.self)))
    let saved = try #require(json["messages"]?.arrayValue)
    #expect(saved[0]["content"]?.stringValue == "Look: nice")
    #expect(saved[1]["parts"] == nil)
  }
}
