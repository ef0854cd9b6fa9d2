// Batch files: order, ids, bad lines, and the same answers as from single requests.
import Foundation
import PagodaCLI
import PagodaKit
import Testing

@Suite struct BatchTests {
  @Test func results_keep_the_order_and_bad_lines_do_not_stop_them() throws {
    let lines = [
      #"{"id": "a", "prompt": "What is the capital of France?", "max_tokens": 64}"#,
      "this is no JSON",
      #"{"id": 7, "prompt": "x", "temperature": -1}"#,
      "",
      #"{"custom_id": "b", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "What is the capital of Japan?"}]}}"#,
      #"{"id": "c", "prompt_ids": [1000000]}"#,
      #"{"id": "d", "prompt": "Hello!", "ignore_eos": true, "max_tokens": 5, "top_logprobs": 1}"#,
    ]
    let results = try Program.withFolder { folder -> [JSONValue] in
      let (input, output) = (folder.appending(path: "in.jsonl"), folder.appending(path: "out.jsonl"))
      try lines.joined(separator: "\n").write(to: input, atomically: true, encoding: .utf8)
      let run = try Program.run("batch", input.path, output.path)
      #expect(run.status == 1, "\(run.errors)")
      #expect(run.errors.contains("3 of 6 requests failed"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
      return try String(contentsOf: output, encoding: .utf8).split(separator: "\n").map {
        try #require(JSONValue.parse(String($0)))
      }
    }
    #expect(results.map { $0["id"]?.text } == ["\"a\"", "null", "7", "\"b\"", "\"c\"", "\"d\""])
    #expect(results[0]["text"]?.stringValue?.contains("Paris") == true)
    #expect(results[1]["error"]?["code"]?.stringValue == "invalid_argument")
    #expect(results[2]["error"]?["message"]?.stringValue?.contains("temperature") == true)
    #expect(results[3]["text"]?.stringValue?.contains("Tokyo") == true)
    #expect(results[4]["error"]?["code"]?.stringValue == "invalid_argument")
    #expect(results[5]["token_ids"]?.arrayValue?.count == 5)
    #expect(results[5]["logprobs"]?.arrayValue?.count == 5)
    #expect(results[0]["logprobs"]?.arrayValue?.count == results[0]["token_ids"]?.arrayValue?.count)
    let alone = try #require(
      JSONValue.parse(try Program.run("generate", "--prompt", "What is the capital of France?", "--json").output))
    #expect(results[0]["token_ids"] == alone["token_ids"])
  }

  @Test func lines_become_requests() throws {
    let line =
      #"{"id": 1, "prompt": "p", "system": "s", "stop": ["a", "b"], "seed": 18446744073709551615, "logit_bias": {"5": -100}, "think": false, "top_k": null}"#
    let request = try BatchRequest(line: line).request.get()
    #expect(request.prompt == .messages([.system("s"), .user("p")]))
    #expect(request.sampling.stopStrings == ["a", "b"])
    #expect(request.sampling.seed == .max)
    #expect(request.sampling.logitBias == [5: -100])
    #expect(request.sampling.topK == nil)
    #expect(request.thinking == false)
    #expect(try BatchRequest(line: #"{"prompt": "p", "raw": true}"#).request.get().prompt == .text("p"))
    #expect(try BatchRequest(line: #"{"prompt": [1, 2]}"#).request.get().prompt == .tokens([1, 2]))
    let completion = #"{"custom_id": "x", "url": "/v1/completions", "body": {"prompt": "p", "stop": "q"}}"#
    #expect(try BatchRequest(line: completion).request.get().prompt == .text("p"))
    let format =
      #"{"prompt": "p", "response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "null"}}}}"#
    #expect(try BatchRequest(line: format).request.get().grammar == .jsonSchema(#"{"type":"null"}"#))
    let object = try BatchRequest(line: #"{"prompt": "p", "json_object": true, "thinking_budget": 9}"#).request.get()
    #expect(object.grammar == .jsonObject && object.sampling.thinkingBudget == 9)
    let parts = #"{"messages": [{"role": "developer", "content": [{"type": "text", "text": "t"}]}]}"#
    #expect(try BatchRequest(line: parts).request.get().prompt == .messages([.system("t")]))
  }

  private func body(_ body: String, url: String = "/v1/chat/completions") throws -> Request {
    try BatchRequest(line: #"{"custom_id": "x", "url": "\#(url)", "body": \#(body)}"#).request.get()
  }

  @Test func bodies_are_read_as_the_server_reads_them() throws {
    let user = #"{"role": "user", "content": "u"}"#
    let full = try body(
      #"{"model": "any", "messages": [\#(user), {"role": "system", "content": "s"}], "max_completion_tokens": 7, "reasoning_effort": "none", "guided_choice": ["a", "b"], "cache_salt": "t", "user": "me"}"#
    )
    #expect(full.prompt == .messages([.system("s"), .user("u")]))
    #expect(full.sampling.maximumTokens == 7 && full.sampling.topLogProbabilities == 0)
    #expect(full.thinking == false && full.grammar == .choice(["a", "b"]) && full.cacheSalt == "t")
    let call =
      #"{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}"#
    let answered = try body(
      #"{"messages": [\#(user), \#(call), {"role": "tool", "tool_call_id": "1", "content": "r"}]}"#)
    let toolCall = ToolCall(id: "1", name: "f", arguments: #"{"a":1}"#)
    #expect(
      answered.prompt
        == .messages([
          .user("u"), Message(role: .assistant, content: "", toolCalls: [toolCall]), .tool("r", callID: "1"),
        ]))
    let scored = try body(#"{"messages": [\#(user)], "logprobs": true, "top_logprobs": 3}"#)
    #expect(scored.sampling.topLogProbabilities == 3)
    #expect(try body(#"{"messages": [\#(user)], "logprobs": false}"#).sampling.topLogProbabilities == nil)
    let text = try body(#"{"prompt": "p", "logprobs": 2}"#, url: "/v1/completions")
    #expect(text.prompt == .text("p") && text.sampling.topLogProbabilities == 2 && text.sampling.maximumTokens == 16)
    #expect(try body(#"{"prompt": [1, 2]}"#, url: "/v1/completions").prompt == .tokens([1, 2]))
  }

  @Test(arguments: [
    #""unheard_of": 1"#, #""n": 2"#, #""stream": true"#, #""tools": [{"function": {"name": "f"}}]"#,
    #""prompt_logprobs": 1"#, #""chat_template_kwargs": {"style": "x"}"#, #""temperature": -1"#, #""top_logprobs": 2"#,
  ])
  func bodies_that_a_batch_cannot_answer_are_refused(_ field: String) {
    #expect(throws: UsageError.self) { try body(#"{"messages": [{"role": "user", "content": "u"}], \#(field)}"#) }
  }

  @Test(arguments: [
    "[]", "{}", #"{"prompt": 5}"#, #"{"prompt": "a", "messages": []}"#, #"{"prompt": "a", "prompt_ids": [1]}"#,
    #"{"prompt_ids": [1.5]}"#, #"{"prompt_ids": [-1]}"#, #"{"prompt": "a", "max_tokens": "5"}"#,
    #"{"prompt": "a", "max_tokens": 2147483648}"#, #"{"prompt": "a", "stop": [""]}"#, #"{"prompt": "a", "stop": [1]}"#,
    #"{"prompt": "a", "unheard_of": 1}"#, #"{"prompt": "a", "n": 2}"#, #"{"prompt": "a", "ignore_eos": 1}"#,
    #"{"prompt": "a", "seed": -1}"#, #"{"messages": [{"role": "poet", "content": "x"}]}"#,
    #"{"messages": [{"role": "user", "content": null}]}"#, #"{"prompt_ids": [1], "system": "s"}"#, #"{"body": 1}"#,
  ])
  func bad_lines_are_refused(_ line: String) {
    #expect(throws: UsageError.self) { try BatchRequest(line: line).request.get() }
  }
}
