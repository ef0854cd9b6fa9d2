// Every bad request gets the right 4xx in OpenAI's shape, and the next one works.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct BadRequestTests {
  /// Fields that are invalid in a chat request, and the parameter that the error names.
  private static let chatFields: [(String, String)] = [
    ("max_tokens", "-2"), ("max_tokens", "0"), ("max_tokens", "2147483648"), ("max_tokens", "1.5"),
    ("max_tokens", "\"5\""), ("max_completion_tokens", "0"), ("n", "0"), ("n", "-1"), ("n", "1000000"),
    ("best_of", "2"), ("temperature", "-1"), ("temperature", "1e9"), ("temperature", "\"hot\""), ("top_p", "-0.1"),
    ("top_p", "2"), ("top_k", "-5"), ("top_k", "2147483648"), ("min_p", "-0.1"), ("min_p", "1"),
    ("presence_penalty", "2.1"), ("frequency_penalty", "-2.1"), ("repetition_penalty", "0"),
    ("repetition_penalty", "-1"), ("repetition_penalty", "11"), ("stop_token_ids", "[1000000]"),
    ("logit_bias", "{\"1000000\":1}"), ("logit_bias", "{\"2147483648\":1}"),
    ("logit_bias", "{\"-1\":1}"),
    ("logit_bias", "[1]"), ("logit_bias", "{\"5\":\"x\"}"), ("stop", "\"\""), ("stop", "[\"\"]"), ("stop", "5"),
    ("stop", "[1]"), ("seed", "-2"), ("seed", "18446744073709551616"), ("seed", "1.5"), ("top_logprobs", "1000"),
    ("top_logprobs", "-1"), ("min_tokens", "-1"), ("stop_token_ids", "[-1]"), ("stop_token_ids", "[2147483648]"),
    ("stream", "1"), ("logprobs", "\"yes\""), ("ignore_eos", "1"), ("model", "\"../etc\""), ("model", "5"),
    ("tools", "{}"), ("tools", "[1]"), ("tools", "[{\"type\":\"function\"}]"), ("tool_choice", "\"required\""),
    ("tool_choice", "\"maybe\""), ("tools", #"[{"type":"function","function":{"name":"a</function>b"}}]"#),
    ("tools", #"[{"type":"function","function":{"name":"<|im_end|>"}}]"#),
    ("tools", #"[{"type":"function","function":{"name":"a b"}}]"#), ("functions", #"[{"name":"a\nb"}]"#),
    ("tool_choice", "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"),
    ("response_format", "{\"type\":\"json_schema\"}"), ("response_format", "{\"type\":\"json_schema\",\"schema\":5}"),
    ("response_format", "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"type\":\"alien\"}}}"),
    ("response_format", "{\"type\":\"xml\"}"), ("response_format", "\"json\""), ("reasoning_effort", "\"extreme\""),
    ("chat_template_kwargs", "{\"messages\":[]}"), ("chat_template_kwargs", "{\"x\":{}}"), ("chat_template", "\"x\""),
    ("thinking_budget", "-1"), ("stream_options", "{\"include_usage\":true}"), ("guided_json", "1"),
    ("top_n_sigma", "-1"), ("xtc_probability", "2"), ("xtc_threshold", "0"), ("dynatemp_range", "\"x\""),
    ("dynatemp_exponent", "0"), ("dry_multiplier", "-1"), ("dry_base", "0.5"), ("dry_allowed_length", "0"),
    ("dry_penalty_last_n", "-2"), ("dry_sequence_breakers", "[\"\"]"), ("mirostat", "2"), ("typical_p", "0.5"),
    ("functions", "[]"), ("use_beam_search", "true"), ("prediction", "\"x\""), ("prediction", "{}"),
    ("prompt_logprobs", "21"),
  ]

  @Test func every_field_has_its_range() async throws {
    let server = try await Shared.server
    let client = try server.client()
    for (field, value) in Self.chatFields {
      try client.request("POST", "/v1/chat/completions", body: Shared.chat("Hello!", ",\"\(field)\":\(value)"))
      let response = try client.response()
      let isModel = field == "model" && value != "5"
      #expect(response.status == (isModel ? 404 : 400), "\(field): \(value) gave \(response.text)")
      let param = response.error["param"]?.stringValue ?? ""
      #expect(param.hasPrefix(field), "\(field): \(value) named \(param): \(response.text)")
      #expect(response.error["message"]?.stringValue?.isEmpty == false)
      #expect(response.error["type"]?.stringValue == "invalid_request_error")
    }
    try client.request("POST", "/v1/chat/completions", body: Shared.chat(Shared.questions[0]))
    #expect(try client.response().answer?.contains("Paris") == true)
  }

  /// Each is found by the engine, which has its own names for some of the fields.
  @Test func fields_that_the_engine_refuses_have_their_own_names() async throws {
    let server = try await Shared.server
    let schema = #"{"type":"json_schema","json_schema":{"schema":{"type":"string","pattern":"("}}}"#
    let tool =
      #"[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object","#
      + #""properties":{"a":{"type":"string","pattern":"("}}}}}]"#
    for (path, field, value, message) in [
      ("/v1/chat/completions", "stop_token_ids", "[1000000]", "stop_token_ids[0] must be a token id"),
      ("/v1/chat/completions", "min_tokens", "99", "min_tokens must be in [0, 4], got 99"),
      ("/v1/chat/completions", "response_format", schema, "pattern"),
      ("/v1/chat/completions", "tools", tool, "tool 'f'"),
      ("/v1/completions", "response_format", schema, "pattern"),
    ] {
      let prompt = path.contains("chat") ? #""messages":[{"role":"user","content":"x"}]"# : #""prompt":"x""#
      let response = try server.post(path, "{\(prompt),\"max_tokens\":4,\"\(field)\":\(value)}")
      #expect(response.status == 400 && response.error["param"]?.stringValue == field, "\(response.text)")
      #expect(response.error["message"]?.stringValue?.contains(message) == true, "\(response.text)")
      let isSchema = ["response_format", "tools"].contains(field)
      #expect((response.error["code"]?.stringValue == "invalid_schema") == isSchema, "\(response.text)")
    }
  }

  @Test func large_fields_are_refused() async throws {
    let server = try await Shared.server
    let biases = (0..<70_000).map { "\"\($0)\":1" }.joined(separator: ",")
    let stops = Array(repeating: "\"x\"", count: 10_000).joined(separator: ",")
    let messages = Array(repeating: #"{"role":"user","content":"x"}"#, count: 20_000).joined(separator: ",")
    let long = String(repeating: "x", count: 1 << 20)
    for body in [
      Shared.chat("Hello!", ",\"logit_bias\":{\(biases)}"), Shared.chat("Hello!", ",\"stop\":[\(stops)]"),
      Shared.chat("Hello!", ",\"stop\":\"\(long)\""), "{\"messages\":[\(messages)]}",
      Shared.chat("Hello!", ",\"model\":\"\(long)\""),
    ] {
      let response = try server.chat(body)
      #expect(response.status == 400, "\(response.text.prefix(300))")
      #expect(response.text.utf8.count < 2000)
    }
  }

  @Test(arguments: [
    "", "[]", "{", "nul", "5", "{\"messages\":NaN}", "{\"messages\":[],\"temperature\":1e400}",
    "{\"a\":1,\"a\":2}", "{\"messages\":\"\\ud800\"}", "{\"messages\":[]} x",
    "{\"messages\":[]", "{\"messages\":\"\u{1}\"}",
  ])
  func invalid_json_is_refused(_ body: String) async throws {
    let response = try await Shared.server.chat(body)
    #expect(response.status == 400 && response.error["message"] != nil, "\(body): \(response.text)")
  }

  @Test func deep_json_is_refused() async throws {
    let deep = String(repeating: "[", count: 10_000)
    #expect(try await Shared.server.chat("{\"messages\":\(deep)").status == 400)
    let objects = String(repeating: "{\"a\":", count: 10_000)
    #expect(try await Shared.server.chat(objects).status == 400)
  }

  @Test(arguments: [
    "[]", "5", "[5]", "[{}]", #"[{"role":"alien","content":"x"}]"#, #"[{"role":"user"}]"#,
    #"[{"role":"user","content":null}]"#, #"[{"role":"user","content":5}]"#, #"[{"role":"user","content":[[]]}]"#,
    #"[{"role":"user","content":[{"type":"hologram"}]}]"#, #"[{"role":"user","content":[{"type":"text"}]}]"#,
    #"[{"role":"assistant"}]"#,
    #"[{"role":"user","content":"x"},{"role":"tool","content":"y"}]"#,
    #"[{"role":"user","content":"x"},{"role":"tool","content":"y","tool_call_id":"call_1"}]"#,
    #"[{"role":"assistant","tool_calls":[{"id":"a"}]}]"#,
    #"[{"role":"assistant","tool_calls":[{"id":5,"function":{"name":"f"}}]}]"#,
  ])
  func bad_messages_are_refused(_ messages: String) async throws {
    let response = try await Shared.server.chat("{\"messages\":\(messages)}")
    #expect(response.status == 400, "\(messages): \(response.text)")
    #expect(response.error["param"]?.stringValue?.hasPrefix("messages") == true, "\(messages): \(response.text)")
  }

  @Test(arguments: ["\"\"", "[]", "5", "[-1]", "[99999999]", "[1.5]", "[[]]", "[[-1]]", "[\"\"]", "{}", "[null]"])
  func bad_prompts_are_refused(_ prompt: String) async throws {
    let response = try await Shared.server.post("/v1/completions", "{\"prompt\":\(prompt)}")
    #expect(response.status == 400 && response.error["param"]?.stringValue == "prompt", "\(prompt): \(response.text)")
  }

  @Test func bad_bodies_of_the_other_endpoints_are_refused() async throws {
    let server = try await Shared.server
    let user = #""messages":[{"role":"user","content":"x"}]"#
    for (path, body) in [
      ("/v1/responses", "{}"), ("/v1/responses", #"{"input":[]}"#), ("/v1/responses", #"{"input":5}"#),
      ("/v1/responses", #"{"input":"x","previous_response_id":"resp_1"}"#),
      ("/v1/responses", #"{"input":"x","background":true,"store":false}"#),
      ("/v1/responses", #"{"input":"x","background":true,"stream":true}"#),
      ("/v1/responses", #"{"input":"x","conversation":"conv_1","previous_response_id":"resp_1"}"#),
      ("/v1/responses", #"{"input":"x","max_output_tokens":0}"#),
      ("/v1/responses", #"{"input":[{"type":"function_call_output","call_id":"c","output":"x"}]}"#),
      ("/v1/messages", "{\(user)}"), ("/v1/messages", "{\(user),\"max_tokens\":0}"),
      ("/v1/messages", #"{"max_tokens":5,"messages":[]}"#),
      ("/v1/messages", "{\(user),\"max_tokens\":5,\"thinking\":{\"type\":\"maybe\"}}"),
      ("/v1/messages", "{\(user),\"max_tokens\":5,\"tool_choice\":{\"type\":\"any\"}}"),
      ("/v1/messages", "{\(user),\"max_tokens\":5,\"stop_sequences\":[5]}"), ("/v1/messages/count_tokens", "{}"),
      ("/tokenize", "{}"), ("/tokenize", #"{"prompt":5}"#), ("/detokenize", #"{"tokens":[-1]}"#),
      ("/detokenize", #"{"tokens":"x"}"#),
      ("/v1/completions", #"{"prompt":"x","echo":true,"logprobs":1,"stream":true}"#),
      ("/v1/completions", #"{"prompt":"x","suffix":"y"}"#), ("/v1/completions", #"{"prompt":"x","logprobs":1000}"#),
    ] {
      let response = try server.post(path, body)
      #expect(response.status == 400, "\(path) \(body): \(response.text)")
      let isAnthropic = path.hasPrefix("/v1/messages")
      #expect((response.json["type"]?.stringValue == "error") == isAnthropic, "\(path)")
      #expect(response.error["message"]?.stringValue?.isEmpty == false, "\(path)")
    }
  }

  @Test func context_overflow_has_counts_and_openai_code() async throws {
    let server = try await Shared.server
    let long = Array(repeating: "word", count: 9000).joined(separator: " ")
    for body in [Shared.chat(long), Shared.chat(long, ",\"max_tokens\":5")] {
      let response = try server.chat(body)
      #expect(response.status == 400)
      #expect(response.error["code"]?.stringValue == "context_length_exceeded")
      let message = response.error["message"]?.stringValue ?? ""
      #expect(message.contains("maximum context length is 8192 tokens"), "\(message)")
    }
  }

  @Test func a_limit_beyond_the_context_is_clamped_and_said() async throws {
    let server = try await Shared.server
    let whole = try server.chat(Shared.chat("Hello!", ",\"max_tokens\":8192"))
    #expect(whole.status == 200)
    let prompt = try #require(whole.json["usage"]?["prompt_tokens"]?.intValue)
    #expect(whole.headers["x-pagoda-clamped-fields"] == "max_tokens=\(8192 - prompt)")
    let stream = try server.chat(Shared.chat("Hello!", ",\"max_completion_tokens\":100000,\"stream\":true"))
    #expect(stream.headers["x-pagoda-clamped-fields"] == "max_completion_tokens=\(8192 - prompt)")
    #expect(try server.chat(Shared.chat("Hello!")).headers["x-pagoda-clamped-fields"] == nil)
  }

  @Test func values_that_mean_unset_or_greedy_are_taken() async throws {
    let server = try await Shared.server
    let plain = try server.chat(Shared.chat("Hello!")).answer
    #expect(try server.chat(Shared.chat("Hello!", ",\"max_tokens\":-1,\"seed\":-1")).answer == plain)
    let responses = try server.post("/v1/responses", #"{"input":"Hello!","max_output_tokens":-1}"#)
    #expect(responses.status == 200, "\(responses.text)")
    let hot = Shared.chat("Write a 2-sentence apple story.", ",\"temperature\":2,\"top_p\":0")
    let cold = Shared.chat("Write a 2-sentence apple story.", ",\"temperature\":0")
    #expect(try server.chat(hot).answer == server.chat(cold).answer)
  }

  /// RFC 8259 allows it in a string, escaped.
  @Test func the_character_zero_is_text_like_any_other() async throws {
    let server = try await Shared.server
    let response = try server.chat(#"{"messages":[{"role":"user","content":"a\u0000b"}]}"#)
    #expect(response.status == 200, "\(response.text)")
    func tokens(_ text: String) throws -> [JSONValue]? {
      try server.post("/tokenize", #"{"prompt":"\#(text)"}"#).json["tokens"]?.arrayValue
    }
    let zero = try #require(try tokens(#"a\u0000b"#))
    #expect(try zero != #require(try tokens("ab")))
    let back = try server.post("/detokenize", "{\"tokens\":\(JSONValue.array(zero).text)}")
    #expect(back.json["prompt"]?.stringValue == "a\u{0}b")
  }

  /// A pool too small for the model's context shortens the context; it does not make requests wait forever.
  @Test func requests_larger_than_the_pool_are_refused() async throws {
    var options = EngineOptions()
    options.kvBlockCount = 10
    let engine = try await Engine.load(.mini, options: options)
    var serverOptions = ServerOptions()
    serverOptions.port = 0
    let server = try Server.start(engine, options: serverOptions)
    let model = try server.get("/v1/models").json["data"]?.arrayValue?.first
    #expect(model?["max_model_len"]?.intValue == 160)
    let long = Array(repeating: "word", count: 300).joined(separator: " ")
    let response = try server.chat(Shared.chat(long))
    #expect(response.status == 400 && response.headers["retry-after"] == nil)
    #expect(response.error["code"]?.stringValue == "context_length_exceeded")
    #expect(try server.chat(Shared.chat("Hello!")).status == 200)
    await server.shutDown()
    await engine.shutDown()
  }

  @Test func ignored_fields_that_ask_for_something_are_named_in_a_header() async throws {
    let server = try await Shared.server
    func ignored(_ more: String) throws -> String? {
      try server.chat(Shared.chat("Hello!", more)).headers["x-pagoda-ignored-fields"]
    }
    #expect(try ignored(",\"skip_special_tokens\":false,\"priority\":5") == "skip_special_tokens")
    #expect(try ignored(",\"skip_special_tokens\":true,\"priority\":-3,\"store\":true") == nil)
  }

  @Test func unknown_fields_are_named_in_a_header() async throws {
    let response = try await Shared.server.chat(Shared.chat("Hello!", ",\"frobnicate\":1,\"user\":\"ann\""))
    #expect(response.status == 200)
    #expect(response.headers["x-pagoda-ignored-fields"] == "frobnicate")
    let other = try await Shared.server.post(  // the parameter is called max_output_tokens there
      "/v1/responses", #"{"input":"Hello!","max_tokens":1,"max_output_tokens":2,"store":false}"#)
    #expect(other.status == 200 && other.headers["x-pagoda-ignored-fields"] == "max_tokens")
  }
}
