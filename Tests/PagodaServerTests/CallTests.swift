// Forced and strict calls are valid whatever the model would have preferred to generate.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct CallTests {
  private static let parameters =
    #"{"type":"object","properties":{"level":{"type":"integer","minimum":3,"maximum":7},"mode":{"enum":["fast","slow"]},"#
    + #""note":{"type":"string","maxLength":8},"deep":{"type":"object","properties":{"on":{"type":"boolean"}},"#
    + #""required":["on"]}},"required":["level","mode","deep"]}"#

  private static func tool(_ name: String, strict: Bool = false, _ parameters: String = parameters) -> String {
    #"{"type":"function","function":{"name":"\#(name)","strict":\#(strict),"parameters":\#(parameters)}}"#
  }

  private func calls(_ response: HTTPClient.Response) -> [(name: String, arguments: JSONValue?)] {
    let message = response.json["choices"]?.arrayValue?.first?["message"]
    return (message?["tool_calls"]?.arrayValue ?? []).map { call in
      (
        call["function"]?["name"]?.stringValue ?? "",
        JSONValue.parse(call["function"]?["arguments"]?.stringValue ?? "")
      )
    }
  }

  private func check(_ arguments: JSONValue?, _ comment: String) {
    #expect((3...7).contains(arguments?["level"]?.intValue ?? 0), "\(comment)")
    #expect(["fast", "slow"].contains(arguments?["mode"]?.stringValue), "\(comment)")
    #expect(arguments?["note"] == nil || (arguments?["note"]?.stringValue?.count ?? 9) <= 8, "\(comment)")
    #expect(arguments?["deep"]?["on"]?.boolValue != nil, "\(comment)")
  }

  @Test func forced_calls_of_unfamiliar_tools_come_and_fit_their_schemas() async throws {
    let server = try await Shared.server
    let tools = "[\(Self.tool("frobnicate_widget")),\(Self.tool("zorp_lookup_v2"))]"
    for (index, question) in (Shared.questions + Shared.questions + Shared.questions).prefix(20).enumerated() {
      let choice = index % 2 == 0 ? "\"required\"" : #"{"type":"function","function":{"name":"zorp_lookup_v2"}}"#
      let more = #","tools":\#(tools),"tool_choice":\#(choice),"max_tokens":400,"parallel_tool_calls":false"#
      let response = try server.chat(Shared.chat(question, more + #","temperature":1,"seed":\#(index)"#))
      let calls = calls(response)
      #expect(calls.count == 1, "\(response.text)")
      for call in calls {
        #expect(["frobnicate_widget", "zorp_lookup_v2"].contains(call.name))
        if index % 2 == 1 { #expect(call.name == "zorp_lookup_v2") }
        check(call.arguments, response.text)
      }
      #expect(response.json["choices"]?.arrayValue?.first?["finish_reason"]?.stringValue == "tool_calls")
      #expect(response.answer == nil, "markup is no content: \(response.text)")
    }
  }

  @Test func a_forced_call_comes_after_the_thinking() async throws {
    let server = try await Shared.server
    let more = #","tools":[\#(Self.tool("zorp"))],"tool_choice":"required","reasoning_effort":"high","max_tokens":600"#
    let response = try server.chat(Shared.chat("What is 12 plus 30?", more + #","thinking_budget":40"#))
    #expect(response.status == 200)
    let message = response.json["choices"]?.arrayValue?.first?["message"]
    #expect(message?["reasoning_content"]?.stringValue?.isEmpty == false, "\(response.text)")
    #expect(calls(response).first?.name == "zorp", "\(response.text)")
    check(calls(response).first?.arguments, response.text)
  }

  @Test func strict_arguments_hold_when_the_model_calls_by_itself() async throws {
    let server = try await Shared.server
    let only = #"{"type":"object","properties":{"city":{"enum":["Oslo"]}},"required":["city"]}"#
    func ask(_ strict: Bool) throws -> HTTPClient.Response {
      try server.chat(
        Shared.chat("What is the weather in Paris?", #","tools":[\#(Self.tool("get_weather", strict: strict, only))]"#))
    }
    #expect(calls(try ask(false)).first?.arguments?["city"]?.stringValue == "Paris")
    #expect(calls(try ask(true)).first?.arguments?["city"]?.stringValue == "Oslo")
    let text = try server.chat(
      Shared.chat("What is the capital of France?", #","tools":[\#(Self.tool("get_weather", strict: true, only))]"#))
    #expect(text.answer?.contains("Paris") == true, "text stays free: \(text.text)")
  }

  @Test func a_format_and_tools_go_together() async throws {
    let server = try await Shared.server
    let format =
      #","response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","properties":"#
      + #"{"n":{"type":"integer"}},"required":["n"]}}}"#
    for question in Shared.questions.prefix(4) + ["What is the weather in Paris?"] {
      let more = #","tools":[\#(Self.tool("get_weather"))],"max_tokens":300"#
      let response = try server.chat(Shared.chat(question, more + format))
      #expect(response.status == 200, "\(response.text)")
      if calls(response).isEmpty {
        #expect(JSONValue.parse(response.answer ?? "")?["n"]?.intValue != nil, "\(response.text)")
      }
      #expect(response.answer?.contains("tool_call") != true)
    }
  }

  @Test func a_strict_schema_that_cannot_be_enforced_is_named() async throws {
    let server = try await Shared.server
    let odd = Self.tool("odd", strict: true, #"{"type":"object","not":{"required":["x"]}}"#)
    let response = try server.chat(Shared.chat("Hello!", #","tools":[\#(odd)],"tool_choice":"required""#))
    #expect(response.status == 400 && response.error["param"]?.stringValue == "tools", "\(response.text)")
    #expect(response.error["message"]?.stringValue?.contains("'odd'") == true)
  }
}
