// Tools that are no plain functions: the model sees them, calls have the client's shape, and others are refused by name.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct ToolKindTests {
  /// Codex's own.
  private static let patchGrammar = #"""
    start: begin_patch hunk+ end_patch
    begin_patch: "*** Begin Patch" LF
    end_patch: "*** End Patch" LF?

    hunk: add_hunk | delete_hunk | update_hunk
    add_hunk: "*** Add File: " filename LF add_line+
    delete_hunk: "*** Delete File: " filename LF
    update_hunk: "*** Update File: " filename LF change_move? change?

    filename: /(.+)/
    add_line: "+" /(.*)/ LF -> line

    change_move: "*** Move to: " filename LF
    change: (change_context | change_line)+ eof_line?
    change_context: ("@@" | "@@ " /(.+)/) LF
    change_line: ("+" | "-" | " ") /(.*)/ LF
    eof_line: "*** End of File" LF

    %import common.LF
    """#

  private func matches(_ grammar: String, _ text: String) throws -> Bool {
    let pattern = try NSRegularExpression(pattern: "^(?:\(try LarkGrammar.pattern(grammar)))$")
    let whole = NSRange(text.startIndex..., in: text)
    return pattern.firstMatch(in: text, range: whole)?.range == whole
  }

  @Test func grammars_without_recursion_become_expressions() throws {
    let patch =
      "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@ f\n-old\n+new\n*** Delete File: c\n*** End Patch"
    #expect(try matches(Self.patchGrammar, patch))
    #expect(try matches(Self.patchGrammar, "*** Begin Patch\n*** Add File: a\n+\n*** End Patch\n"))
    for wrong in ["", "*** Begin Patch\n*** End Patch", patch.replacing("*** End", with: "** End"), "x" + patch] {
      #expect(try !matches(Self.patchGrammar, wrong), "\(wrong)")
    }
    let other = #"""
      // a comment
      ?start: greeting ("," WS_INLINE NAME)~1..2 ["!"] | "bye"i
      greeting.2: "Hello" | "a".."c"
      NAME: /[A-Z][a-z\/]*/
      %import common.WS_INLINE
      %import common (INT, WORD)
      """#
    for text in ["Hello, Anna", "Hello, Anna, Ben!", "b, A/x", "BYE"] { #expect(try matches(other, text), "\(text)") }
    for text in ["Hello", "Hello, Anna, Ben, Cem", "d, Anna", "hello, Anna"] {
      #expect(try !matches(other, text), "\(text)")
    }
  }

  @Test func grammars_that_cannot_be_enforced_say_why() throws {
    let bad = [
      ("start: \"(\" start \")\" | \"x\"", "refers to itself"), ("a: \"x\"", "named start"),
      ("start: b", "no rule 'b'"),
      ("start: \"x\"\n%ignore /\\s/", "%ignore"), ("start: /x/i", "flags"), ("start: (\"x\"", "not closed"),
      ("start: \"x", "not closed"), ("start: \"\"", "empty"), ("%import python.NAME", "common"),
      ("start \"x\"", "colon"),
      ("start: a{b}", "'{'"),
      ("start: a a a a\na: b b b b b b\nb: c c c c c c\nc: /" + String(repeating: "x", count: 400) + "/", "bytes"),
    ]
    for (grammar, word) in bad {
      do {
        _ = try LarkGrammar.pattern(grammar)
        Issue.record("\(grammar) was translated")
      } catch let refusal as LarkGrammar.Refusal {
        #expect(refusal.message.contains(word), "\(grammar): \(refusal.message)")
      }
    }
  }

  /// Such grammars once kept a thread of the server busy for ever, or overflowed its stack.
  @Test func grammars_that_refer_to_rules_too_often_are_refused() throws {
    let doubled = (0..<40).map { "r\($0): r\($0 + 1) r\($0 + 1)" }.joined(separator: "\n") + "\nr40:"
    let chained = (0..<5000).map { "r\($0): r\($0 + 1)" }.joined(separator: "\n") + "\nr5000: \"x\""
    let repeated = (0..<60).map { "r\($0): r\($0 + 1)?" }.joined(separator: "\n") + "\nr60: \"x\""
    #expect(throws: LarkGrammar.Refusal.self) { try LarkGrammar.pattern("start: r0\n" + doubled) }
    #expect(throws: LarkGrammar.Refusal.self) { try LarkGrammar.pattern("start: r0\n" + chained) }
    #expect(try LarkGrammar.pattern("start: r0\n" + repeated).contains("x"))
  }

  /// `a)|(b` between `^(?:` and `)$` would allow any text that ends with b.
  @Test func expressions_that_leave_their_group_are_refused() async throws {
    let server = try await Shared.server
    for (definition, status) in [("a)|(b", 400), (#"a\\)(b)[)]"#, 200)] {
      let format = #"{"type":"grammar","syntax":"regex","definition":"\#(definition)"}"#
      let tool = #"{"type":"custom","name":"code","format":\#(format)}"#
      let answer = try server.post(
        "/v1/responses", #"{"input":"Hello!","tools":[\#(tool)],"tool_choice":"required","max_output_tokens":40}"#)
      #expect(answer.status == status, "\(definition): \(answer.text.prefix(300))")
    }
  }

  private static let code = #"{"type":"grammar","syntax":"regex","definition":"[ab]{3}-[0-9]"}"#

  @Test func custom_tools_of_chats_get_text() async throws {
    let server = try await Shared.server
    let tool = #"{"type":"custom","custom":{"name":"code","format":{"type":"grammar","grammar":\#(Self.code)}}}"#
    let more = #","tools":[\#(tool)],"tool_choice":{"type":"custom","custom":{"name":"code"}},"max_tokens":200"#
    let whole = try server.chat(Shared.chat("Hello!", more))
    let call = try #require(
      whole.json["choices"]?.arrayValue?.first?["message"]?["tool_calls"]?.arrayValue?.first, "\(whole.text)")
    let input = try #require(call["custom"]?["input"]?.stringValue)
    #expect(call["type"]?.stringValue == "custom" && call["function"] == nil)
    #expect(try Regex("[ab]{3}-[0-9]").wholeMatch(in: input) != nil, "\(input)")
    let stream = try server.chat(Shared.chat("Hello!", more + #","stream":true"#))
    let deltas = stream.events.compactMap {
      $0["choices"]?.arrayValue?.first?["delta"]?["tool_calls"]?.arrayValue?.first
    }
    #expect(deltas.compactMap { $0["custom"]?["input"]?.stringValue }.joined() == input)
    #expect(deltas.first?["custom"]?["name"]?.stringValue == "code" && deltas.first?["type"]?.stringValue == "custom")
    let turns =
      #"{"messages":[{"role":"user","content":"Hello!"},{"role":"assistant","tool_calls":[\#(call.text)]},"#
      + #"{"role":"tool","tool_call_id":\#(call["id"]?.text ?? ""),"content":"done"}],"tools":[\#(tool)],"max_tokens":4}"#
    #expect(try server.chat(turns).status == 200)
  }

  @Test(arguments: ["local_shell", "shell", "apply_patch", "custom"])
  func typed_tools_of_responses_are_answered_in_their_shape(type: String) async throws {
    let server = try await Shared.server
    let tool = type == "custom" ? #"{"type":"custom","name":"code","format":\#(Self.code)}"# : #"{"type":"\#(type)"}"#
    let choice = type == "custom" ? #"{"type":"custom","name":"code"}"# : #"{"type":"\#(type)"}"#
    // Lists and texts without a limit would be cut: the model is small.
    let more = #""tools":[\#(tool)],"tool_choice":\#(choice),"max_output_tokens":300"#
    let whole = try server.post("/v1/responses", #"{"input":"List the files.",\#(more)}"#)
    let item = try #require(whole.json["output"]?.arrayValue?.last, "\(whole.text)")
    let kind = type == "custom" ? "custom_tool_call" : "\(type)_call"
    #expect(item["type"]?.stringValue == kind && item["call_id"]?.stringValue?.hasPrefix("call_") == true)
    let stream = try server.post("/v1/responses", #"{"input":"List the files.","stream":true,\#(more)}"#)
    let added = stream.events.first { $0["type"]?.stringValue == "response.output_item.added" }
    #expect(added?["item"]?["type"]?.stringValue == kind)
    let names = stream.events.compactMap { $0["type"]?.stringValue }
    #expect(!names.contains { $0.contains("function_call") })
    #expect(names.contains("response.custom_tool_call_input.done") == (type == "custom"))
    guard item["status"]?.stringValue == "completed" else { return }
    switch type {
    case "custom": #expect(try Regex("[ab]{3}-[0-9]").wholeMatch(in: item["input"]?.stringValue ?? "") != nil)
    case "local_shell":
      #expect(item["action"]?["type"]?.stringValue == "exec" && item["action"]?["command"]?.arrayValue != nil)
    case "shell": #expect(item["action"]?["commands"]?.arrayValue != nil)
    default: #expect(item["operation"]?["path"]?.stringValue != nil && item["operation"]?["type"]?.stringValue != nil)
    }
    let id = item["call_id"]?.text ?? ""
    let output = type == "custom" ? "custom_tool_call_output" : "\(type)_call_output"
    let next =
      #"{"input":[{"role":"user","content":"List the files."},\#(item.text),{"type":"\#(output)","call_id":\#(id),"#
      + #""output":"a.txt"}],"tools":[\#(tool)],"max_output_tokens":4}"#
    let after = try server.post("/v1/responses", next)
    #expect(after.status == 200, "\(after.text)")
  }

  @Test func anthropics_tools_have_their_documented_inputs() async throws {
    let server = try await Shared.server
    func ask(_ tools: String, _ more: String = "") throws -> HTTPClient.Response {
      try server.post(
        "/v1/messages",
        #"{"messages":[{"role":"user","content":"List the files."}],"max_tokens":300,"tools":[\#(tools)]\#(more)}"#)
    }
    for (type, name) in [
      ("bash_20250124", "bash"), ("text_editor_20250728", "str_replace_based_edit_tool"), ("memory_20250818", "memory"),
    ] {
      let answer = try ask(
        #"{"type":"\#(type)","name":"\#(name)"}"#, #","tool_choice":{"type":"tool","name":"\#(name)"}"#)
      let block = try #require(answer.json["content"]?.arrayValue?.last, "\(answer.text)")
      if answer.json["stop_reason"]?.stringValue == "max_tokens" { continue }
      #expect(block["type"]?.stringValue == "tool_use" && block["name"]?.stringValue == name)
      let known = [
        "command", "restart", "path", "file_text", "old_str", "new_str", "insert_line", "insert_text", "view_range",
      ]
      let keys = block["input"]?.objectValue?.map(\.key) ?? []
      #expect(keys.allSatisfy { (known + ["old_path", "new_path"]).contains($0) }, "\(keys)")
    }
    func count(_ tools: String) throws -> Int64 {
      try server.post("/v1/messages/count_tokens", #"{"messages":[{"role":"user","content":"x"}],"tools":[\#(tools)]}"#)
        .json["input_tokens"]?.intValue ?? 0
    }
    #expect(try count(#"{"type":"bash_20250124","name":"bash"}"#) > count("") + 20, "the model sees the tool")
  }

  @Test func tools_of_other_servers_are_refused_or_listed() async throws {
    let server = try await Shared.server
    for type in ["mcp", "file_search", "code_interpreter", "computer_use_preview", "computer", "hologram"] {
      let answer = try server.post("/v1/responses", #"{"input":"x","tools":[{"type":"\#(type)"}]}"#)
      #expect(answer.status == 400 && answer.error["param"]?.stringValue == "tools[0].type")
      #expect(answer.error["message"]?.stringValue?.contains("'\(type)'") == true)
    }
    for type in ["computer_20250124", "code_execution_20250522"] {
      let answer = try server.post(
        "/v1/messages",
        #"{"messages":[{"role":"user","content":"x"}],"max_tokens":4,"tools":[{"type":"\#(type)","name":"x"}]}"#)
      #expect(answer.status == 400 && answer.text.contains(type))
    }
    let listed = try server.post(
      "/v1/responses", #"{"input":"x","max_output_tokens":4,"tools":[{"type":"web_search"}]}"#)
    #expect(listed.status == 200 && listed.headers["x-pagoda-ignored-fields"] == "tools.web_search")
    let claude = try server.post(
      "/v1/messages",
      #"{"messages":[{"role":"user","content":"x"}],"max_tokens":4,"tools":[{"type":"web_search_20250305","name":"web_search"}]}"#
    )
    #expect(claude.headers["x-pagoda-ignored-fields"] == "tools.web_search_20250305")
    let container = try server.post(
      "/v1/responses", #"{"input":"x","tools":[{"type":"shell","environment":{"type":"container_auto"}}]}"#)
    #expect(container.status == 400)
    let lark = try server.post(
      "/v1/responses",
      #"{"input":"x","tools":[{"type":"custom","name":"t","format":{"type":"grammar","syntax":"lark","definition":"start: \"(\" start \")\""}}]}"#
    )
    #expect(lark.status == 400 && lark.error["message"]?.stringValue?.contains("refers to itself") == true)
    let twice = try server.post(
      "/v1/responses", #"{"input":"x","tools":[{"type":"shell"},{"type":"function","name":"shell"}]}"#)
    #expect(twice.status == 400)
  }
}
