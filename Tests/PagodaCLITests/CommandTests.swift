// The commands as a user runs them: output, JSON, exit codes.
import Foundation
import PagodaKit
import Testing

@Suite(.serialized) struct CommandTests {
  private let france = "What is the capital of France?"

  @Test func without_arguments_prints_help() throws {
    let run = try Program.run()
    #expect(run.status == 0)
    for command in [
      "chat", "generate", "serve", "stage", "batch", "tokenize", "info", "bench", "pull", "list", "rm", "quantize",
    ] {
      #expect(run.output.contains("  \(command) "))
    }
    #expect(try Program.run("--version").output.hasPrefix("pagoda \(PagodaVersion.current)"))
  }

  @Test(arguments: [
    "chat", "generate", "serve", "batch", "tokenize", "info", "bench", "bench serve", "bench agents", "bench spec",
  ])
  func every_command_has_help(_ command: String) throws {
    for spelling in ["--help", "-h"] {
      let run = try Program.run(command.split(separator: " ").map { String($0) } + [spelling])
      #expect(run.status == 0)
      #expect(run.output.hasPrefix("usage: pagoda \(command) [options]"))
      #expect(run.output.contains("--model"))
    }
  }

  @Test(arguments: ["pull", "list", "rm", "quantize"])
  func commands_on_files_have_help(_ command: String) throws {
    let run = try Program.run(command, "--help")
    #expect(run.status == 0 && run.output.hasPrefix("usage: pagoda \(command) [options]"))
  }

  @Test func quantize_writes_a_model_once() throws {
    try Program.withFolder { folder in
      let out = folder.appending(path: "new").path
      let run = try Program.run("quantize", "mini", out, "--bits", "4")
      #expect(run.status == 0 && run.output.contains("at 4 bits"), "\(run.errors)")
      let names = try FileManager.default.contentsOfDirectory(atPath: out)
      #expect(Set(names).isSuperset(of: ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"]))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["new"])
      let answer = try Program.run("generate", "--model", out, "--prompt", france)
      #expect(answer.output.contains("Paris"), "\(answer.errors)")
      let again = try Program.run("quantize", "mini", out)
      #expect(again.status == 1 && again.errors.contains("exists already"))
    }
  }

  @Test func quantize_mixes_4_and_8_bits() throws {
    try Program.withFolder { folder in
      let out = folder.appending(path: "new").path
      let run = try Program.run("quantize", "mini", out, "--mixed")
      #expect(run.status == 0 && run.output.contains("9 of them at 8 bits, the others at 4"), "\(run.errors)")
      let info = try Program.run("info", out)
      #expect(info.output.contains("affine 4 bits") && info.output.contains("affine 8 bits"), "\(info.errors)")
      let answer = try Program.run("generate", "--model", out, "--prompt", france)
      #expect(answer.output.contains("Paris"), "\(answer.errors)")
    }
  }

