// Schemas and formats of the wrong kind are refused with the field's name, also where the request would not use them.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct SchemaKindTests {
  private static let wrong = [#""text""#, "[]", "7"]

  private func expectRefused(_ path: String, _ body: String, naming field: String) async throws {
    let response = try await Shared.server.post(path, body)
    #expect(response.status == 400, "\(path) \(body): \(response.text.prefix(200))")
    // Ollama's errors are one text; those of the other APIs name a parameter or say it in the message.
    let message = response.error["message"]?.stringValue ?? response.error.stringValue ?? ""
    #expect(message.contains(field), "\(path) \(body): \(message)")
    if let param = response.error["param"]?.stringValue { #expect(param == field, "\(path) \(body)") }
  }

  /// A path, the members that make its request complete, and the field that holds the format.
  private static let holders = [
    ("/v1/chat/completions", #""messages":[{"role":"user","content":"x"}],"max_tokens":1"#, "response_format"),
    ("/v1/completions", #""prompt":"x","max_tokens":1"#, "response_format"),
    ("/v1/responses", #""input":"x","max_output_tokens":1"#, "text.format"),
    ("/v1/messages", #""messages":[{"role":"user","content":"x"}],"max_tokens":1"#, "output_format"),
    ("/v1/messages", #""messages":[{"role":"user","content":"x"}],"max_tokens":1"#, "output_config.format"),
    ("/v1/messages/count_tokens", #""messages":[{"role":"user","content":"x"}]"#, "output_config.format"),
  ]

  private func body(_ given: String, _ field: String, _ format: String) -> String {
    let names = field.split(separator: ".")
    let value = names.reversed().reduce(format) { #"{"\#($1)":\#($0)}"# }
    return "{\(given),\(value.dropFirst())"
  }

  @Test(arguments: ["text", "json_object", "json_schema"])
  func schemas_of_the_wrong_kind_are_refused_in_every_type_of_format(type: String) async throws {
    for (path, given, field) in Self.holders {
      for wrong in Self.wrong {
        let flat = #"{"type":"\#(type)","schema":\#(wrong)}"#
        try await expectRefused(path, body(given, field, flat), naming: field + ".schema")
        let wrapped = #"{"type":"\#(type)","json_schema":{"name":"a","schema":\#(wrong)}}"#
        try await expectRefused(path, body(given, field, wrapped), naming: field + ".json_schema.schema")
        let beside = #"{"type":"\#(type)","json_schema":{"schema":{}},"schema":\#(wrong)}"#
        try await expectRefused(path, body(given, field, beside), naming: field + ".schema")
        let holder = #"{"type":"\#(type)","json_schema":\#(wrong)}"#
        try await expectRefused(path, body(given, field, holder), naming: field + ".json_schema")
      }
    }
  }

  @Test func both_places_of_anthropics_format_are_read() async throws {
    let user = #""messages":[{"role":"user","content":"x"}],"max_tokens":1,"output_format":{"type":"text"}"#
    for (config, field) in [
      (#"{"format":{"type":"json_schema","schema":[]}}"#, "output_config.format.schema"),
      (#"{"format":"json"}"#, "output_config.format"), (#"{"effort":7}"#, "output_config.effort"),
      ("[]", "output_config"),
    ] {
      try await expectRefused("/v1/messages", #"{\#(user),"output_config":\#(config)}"#, naming: field)
    }
  }

  @Test func parameters_of_the_wrong_kind_are_refused_for_tools_that_may_not_be_called() async throws {
    let user = #""messages":[{"role":"user","content":"x"}]"#
    for wrong in Self.wrong {
      let function = #"{"name":"f","parameters":\#(wrong)}"#
      for (path, body, field) in [
        (
          "/v1/chat/completions",
          #"{\#(user),"tools":[{"type":"function","function":\#(function)}],"tool_choice":"none"}"#,
          "tools[0].function.parameters"
        ),
        (
          "/v1/chat/completions", #"{\#(user),"functions":[\#(function)],"function_call":"none"}"#,
          "functions[0].parameters"
        ),
        (
          "/v1/responses", #"{"input":"x","tools":[{"type":"function",\#(function.dropFirst())],"tool_choice":"none"}"#,
          "tools[0].parameters"
        ),
        (
          "/v1/messages",
          #"{\#(user),"max_tokens":1,"tools":[{"name":"f","input_schema":\#(wrong)}],"tool_choice":{"type":"none"}}"#,
          "tools[0].input_schema"
        ),
        (
          "/api/chat", #"{"model":"pagoda-mini","tools":[{"type":"function","function":\#(function)}]}"#,
          "tools[0].function.parameters"
        ),
        ("/tokenize", #"{"prompt":"x","tools":[{"function":\#(function)}]}"#, "tools[0].function.parameters"),
      ] {
        try await expectRefused(path, body, naming: field)
      }
    }
  }

  @Test(arguments: ["/api/chat", "/api/generate"])
  func ollamas_formats_of_the_wrong_kind_are_refused_also_without_a_prompt(path: String) async throws {
    for wrong in [#""text""#, "[]", "7", "true"] {
      try await expectRefused(path, #"{"model":"pagoda-mini","format":\#(wrong)}"#, naming: "format")
    }
  }

  @Test(arguments: ["json", "regex", "choice", "grammar"])
  func constraints_of_vllm_are_not_switched_off_by_false(kind: String) async throws {
    let body = Shared.chat("x", #","max_tokens":1,"structured_outputs":{"\#(kind)":false}"#)
    let refused = try await Shared.server.chat(body)
    #expect(
      refused.status == 400 && refused.error["param"]?.stringValue?.hasPrefix("structured_outputs") == true,
      "\(refused.text)")
    let flags = #","max_tokens":1,"structured_outputs":{"json_object":false,"disable_fallback":false}"#
    #expect(try await Shared.server.chat(Shared.chat("x", flags)).status == 200)
  }
}
