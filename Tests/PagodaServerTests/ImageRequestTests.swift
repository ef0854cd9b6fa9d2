// Images in requests of every API, with a tiny random model that has a vision tower: tokens, refusals by name, remarks.
import Foundation
import PagodaKit
import PagodaServer
import Testing

@Suite(.ownThread) struct ImageRequestTests {
  private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures")
  private static let starting = Task {
    let engine = try await Engine.load(
      .folder(fixtures.appending(path: "vision/chat")),
      options: EngineOptions(device: .cpu, maximumModelLength: 512))
    var options = ServerOptions()
    options.port = 0
    options.modelNames = ["tiny-vision"]
    return try Server.start(engine, options: options)
  }

  private func base64(_ name: String) throws -> String {
    try Data(contentsOf: Self.fixtures.appending(path: "images/\(name)")).base64EncodedString()
  }

  private func url(_ name: String) throws -> String {
    "data:image/\(name.hasSuffix("jpg") ? "jpeg" : "png");base64,\(try base64(name))"
  }

  private func chat(_ part: String, _ more: String = "") -> String {
    #"{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"},\#(part)]}],"max_tokens":2\#(more)}"#
  }

  private func openAI(_ url: String, _ more: String = "") -> String {
    #"{"type":"image_url","image_url":{"url":"\#(url)"\#(more)}}"#
  }