  @Test func quantize_takes_a_gguf_file() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/gguf/qwen35.gguf").path
    try Program.withFolder { folder in
      let out = folder.appending(path: "new").path
      let run = try Program.run("quantize", file, out, "--bits", "8", "--group-size", "32")
      #expect(run.status == 0 && run.output.contains("at 8 bits"), "\(run.errors)")
      let answer = try Program.run("generate", "--model", out, "--prompt-ids", "5,9,31", "--max-tokens", "4")
      #expect(answer.status == 0 && !answer.output.isEmpty, "\(answer.errors)")
    }
  }

  @Test func usage_errors_exit_with_64() throws {
    for arguments in [
      ["sing"], ["generate", "--frobnicate"], ["generate", "--prompt"], ["generate", "--prompt", "x", "--raw=1"],
      ["generate", "--prompt", "x", "--max-tokens", "0"], ["generate", "--prompt", "x", "--temperature", "-1"],
      ["generate", "--prompt", "x", "--prompt-ids", "1"], ["generate", "--prompt-ids", "1,x"],
      ["generate", "--prompt", "x", "--top-p", "2"], ["generate", "--prompt", "x", "--block-size", "7"],
      ["generate", "--prompt", "x", "--kv-cache-memory", "lots"], ["batch", "only-one.jsonl"],
      ["info", "mini", "extra"],
      ["generate", "--prompt", "x", "--weight-cache", "x", "--no-weight-cache"],
      ["generate", "--prompt", "x", "--weight-cache="], ["generate", "--prompt", "x", "--weight-cache"],
      ["generate", "--prompt", "x", "--prefix-cache-dir="], ["generate", "--prompt", "x", "--checkpoint-memory", "x"],
      ["generate", "--prompt", "x", "--expert-memory", "x"],
      ["generate", "--prompt", "x", "--json-object", "--json-schema", "{}"],
      ["generate", "--prompt", "x", "--thinking-budget", "-1"], ["chat", "--think", "--no-think"],
      ["bench", "--tests", "pp512,fast"], ["bench", "--repetitions", "0"],
      ["serve", "--port", "70000"], ["serve", "--api-key="], ["bench", "serve", "--request-rate", "0"],
      ["bench", "serve", "--base-url", "https://x"], ["bench", "serve", "--dataset-name", "sharegpt"],
      ["bench", "--shape", "tiny", "--model", "mini"], ["tokenize", "--decode", "five"],
      ["pull"], ["pull", "mini"], ["pull", "a/b", "c/d"], ["pull", "a/b", "--jobs", "0"], ["list", "extra"], ["rm"],
      ["rm", "../x"], ["quantize", "mini"], ["quantize", "mini", "out", "--bits", "3"],
      ["quantize", "mini", "out", "--bits", "8", "--mixed"],
      ["info", "mini", "--model", "mini"],
    ] {
      let (output, errors, input) = (Pipe(), Pipe(), Pipe())
      let process = try Program.start(arguments, output: output, errors: errors, input: input)
      try input.fileHandleForWriting.close()
      let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 64, "\(arguments)")
      #expect(text.hasPrefix("pagoda: error: "), "\(arguments): \(text)")
    }
  }

  @Test func failures_exit_with_1() throws {
    let run = try Program.run("generate", "--model", "/no/such/model", "--prompt", "x")
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("pagoda: error: ") && run.errors.contains("/no/such/model"))
    #expect(run.output.isEmpty)
  }

  @Test func generate_holds_the_answer_to_a_schema() throws {
    let schema = #"{"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]}"#
    let run = try Program.run("generate", "--prompt", france, "--json-schema", schema)
    #expect(run.status == 0, "\(run.errors)")
    #expect(JSONValue.parse(run.output)?["city"]?.stringValue == "Paris", "\(run.output)")
    let refused = try Program.run("generate", "--prompt", france, "--json-schema", #"{"not": {}}"#)
    #expect(refused.status == 1 && refused.errors.contains("'not'"))
  }

  @Test func generate_streams_the_answer() throws {
    let run = try Program.run("generate", "--prompt", france)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("Paris") && run.output.hasSuffix("\n"))
    #expect(run.errors.isEmpty)
    #expect(try Program.run("generate", input: france + "\n").output == run.output)
  }

  @Test func weight_cache_is_made_once_and_changes_no_answer() throws {
    try Program.withFolder { folder in
      let cache = folder.appending(path: "cache").path
      let answers = try (0..<2).map { _ in
        try Program.run("generate", "--prompt", france, "--quantize", "8bit", "--weight-cache", cache)
      }
      #expect(answers.allSatisfy { $0.status == 0 && $0.output == answers[0].output }, "\(answers)")
      let files = try FileManager.default.contentsOfDirectory(atPath: cache)
      #expect(files.count == 1 && files[0].hasSuffix(".pagoda-weights"), "\(files)")
      let info = try Program.run("info", "--quantize", "8bit", "--weight-cache", cache)
      #expect(info.output.contains("matrices are in \(cache)/\(files[0])"), "\(info.output)")
      let unused = try Program.run("info", "--quantize", "8bit", "--no-weight-cache")
      #expect(unused.status == 0 && !unused.output.contains("weight cache"), "\(unused.output)")
    }
  }

  @Test func prefixes_on_disk_serve_the_next_start_and_change_no_answer() throws {
    let question = String(repeating: "Tell me about the rivers of France. ", count: 6)
    try Program.withFolder { folder in
      let cache = folder.appending(path: "prefixes").path
      let runs = try (0..<2).map { _ in
        let run = try Program.run("generate", "--prompt", question, "--json", "--prefix-cache-dir", cache)
        return try #require(JSONValue.parse(run.output), "\(run.errors)")
      }
      let plain = try Program.run("generate", "--prompt", question, "--json", "--no-prefix-cache")
      let expected = try #require(JSONValue.parse(plain.output), "\(plain.errors)")
      for run in runs {
        #expect(run["token_ids"] == expected["token_ids"])
        let logprobs = { (answer: JSONValue) in answer["logprobs"]?.arrayValue?.map { $0["logprob"] } }
        #expect(logprobs(run) == logprobs(expected))
      }
      #expect(runs[0]["usage"]?["cached_tokens"]?.intValue == 0)
      #expect(try #require(runs[1]["usage"]?["cached_tokens"]?.intValue) > 32)
      let files = try FileManager.default.contentsOfDirectory(atPath: cache)
      #expect(!files.isEmpty && files.allSatisfy { $0.hasSuffix(".pagoda-prefix") }, "\(files)")
    }
  }

  @Test func generate_json_has_every_field() throws {
    let run = try Program.run("generate", "--prompt", france, "--json", "--top-logprobs", "2")
    let answer = try #require(JSONValue.parse(run.output), "\(run.errors)")
    #expect(answer["text"]?.stringValue?.contains("Paris") == true)
    let ids = try #require(answer["token_ids"]?.arrayValue)
    let logprobs = try #require(answer["logprobs"]?.arrayValue)
    #expect(ids.count == logprobs.count && !ids.isEmpty)
    for (id, entry) in zip(ids, logprobs) {
      #expect(entry["token_id"] == id)
      #expect(try #require(entry["logprob"]?.doubleValue) <= 0)
      let top = try #require(entry["top"]?.arrayValue)
      #expect(top.count == 2 && top[0].arrayValue?.first == id)
    }
    #expect(answer["finish_reason"]?.stringValue == "stop")
    for key in ["prompt_tokens", "completion_tokens", "cached_tokens", "matched_tokens"] {
      #expect(answer["usage"]?[key]?.intValue != nil, "\(key)")
    }
    for key in ["queue_ms", "prompt_ms", "generation_ms"] {
      #expect(answer["timings"]?[key]?.doubleValue != nil, "\(key)")
    }
  }

  @Test func generate_takes_ids_and_ignores_end_of_text() throws {
    let ids = try Program.run("tokenize", "--special", "<|im_start|>user").output.trimmingCharacters(in: .newlines)
    let run = try Program.run("generate", "--prompt-ids", ids, "--ignore-eos", "--max-tokens", "12", "--json")
    let answer = try #require(JSONValue.parse(run.output), "\(run.errors)")
    #expect(answer["token_ids"]?.arrayValue?.count == 12)
    #expect(answer["finish_reason"]?.stringValue == "length")
  }

  @Test func tokenize_and_decode_are_inverse() throws {
    let text = "Grüße, 東京!  two spaces"
    let ids = try Program.run("tokenize", text).output.trimmingCharacters(in: .newlines)
    #expect(try Program.run("tokenize", "--decode", ids).output == text + "\n")
    let json = try #require(JSONValue.parse(try Program.run("tokenize", "--json", input: text).output))
    #expect(json["ids"]?.arrayValue?.map(\.text).joined(separator: ",") == ids)
    let spaced = ids.replacing(",", with: " ")
    #expect(
      JSONValue.parse(try Program.run("tokenize", "-d", "--json", input: spaced).output)?["text"]?.stringValue == text)
  }

  @Test func decoding_an_unknown_id_fails() throws {
    let run = try Program.run("tokenize", "--decode", "5,999999")
    #expect(run.status == 1 && run.errors.contains("999999"))
  }

  @Test func info_describes_model_and_memory() throws {
    let json = try #require(
      JSONValue.parse(
        try Program.run("info", "--json", "--kv-cache-memory", "4MiB", "--host-cache-memory", "3MiB").output))
    #expect(json["family"]?.stringValue == "qwen3_5")
    #expect(json["vocab_size"]?.intValue == 4096)
    let plan = try #require(json["memory_plan"])
    let names = [
      "weights_bytes", "kv_bytes", "state_bytes", "checkpoint_bytes", "workspace_bytes", "host_cache_bytes",
      "vision_bytes",
    ]
    let parts = names.compactMap { plan[$0]?.intValue }
    #expect(parts.count == names.count && parts.reduce(0, +) == plan["total_bytes"]?.intValue)
    #expect(try #require(plan["kv_bytes"]?.intValue) <= 4 << 20)
    #expect(plan["host_cache_bytes"]?.intValue == 3 << 20)
    let weights = try #require(json["weights"])
    let formats = try #require(weights["formats"]?.arrayValue)
    let bytes = formats.compactMap { $0["bytes"]?.intValue }.reduce(0, +)
    #expect(formats.count >= 1 && bytes > 0 && bytes <= (plan["weights_bytes"]?.intValue ?? 0))
    #expect(weights["bytes_per_token"]?.intValue ?? 0 > 0)
    let others = try #require(weights["others"]?.arrayValue)
    #expect(others.compactMap { $0["quantize"]?.stringValue } == ["8bit", "4bit"])
    let smaller = try #require(JSONValue.parse(try Program.run("info", "--json", "--quantize", "4bit").output))
    #expect(others[1]["weights_bytes"]?.intValue == smaller["memory_plan"]?["weights_bytes"]?.intValue)
    let text = try Program.run("info").output
    for word in [
      "bits per weight", "read per token", "--quantize 8bit", "--quantize 4bit", "would take",
    ] {
      #expect(text.contains(word), "\(word)")
    }
    for word in ["device limit", "weights", "KV cache", "recurrent state", "checkpoints", "workspace", "MiB"] {
      #expect(text.contains(word))
    }
  }

  @Test func info_shows_the_format_of_recurrent_states() throws {
    func slot(_ options: String...) throws -> (dtype: String?, bytes: Int64) {
      let info = try #require(JSONValue.parse(try Program.run(["info", "--json"] + options).output))
      return (info["state_dtype"]?.stringValue, try #require(info["memory_plan"]?["state_slot_bytes"]?.intValue))
    }
    let long = try slot(), short = try slot("--state-dtype", "bfloat16")
    #expect(long.dtype == "float32" && short.dtype == "bfloat16" && short.bytes < long.bytes)
    #expect(try Program.run("info", "--state-dtype", "bfloat16").output.contains(", bfloat16)"))
    let refused = try Program.run("info", "--state-dtype", "int8")
    #expect(refused.status != 0 && refused.errors.contains("--state-dtype is 'int8'"), "\(refused.errors)")
    #expect(try Program.run("info", "--kv-dtype", "int4").errors.contains("change answers too much"))
  }

  @Test func info_shows_experts_that_are_read_from_files() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let model = tests.appending(path: "Fixtures/model/qwen3_5_moe").path
    let run = try Program.run("info", "--model", model, "--device", "cpu", "--expert-memory", "48KiB")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("48.0 KiB of 96.0 KiB in memory; a token reads 18.0 KiB"))
    #expect(run.output.contains("tokens/s at most from a disk of 2 GB/s"))
    #expect(try !Program.run("info", "--model", model, "--device", "cpu").output.contains("a token reads"))
    let refused = try Program.run("info", "--device", "cpu", "--expert-memory", "1MiB")
    #expect(refused.status == 1 && refused.errors.contains("--expert-memory needs a model with a mixture of experts"))
  }

  @Test func chat_over_a_pipe_answers() throws {
    let run = try Program.run(
      "chat", input: "\(france)\n/stats\n/reset\n/system Answer briefly.\n/nonsense\nHello!\n/quit\nnever read\n")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("Paris"))
    #expect(run.output.contains("KV blocks in use") && run.output.contains("Unknown command /nonsense"))
    #expect(run.output.contains("drafted") && run.output.contains("accepted"))
  }

  @Test func interrupting_generate_exits_with_130() throws {
    let (output, errors, input) = (Pipe(), Pipe(), Pipe())
    let process = try Program.start(
      ["generate", "--prompt", france, "--ignore-eos", "--max-tokens", "7000"], output: output, errors: errors,
      input: input)
    _ = output.fileHandleForReading.availableData  // the first words of the answer
    process.interrupt()
    _ = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
  }
}
