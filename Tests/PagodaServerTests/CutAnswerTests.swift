// Truncated answers, and answers begun by the client: half a call is not a call, and the client's text is not repeated.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct CutAnswerTests {
  private static let function =
    #"{"name":"get_weather","description":"Current weather of a city","parameters":{"type":"object","#
    + #""properties":{"city":{"type":"string"}},"required":["city"]}}"#
  private static let tools = #"[{"type":"function","function":\#(function)}]"#
  private static let question = "What is the weather in Paris?"

  /// The answer limited to as many tokens as it takes for its call to begin but not to end.
  private func cut(_ server: Server, _ path: String, _ body: (Int) -> String) throws -> HTTPClient.Response {
    var last: HTTPClient.Response?
    for limit in 8...40 {
      let response = try server.post(path, body(limit))
      #expect(response.status == 200, "\(response.text)")
      if response.text.contains("get_weather") && response.text.contains("cut before the call") { last = response }
    }
    return try #require(last)
  }

  @Test func a_cut_call_is_never_a_call() async throws {
    let server = try await Shared.server
    for limit in 1...40 {
      let response = try server.chat(
        Shared.chat(Self.question, #","tools":\#(Self.tools),"max_tokens":\#(limit)"#))
      let choice = response.json["choices"]?.arrayValue?.first
      let calls = choice?["message"]?["tool_calls"]?.arrayValue ?? []
      if calls.isEmpty {
        #expect(choice?["finish_reason"]?.stringValue == "length", "\(limit): \(response.text)")
      } else {
        let arguments = calls[0]["function"]?["arguments"]?.stringValue ?? ""
        #expect(arguments == #"{"city":"Paris"}"#, "\(limit): \(response.text)")
      }
    }
    let whole = try cut(server, "/v1/chat/completions") {
      Shared.chat(Self.question, #","tools":\#(Self.tools),"max_tokens":\#($0)"#)
    }
    let message = whole.json["choices"]?.arrayValue?.first?["message"]
    #expect(message?["rejected_tool_calls"]?.arrayValue?.first?["name"]?.stringValue == "get_weather")
    let stream = try cut(server, "/v1/chat/completions") {
      Shared.chat(Self.question, #","tools":\#(Self.tools),"stream":true,"max_tokens":\#($0)"#)
    }
    let finishes = stream.events.compactMap { $0["choices"]?.arrayValue?.first?["finish_reason"]?.stringValue }
    #expect(finishes == ["length"])
  }

  @Test func responses_and_messages_say_that_a_call_was_cut() async throws {
    let server = try await Shared.server
    var (items, stops) = (Set<String>(), Set<String>())
    for limit in 1...40 {
      for isStream in [false, true] {
        let tail = #""stream":\#(isStream)"#
        let responses = try server.post(
          "/v1/responses",
          #"{"input":"\#(Self.question)","max_output_tokens":\#(limit),"tools":[{"type":"function",\#(Self.function.dropFirst())],\#(tail)}"#
        )
        let response = isStream ? responses.events.last?["response"] : responses.json
        for item in response?["output"]?.arrayValue ?? [] where item["type"]?.stringValue == "function_call" {
          let status = item["status"]?.stringValue ?? ""
          items.insert(status + (isStream ? " streamed" : ""))
          #expect((status == "completed") == (item["arguments"]?.stringValue == #"{"city":"Paris"}"#))
          if status == "incomplete" { #expect(response?["status"]?.stringValue == "incomplete") }
        }
        let schema = Self.function.replacing("\"parameters\"", with: "\"input_schema\"")
        let messages = try server.post(
          "/v1/messages",
          #"{"messages":[{"role":"user","content":"\#(Self.question)"}],"max_tokens":\#(limit),"tools":[\#(schema)],\#(tail)}"#
        )
        let stop =
          isStream
          ? messages.events.compactMap { $0["delta"]?["stop_reason"]?.stringValue }.last
          : messages.json["stop_reason"]?.stringValue
        stops.insert(stop ?? "none")
        for block in messages.json["content"]?.arrayValue ?? [] where block["type"]?.stringValue == "tool_use" {
          #expect(block["input"] == .object(["city": .string("Paris")]))
          #expect(stop == "tool_use")
        }
      }
    }
    #expect(items == ["completed", "incomplete", "completed streamed", "incomplete streamed"])
    #expect(stops == ["max_tokens", "tool_use"])
  }

  @Test func the_last_message_is_continued_and_not_repeated() async throws {
    let server = try await Shared.server
    let begun =
      #"[{"role":"user","content":"What is the capital of France?"},{"role":"assistant","content":"The capital of"}]"#
    let fresh = try server.chat(Shared.chat("What is the capital of France?")).answer ?? ""
    #expect(fresh.hasPrefix("The capital of France"))
    let chat = try server.chat(
      #"{"messages":\#(begun),"continue_final_message":true,"add_generation_prompt":false}"#)
    #expect("The capital of" + (chat.answer ?? "") == fresh, "\(chat.text)")
    let messages = try server.post("/v1/messages", #"{"messages":\#(begun),"max_tokens":50}"#)
    let text = messages.json["content"]?.arrayValue?.first?["text"]?.stringValue ?? ""
    #expect("The capital of" + text == fresh, "\(messages.text)")
    let own = try server.chat(#"{"messages":\#(begun)}"#)
    #expect(own.answer?.hasPrefix(" France") == false, "a turn of its own: \(own.text)")
  }

  @Test func cut_answers_that_cannot_be_continued_are_refused() async throws {
    let server = try await Shared.server
    let user = #"{"role":"user","content":"Hello!"}"#
    let begun = #"{"role":"assistant","content":"He"}"#
    for (messages, more) in [
      (user, #","continue_final_message":true"#), (begun, #","continue_final_message":true"#),
      (user + "," + begun, #","continue_final_message":true,"add_generation_prompt":true"#),
      (user, #","add_generation_prompt":false"#),
      (user + "," + begun, #","continue_final_message":true,"response_format":{"type":"json_object"}"#),
    ] {
      let response = try server.chat("{\"messages\":[\(messages)]\(more)}")
      #expect(response.status == 400 && response.error["param"]?.stringValue != nil, "\(more): \(response.text)")
    }
  }

  @Test func reasoning_is_counted() async throws {
    let server = try await Shared.server
    let on = try server.chat(Shared.chat("What is 12 plus 30?", #","reasoning_effort":"high""#)).json["usage"]
    let count = on?["completion_tokens_details"]?["reasoning_tokens"]?.intValue ?? 0
    #expect(count > 0 && count < on?["completion_tokens"]?.intValue ?? 0)
    let responses = try server.post(
      "/v1/responses", #"{"input":"What is 12 plus 30?","reasoning":{"effort":"high"}}"#)
    #expect(
      responses.json["usage"]?["output_tokens_details"]?["reasoning_tokens"]?.intValue == count, "\(responses.text)")
    let off = try server.chat(Shared.chat("What is 12 plus 30?", #","reasoning_effort":"none""#)).json["usage"]
    #expect(off?["completion_tokens_details"]?["reasoning_tokens"]?.intValue == 0)
  }

  @Test func responses_have_log_probabilities() async throws {
    let server = try await Shared.server
    let whole = try server.post("/v1/responses", #"{"input":"Hello!","top_logprobs":2}"#)
    let part = whole.json["output"]?.arrayValue?.last?["content"]?.arrayValue?.first
    let tokens = part?["logprobs"]?.arrayValue ?? []
    #expect(tokens.compactMap { $0["token"]?.stringValue }.joined() == part?["text"]?.stringValue)
    #expect(tokens.first?["top_logprobs"]?.arrayValue?.count == 2)
    let stream = try server.post("/v1/responses", #"{"input":"Hello!","top_logprobs":2,"stream":true}"#)
    let deltas = stream.events.filter { $0["type"]?.stringValue == "response.output_text.delta" }
    #expect(deltas.flatMap { $0["logprobs"]?.arrayValue ?? [] } == tokens)
  }
}