  @Test func every_api_reads_the_same_image() async throws {
    let server = try await Self.starting.value
    let photo = try url("plain.jpg")
    let text = try server.post("/v1/chat/completions", Shared.chat("Hi", #","max_tokens":2"#)).json
    let plain = try #require(text["usage"]?["prompt_tokens"]?.intValue)
    #expect(text["usage"]?["prompt_tokens_details"]?["image_tokens"] == nil)
    let expected = plain + 6 + 2  // 3 x 2 tokens between <|vision_start|> and <|vision_end|>

    let openAI = try server.post("/v1/chat/completions", chat(openAI(photo)))
    #expect(openAI.status == 200)
    #expect(openAI.json["usage"]?["prompt_tokens"]?.intValue == expected)
    #expect(openAI.json["usage"]?["prompt_tokens_details"]?["image_tokens"]?.intValue == 6)

    let item =
      #"[{"role":"user","content":[{"type":"input_text","text":"Hi"},{"type":"input_image","image_url":"\#(photo)"}]}]"#
    let responses = try server.post("/v1/responses", #"{"input":\#(item),"max_output_tokens":2}"#)
    #expect(responses.json["usage"]?["input_tokens"]?.intValue == expected)
    #expect(responses.json["usage"]?["input_tokens_details"]?["image_tokens"]?.intValue == 6)

    let source = #"{"type":"base64","media_type":"image/jpeg","data":"\#(try base64("plain.jpg"))"}"#
    let block = #"{"type":"image","source":\#(source)}"#
    let messages = try server.post("/v1/messages", chat(block))
    let counts = ["input_tokens", "cache_read_input_tokens"].compactMap { messages.json["usage"]?[$0]?.intValue }
    #expect(counts.reduce(0, +) == expected)
    let counted = try server.post("/v1/messages/count_tokens", chat(block))
    #expect(counted.json["input_tokens"]?.intValue == expected)

    let images = #""images":["\#(try base64("plain.jpg"))"],"stream":false,"options":{"num_predict":2}"#
    let ollama = try server.post(
      "/api/chat",
      #"{"model":"tiny-vision","messages":[{"role":"user","content":"Hi","images":["\#(try base64("plain.jpg"))"]}],"stream":false,"options":{"num_predict":2}}"#
    )
    #expect(ollama.json["prompt_eval_count"]?.intValue == expected)
    let generate = try server.post("/api/generate", #"{"model":"tiny-vision","prompt":"Hi",\#(images)}"#)
    #expect(generate.json["prompt_eval_count"]?.intValue == expected)
    let show = try server.post("/api/show", #"{"model":"tiny-vision"}"#)
    #expect(show.json["capabilities"]?.arrayValue?.contains(.string("vision")) == true)
  }

  @Test func an_image_in_the_result_of_a_tool_is_read() async throws {
    let server = try await Self.starting.value
    let part = openAI(try url("rgb.png"))
    let body = { (result: String) in
      #"{"messages":[{"role":"user","content":"Look"},{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"screen","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":\#(result)}],"max_tokens":2}"#
    }
    let with = try server.post("/v1/chat/completions", body("[\(part)]"))
    #expect(with.status == 200 && with.json["usage"]?["prompt_tokens_details"]?["image_tokens"]?.intValue == 6)
    let stream = try server.post(
      "/v1/chat/completions", chat(part, #","stream":true,"stream_options":{"include_usage":true}"#))
    #expect(stream.text.contains(#""image_tokens":6"#))
  }

  /// Each refusal names the field and the reason.
  @Test func what_cannot_be_read_is_a_400_that_says_why() async throws {
    let server = try await Self.starting.value
    let field = "messages[0].content[1].image_url.url"
    let refusals: [(part: String, words: [String])] = [
      (openAI("https://example.com/a.png"), [field, "data: URL"]),
      (openAI("data:image/png;base64,AAA*BBB="), [field]),
      (openAI("data:image/png,plain"), [field, "base64"]),
      (openAI("data:image/png;base64"), [field, "comma"]),
      (openAI("data:image/png;base64,\(try base64("refused/picture.gif"))"), [field, "GIF"]),
      (openAI("data:image/png;base64,\(try base64("refused/bomb.png"))"), [field, "the limit is"]),
      (openAI("data:image/png;base64,\(try base64("refused/half_of_rgb.png"))"), ["image 1", "truncated"]),
      (openAI(try url("rgb.png"), #","detail":"huge""#), ["messages[0].content[1].image_url.detail"]),
      (#"{"type":"image_url"}"#, ["messages[0].content[1].image_url is missing"]),
      (#"{"type":"input_audio"}"#, ["content[1].type", "reads text and images only"]),
      (#"{"type":"hologram"}"#, ["content[1].type", "reads text and images only"]),
      (#"{"type":"input_image","file_id":"f"}"#, ["file_id", "stores no files"]),
      (#"{"type":"image","source":{"type":"url","url":"http://a/b.png"}}"#, ["source.url", "data: URL"]),
      (#"{"type":"image","source":{"type":"file","file_id":"f"}}"#, ["source.type"]),
    ]
    for (part, words) in refusals {
      let answer = try server.post("/v1/chat/completions", chat(part))
      let message = answer.json["error"]?["message"]?.stringValue ?? ""
      #expect(answer.status == 400, "\(part.prefix(60)): \(message)")
      for word in words { #expect(message.contains(word), "\(part.prefix(60)): \(message)") }
    }
    let many = Array(repeating: openAI(try url("rgb.png")), count: 101).joined(separator: ",")
    #expect(
      try server.post("/v1/chat/completions", chat(many)).json["error"]?["code"]?.stringValue == "too_many_images")
    let system =
      #"{"messages":[{"role":"system","content":[\#(openAI(try url("rgb.png")))]},{"role":"user","content":"Hi"}]}"#
    let refused = try server.post("/v1/chat/completions", system)
    #expect(refused.status == 400 && refused.json["error"]?["code"]?.stringValue == "unsupported_media")
  }

  @Test func ignore_media_still_replaces_images_by_remarks() async throws {
    let server = try await Self.starting.value
    let answer = try server.post(
      "/v1/chat/completions", chat(openAI("https://example.com/a.png"), #","ignore_media":true"#))
    #expect(answer.status == 200 && answer.headers["x-pagoda-ignored-fields"] == "content.image_url")
    #expect(answer.json["usage"]?["prompt_tokens_details"]?["image_tokens"] == nil)
  }

  /// A later turn sends the image again; neither the tower nor the text model computes it twice.
  @Test func the_second_turn_finds_the_image_in_the_cache() async throws {
    let server = try await Self.starting.value
    let first =
      #"{"role":"user","content":[\#(openAI(try url("interlaced.png"))),{"type":"text","text":"What is this picture?"}]}"#
    let opening = try server.post("/v1/chat/completions", #"{"messages":[\#(first)],"max_tokens":2}"#)
    #expect(opening.status == 200)
    let later = #"{"role":"assistant","content":"A town."},{"role":"user","content":"Sure?"}"#
    let second = try server.post("/v1/chat/completions", #"{"messages":[\#(first),\#(later)],"max_tokens":2}"#)
    #expect(second.json["usage"]?["prompt_tokens_details"]?["cached_tokens"]?.intValue ?? 0 > 6)
  }
}
