// Answers over HTTP: the engine's output, whole and streamed, for one client and for many.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct AnswerTests {
  @Test func chat_returns_the_answer_of_the_engine() async throws {
    let (server, engine) = (try await Shared.server, try await Shared.engine)
    for question in Shared.questions {
      let direct = try await engine.respond(to: Request(question))
      let response = try server.chat(Shared.chat(question))
      #expect(response.answer == direct.text)
      let usage = response.json["usage"]
      #expect(usage?["completion_tokens"]?.intValue == Int64(direct.completion.usage.completionTokens))
      #expect(usage?["prompt_tokens_details"]?["cached_tokens"]?.intValue != nil)
    }
  }

  @Test func a_stream_spells_the_whole_answer() async throws {
    let server = try await Shared.server
    // A separate salt for each: other tests send the same request concurrently, and one would hit the other's cache.
    func ask(_ salt: String, _ more: String = "") throws -> HTTPClient.Response {
      try server.chat(
        Shared.chat(Shared.questions[4], #","logprobs":true,"top_logprobs":2,"cache_salt":"\#(salt)"\#(more)"#))
    }
    let whole = try ask("whole")
    let stream = try ask("streamed", #","stream":true,"stream_options":{"include_usage":true}"#)
    #expect(stream.headers["content-type"]?.hasPrefix("text/event-stream") == true)
    #expect(stream.text.hasSuffix("data: [DONE]\n\n"))
    #expect(stream.streamedAnswer == whole.answer)
    let finishes = stream.events.compactMap { $0["choices"]?.arrayValue?.first?["finish_reason"]?.stringValue }
    #expect(finishes == ["stop"])
    // The number of profitable drafts differs from run to run; everything else is the same.
    for key in ["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details"] {
      #expect(whole.json["usage"]?[key] != nil && stream.events.last?["usage"]?[key] == whole.json["usage"]?[key])
    }
    let streamed = stream.events.flatMap { $0["choices"]?.arrayValue?.first?["logprobs"]?["content"]?.arrayValue ?? [] }
    #expect(streamed == whole.json["choices"]?.arrayValue?.first?["logprobs"]?["content"]?.arrayValue)
    #expect(streamed.compactMap { $0["token"]?.stringValue }.joined() == whole.answer)
  }

  @Test func a_model_without_a_tokenizer_streams_its_tokens() throws {
    let body = Array(#"{"prompt":[1,2],"stream":true,"max_tokens":4}"#.utf8)
    let request = try CompletionRequest(body, models: ServedModels(names: ["m"]), vocabularySize: 10)
    let format = CompletionFormat(request: request, tokens: TokenTexts(tokenizer: nil, endOfText: []))
    var encoder = format.encoder(promptTokens: 2)
    let chunk = encoder.encode(.event(choice: 0, .success(.token(TokenInfo(id: 3), isReasoning: false))))
    #expect(chunk.text.contains("\"text\":\"\"") && !chunk.isLast)
  }

  @Test func prompts_are_read_once_for_each_salt() async throws {
    let engine = try await Engine.load(.mini)  // a separate one: other tests would evict its prefixes
    var options = ServerOptions()
    options.port = 0
    let server = try Server.start(engine, options: options)
    let question = "what is the capital of \(UInt32.random(in: 0...UInt32.max))?"
    func cached(_ more: String) throws -> Int64? {
      try server.chat(Shared.chat(question, more)).json["usage"]?["prompt_tokens_details"]?["cached_tokens"]?.intValue
    }
    let first = try #require(try cached(#","cache_salt":"a""#))
    let again = try #require(try cached(#","cache_salt":"a""#))
    #expect(again > first)
    #expect(try cached(#","cache_salt":"b""#) == 0)
    await server.shutDown()
    await engine.shutDown()
  }

  @Test func reasoning_comes_apart_from_the_answer() async throws {
    let server = try await Shared.server
    let more = #","chat_template_kwargs":{"enable_thinking":true}"#
    let whole = try server.chat(Shared.chat("What is 12 plus 30?", more))
    let message = whole.json["choices"]?.arrayValue?.first?["message"]
    #expect(message?["reasoning_content"]?.stringValue?.isEmpty == false)
    #expect(message?["content"]?.stringValue?.contains("think>") == false)
    let effort = try server.chat(Shared.chat("What is 12 plus 30?", #","reasoning_effort":"high""#))
    #expect(effort.json["choices"]?.arrayValue?.first?["message"] == message)
    let off = try server.chat(Shared.chat("What is 12 plus 30?", #","reasoning_effort":"none""#))
    #expect(off.json["choices"]?.arrayValue?.first?["message"]?["reasoning_content"] == nil)
  }

  @Test func stop_strings_apply_to_the_answer_and_not_to_the_thinking() async throws {
    let server = try await Shared.server
    let question = "What is 12 plus 30?"
    let more = #","chat_template_kwargs":{"enable_thinking":true}"#
    func message(_ stop: String) throws -> JSONValue {
      try server.chat(Shared.chat(question, more + stop)).json["choices"]?.arrayValue?.first?["message"] ?? .null
    }
    let whole = try message("")
    let (thoughts, answer) = (whole["reasoning_content"]?.stringValue ?? "", whole["content"]?.stringValue ?? "")
    let word = try #require(thoughts.split(separator: " ").first { answer.contains($0) }.map(String.init))
    let stopped = try message(#","stop":[\#(JSONValue.string(word).text),"</think>"]"#)
    #expect(stopped["reasoning_content"]?.stringValue == thoughts)
    let kept = answer.range(of: word).map { String(answer[..<$0.lowerBound]) }
    #expect(
      stopped["content"]?.stringValue?.trimmingCharacters(in: .whitespaces)
        == kept?.trimmingCharacters(in: .whitespaces))
    let claude = try server.post(
      "/v1/messages",
      #"{"messages":[{"role":"user","content":"\#(question)"}],"max_tokens":500,"thinking":{"type":"enabled"},"#
        + #""stop_sequences":[\#(JSONValue.string(word).text)]}"#)
    let blocks = claude.json["content"]?.arrayValue ?? []
    #expect(blocks.first?["thinking"]?.stringValue == thoughts, "\(claude.text)")
    #expect(claude.json["stop_reason"]?.stringValue == "stop_sequence")
  }

  @Test func several_answers_differ_by_seed_and_repeat() async throws {
    let server = try await Shared.server
    let body = Shared.chat("Write a 2-sentence apple story.", #","n":3,"seed":7,"temperature":1.5"#)
    let choices = try server.chat(body).json["choices"]?.arrayValue
    #expect(choices?.count == 3)
    #expect(Set(choices?.compactMap { $0["message"]?["content"]?.stringValue } ?? []).count > 1)
    #expect(try server.chat(body).json["choices"]?.arrayValue == choices)
  }

  @Test func completions_take_text_ids_and_lists() async throws {
    let server = try await Shared.server
    let text = "The capital of France is"
    let ids = try server.post("/tokenize", #"{"prompt":"\#(text)"}"#).json["tokens"]?.arrayValue ?? []
    #expect(
      try server.post("/detokenize", "{\"tokens\":\(JSONValue.array(ids).text)}").json["prompt"]?.stringValue == text)
    func texts(_ prompt: String, _ more: String = "") throws -> [String] {
      let response = try server.post("/v1/completions", "{\"prompt\":\(prompt),\"max_tokens\":4\(more)}")
      return response.json["choices"]?.arrayValue?.compactMap { $0["text"]?.stringValue } ?? []
    }
    let one = try texts("\"\(text)\"")
    #expect(one.count == 1)
    #expect(try texts(JSONValue.array(ids).text) == one)
    #expect(try texts("[\"\(text)\",\"\(text)\"]") == one + one)
    #expect(try texts("[\(JSONValue.array(ids).text)]") == one)
    #expect(try texts("\"\(text)\"", ",\"echo\":true") == [text + one[0]])
  }

  @Test func system_messages_are_taken_anywhere() async throws {
    let server = try await Shared.server
    let response = try server.chat(
      #"{"messages":[{"role":"system","content":"Be brief."},{"role":"developer","content":"Be kind."},"#
        + #"{"role":"user","content":"What is the capital of France?"},{"role":"system","content":"Now."}]}"#)
    #expect(response.status == 200, "\(response.text)")
  }

  /// A separate engine: in the shared one, other tests' requests come and go.
  @Test(.timeLimit(.minutes(30))) func sixty_four_clients_get_the_answers_of_one() async throws {
    let engine = try await Engine.load(.mini)
    var options = ServerOptions()
    options.port = 0
    let server = try Server.start(engine, options: options)
    let alone = try Shared.questions.map { try server.chat(Shared.chat($0)).answer ?? "" }
    let slowest = Box(0.0)
    let isDone = Box(false)
    let prober = background { () throws -> Void in
      while !isDone.value {
        let begin = monotonicSeconds()
        #expect(try server.get("/health").status == 200)
        slowest.value = max(slowest.value, monotonicSeconds() - begin)
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
    let answers = try await together(64) { index in
      let question = Shared.questions[index % Shared.questions.count]
      let stream = index % 2 == 0
      let response = try server.chat(Shared.chat(question, stream ? ",\"stream\":true" : ""))
      let finishes = response.events.compactMap { $0["choices"]?.arrayValue?.first?["finish_reason"]?.stringValue }
      #expect(!stream || finishes.count == 1)
      return stream ? response.streamedAnswer : response.answer ?? ""
    }
    isDone.value = true
    try await prober.value
    for (index, answer) in answers.enumerated() { #expect(answer == alone[index % alone.count]) }
    #expect(
      try await eventually {
        let now = engine.statistics
        return now.freeBlocks == now.blocks && now.freeStateSlots == now.stateSlots && server.load.isIdle
      })
    print("health under load: at most \(Int(slowest.value * 1000)) ms")
    await server.shutDown()
    await engine.shutDown()
  }
}

/// A value that several threads may set.
final class Box<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get { lock.withLock { stored } }
    _modify {  // a change by several threads, such as `+=`, loses nothing
      lock.lock()
      defer { lock.unlock() }
      yield &stored
    }
  }
}
