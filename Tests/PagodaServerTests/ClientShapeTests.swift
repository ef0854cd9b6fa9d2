// What clients of the different APIs expect around an answer: media, long conversations, headers, model lists, paths.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct ClientShapeTests {
  @Test(arguments: ["image_url", "input_audio", "file"])
  func media_are_refused_unless_the_request_ignores_them(type: String) async throws {
    let server = try await Shared.server
    let parts = #"[{"type":"text","text":"Look: "},{"type":"\#(type)","\#(type)":{}}]"#
    func ask(_ server: Server, _ more: String) throws -> HTTPClient.Response {
      try server.chat(#"{"messages":[{"role":"user","content":\#(parts)}],"max_tokens":2\#(more)}"#)
    }
    let refused = try ask(server, "")
    #expect(refused.status == 400 && refused.error["param"]?.stringValue?.hasPrefix("messages[0].content[1].") == true)
    #expect(refused.error["message"]?.stringValue?.contains(type) == true)
    let ignored = try ask(server, #","ignore_media":true"#)
    #expect(ignored.status == 200 && ignored.headers["x-pagoda-ignored-fields"] == "content.\(type)")
    let lenient = try await Shared.start { $0.ignoresMedia = true }
    #expect(try ask(lenient, "").headers["x-pagoda-ignored-fields"] == "content.\(type)")
    #expect(try ask(lenient, #","ignore_media":false"#).status == 400)
    await lenient.shutDown()
  }

  @Test(arguments: [
    #""name":{}"#, #""tool_call_id":7"#, #""reasoning_content":[]"#, #""tool_calls":{}"#, #""tool_calls":[{"id":"a"}]"#,
    #""tool_calls":[{"id":"a","type":{},"function":{"name":"f"}}]"#,
    #""tool_calls":[{"id":"a","type":"other","function":{"name":"f"}}]"#,
  ])
  func members_of_the_wrong_kind_are_refused_in_any_role(member: String) async throws {
    let server = try await Shared.server
    for role in ["developer", "user", "assistant"] {
      let messages = #""messages":[{"role":"\#(role)","content":"Hi",\#(member)}]"#
      for (path, more) in [("/v1/chat/completions", #","max_tokens":1"#), ("/tokenize", "")] {
        let refused = try server.post(path, "{\(messages)\(more)}")
        #expect(refused.status == 400 && refused.error["param"]?.stringValue?.hasPrefix("messages[0].") == true)
      }
    }
  }

  @Test func media_of_the_other_apis_are_refused_too() async throws {
    let server = try await Shared.server
    let image = try server.post(
      "/v1/messages",
      #"{"messages":[{"role":"user","content":[{"type":"image","source":{}}]}],"max_tokens":2}"#)
    #expect(image.status == 400 && image.error["message"]?.stringValue?.contains("messages[0].content[0]") == true)
    let input = #"[{"role":"user","content":[{"type":"input_file","filename":"a.pdf"}]}]"#
    #expect(try server.post("/v1/responses", #"{"input":\#(input)}"#).status == 400)
    let read = try server.post("/v1/responses", #"{"input":\#(input),"ignore_media":true,"max_output_tokens":2}"#)
    #expect(read.status == 200 && read.headers["x-pagoda-ignored-fields"] == "content.input_file")
  }

  @Test func a_prompt_beyond_the_template_is_too_long() async throws {
    let server = try await Shared.server
    let long = try server.chat(Shared.chat(String(repeating: "word ", count: 900_000)))
    #expect(
      long.status == 400 && long.error["code"]?.stringValue == "context_length_exceeded", "\(long.text.prefix(300))")
    let text = String(repeating: "word ", count: 900_000)
    let tool = #"{"type":"function","function":{"name":"f","description":"\#(text)"}}"#
    let tools = try server.chat(Shared.chat("Hello!", #","tools":[\#(tool)]"#))
    #expect(tools.error["code"]?.stringValue == "context_length_exceeded", "\(tools.text.prefix(300))")
    let counted = try server.post(
      "/v1/messages/count_tokens", #"{"model":"pagoda-mini","messages":[{"role":"user","content":"\#(text)"}]}"#)
    #expect(counted.status == 400 && counted.text.contains("maximum context length"), "\(counted.text.prefix(300))")
  }

  @Test func truncation_drops_the_oldest_turns() async throws {
    let server = try await Shared.server
    let context = try await Shared.engine.info.plan.maximumModelLength
    let words = String(repeating: "one two three four five ", count: 20)
    let turns = (0..<(context / 50)).map { index in
      #"{"role":"user","content":"\#(index) \#(words)"},{"role":"assistant","content":"Yes."}"#
    }
    let input = "[" + turns.joined(separator: ",") + #",{"role":"user","content":"What is the capital of France?"}]"#
    func ask(_ truncation: String) throws -> HTTPClient.Response {
      try server.post(
        "/v1/responses",
        #"{"input":\#(input),"instructions":"Be brief.","truncation":"\#(truncation)","max_output_tokens":8}"#)
    }
    let refused = try ask("disabled")
    #expect(refused.status == 400 && refused.error["code"]?.stringValue == "context_length_exceeded")
    let cut = try ask("auto")
    #expect(cut.status == 200 && cut.json["truncation"]?.stringValue == "auto", "\(cut.text.prefix(300))")
    let used = Int(cut.json["usage"]?["input_tokens"]?.intValue ?? 0)
    #expect(
      used + 8 <= context && used > context / 2, "cut in steps of a quarter of the context, not to \(used) tokens")
    let single = #"{"input":"\#(String(repeating: "word ", count: 2 * context))","truncation":"auto"}"#
    #expect(try server.post("/v1/responses", single).error["code"]?.stringValue == "context_length_exceeded")
  }

  @Test func the_sampled_token_is_among_the_top_ones() async throws {
    let server = try await Shared.server
    let body = #"{"prompt":"Once","max_tokens":40,"temperature":2,"seed":3,"logprobs":1,"ignore_eos":true}"#
    let logprobs = try server.post("/v1/completions", body).json["choices"]?.arrayValue?.first?["logprobs"]
    let tokens = logprobs?["tokens"]?.arrayValue?.compactMap(\.stringValue) ?? []
    let tops = logprobs?["top_logprobs"]?.arrayValue ?? []
    #expect(tokens.count == tops.count && tokens.count > 20)
    for (token, top) in zip(tokens, tops) { #expect(top[token] != nil, "\(token) is not in \(top.text)") }
    #expect(tops.contains { $0.objectValue?.count == 2 }, "a token that was not the likeliest")
  }

  @Test func clients_of_anthropic_get_its_shapes() async throws {
    let server = try await Shared.server
    let version = ["anthropic-version": "2023-06-01"]
    let list = try server.get("/v1/models", headers: version)
    let model = try #require(list.json["data"]?.arrayValue?.first)
    #expect(model["type"]?.stringValue == "model" && model["display_name"]?.stringValue == "pagoda-mini")
    #expect(model["created_at"]?.stringValue?.hasSuffix("Z") == true && list.json["has_more"] == .bool(false))
    #expect(list.json["last_id"]?.stringValue != nil && list.headers["request-id"] == list.headers["x-request-id"])
    #expect(try server.get("/v1/models/pagoda-mini", headers: version).json["type"]?.stringValue == "model")
    let missing = try server.get("/v1/models/nope", headers: version)
    #expect(missing.json["type"]?.stringValue == "error" && missing.error["type"]?.stringValue == "not_found_error")
    #expect(try server.get("/v1/models").json["object"]?.stringValue == "list")
    let message = try server.post("/v1/messages", "{}")
    #expect(message.headers["request-id"] != nil && message.json["type"]?.stringValue == "error")
    #expect(try server.get("/health").headers["request-id"] == nil)
  }

  @Test func the_version_in_paths_is_optional() async throws {
    let server = try await Shared.start { $0.apiKeys = ["secret"] }
    let key = ["Authorization": "Bearer secret"]
    #expect(
      try server.post("/chat/completions", Shared.chat("Hello!", #","max_tokens":2"#), headers: key).status == 200)
    #expect(try server.get("/models", headers: key).json["object"]?.stringValue == "list")
    #expect(try server.get("/models/pagoda-mini", headers: key).json["id"]?.stringValue == "pagoda-mini")
    #expect(try server.post("/responses", #"{"input":"x","max_output_tokens":2}"#, headers: key).status == 200)
    #expect(try server.get("/models").status == 401)
    for path in ["/nope", "/v1/v1/models", "//v1/models"] { #expect(try server.get(path, headers: key).status == 404) }
    let speech = try server.post("/v1/audio/speech", "{}", headers: key)
    #expect(speech.status == 404 && speech.error["message"]?.stringValue?.contains("/v1/audio/") == true)
    #expect(speech.error["code"]?.stringValue == "unsupported_endpoint")
    await server.shutDown()
  }
}
