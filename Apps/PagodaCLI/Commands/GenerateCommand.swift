// pagoda generate: one prompt, one answer.
import Foundation
import PagodaKit

extension Command {
  static let generate = Command(
    name: "generate",
    summary: "Answers one prompt and exits; also `pagoda ask`.",
    operands: "[PROMPT]",
    notes: """
      The prompt comes from the command line, --prompt-file, --prompt-ids, or standard input. It is put into the model's chat
      template as a user message, and a newline at the end of a file or of standard input is removed, unless --raw is
      given.
      """,
    groups: [
      OptionGroup(
        "Prompt",
        [
          SharedOptions.model,
          Option("prompt", short: "p", value: "TEXT", help: "the prompt"),
          Option("prompt-file", short: "f", value: "FILE", help: "read the prompt from FILE"),
          Option(
            "image", value: "FILE", help: "an image before the prompt: PNG, JPEG or WebP; may be given several times"),
          Option("prompt-ids", value: "IDS", help: "token ids such as 5,9,17; needs no tokenizer"),
          Option(
            "raw",
            help:
              "pass the text to the model without its chat template, after the tokenizer's start token if it has one"),
          SharedOptions.system,
        ] + SharedOptions.thinking),
      OptionGroup(
        "Output",
        [
          Option("json-object", help: "the answer is a JSON object"),
          Option("json-schema", value: "FILE|TEXT", help: "the answer is JSON that satisfies this schema"),
          Option("receipts", value: "FILE", help: "append a receipt for each answer, which pagoda replay can verify"),
          Option("receipts-prompts", help: "include the prompts in receipts, as token ids"),
          Option("json", help: "print one JSON object with the answer and its statistics instead of the text"),
        ]),
      SharedOptions.sampling,
      SharedOptions.engine,
    ],
    run: runGenerate)

  /// `pagoda run MODEL PROMPT`.
  static let runPrompt = Command(
    name: generate.name, summary: generate.summary, operands: "MODEL PROMPT", notes: generate.notes,
    groups: generate.groups,
    run: { arguments in
      var arguments = arguments
      if arguments.has("model") || arguments.has("shape") { throw UsageError("name one model") }
      arguments.values["model"] = [arguments.positionals.removeFirst()]
      return try await runGenerate(arguments)
    })
}

private func runGenerate(_ given: Arguments) async throws -> Int32 {
  var arguments = given
  if !arguments.positionals.isEmpty {
    if arguments.has("prompt") { throw UsageError("--prompt and '\(arguments.positionals[0])' exclude each other") }
    arguments.values["prompt"] = [arguments.positionals.joined(separator: " ")]
    arguments.positionals = []
  }
  var request = try generateRequest(arguments)
  request.grammar = try grammar(arguments)
  request.lora = try arguments.loras().first?.name
  try request.grammar?.check()
  let receipts = try ReceiptFile(arguments)
  let engine = try await arguments.loadEngine(try arguments.singleUserOptions()) { [arguments] info in
    if case .messages = request.prompt, !info.hasChatTemplate {
      throw CommandFailure(info.chatTemplateError ?? "this model has no chat template; use --raw or --prompt-ids")
    }
    if case .text = request.prompt { try info.requireTokenizer(or: "use --prompt-ids") }
    if request.grammar != nil { try info.requireTokenizer(or: "it cannot write JSON") }
    if arguments.has("image"), let refusal = info.imageRefusal {
      throw CommandFailure("this model reads no images: \(refusal)")
    }
  }
  try await receipts?.keep(of: engine)
  defer { receipts?.flush() }
  let completion: Completion?
  if arguments.has("json") {
    let response = try await engine.respond(to: request)
    Terminal.write(JSONValue.object(JSONValue.answer(response)).text + "\n")
    completion = response.completion
  } else {
    completion = try await stream(request, on: engine)
  }
  await engine.shutDown()
  guard let completion, completion.finishReason == .length else { return 0 }
  let cut = "the answer was cut after \(completion.usage.completionTokens) tokens"
  let isContext = completion.fills(engine.info.plan.maximumModelLength)
  if request.grammar != nil {
    throw CommandFailure("\(cut), so the JSON is not complete; raise \(isContext ? "--max-model-len" : "--max-tokens")")
  }
  Terminal.note("\(cut); \(isContext ? "the context is full (--max-model-len)" : "--max-tokens is the limit")")
  return 0
}

private func generateRequest(_ arguments: Arguments) throws -> Request {
  let sources = ["prompt", "prompt-file", "prompt-ids"].filter { arguments.has($0) }
  if sources.count > 1 { throw UsageError("--\(sources[0]) and --\(sources[1]) exclude each other") }
  var sampling = try arguments.samplingParameters()
  if arguments.has("json") { sampling.topLogProbabilities = sampling.topLogProbabilities ?? 0 }
  let thinking = try arguments.thinking()

  let plain = ["prompt-ids", "raw"].first { arguments.has($0) }
  if let plain, let other = ["system", "image", "think", "no-think"].first(where: { arguments.has($0) }) {
    throw UsageError("--\(other) needs the chat template, which --\(plain) leaves out")
  }
  if let ids = try arguments.tokenIDs("prompt-ids") {
    return Request(prompt: .tokens(ids), sampling: sampling)
  }
  let images = try arguments.images()
  let text = try promptText(arguments)
  if text.allSatisfy(\.isWhitespace) && !arguments.has("raw") { throw UsageError("the prompt is empty") }
  if arguments.has("raw") { return Request(prompt: .text(text), sampling: sampling) }
  let system = arguments.string("system").map { [Message.system($0)] } ?? []
  return Request(messages: system + [.user(text, images: images)], sampling: sampling, thinking: thinking)
}

private func grammar(_ arguments: Arguments) throws -> Request.Grammar? {
  guard let schema = arguments.string("json-schema") else { return arguments.has("json-object") ? .jsonObject : nil }
  if arguments.has("json-object") { throw UsageError("--json-object and --json-schema exclude each other") }
  let isText = schema.drop(while: \.isWhitespace).first == "{"
  return .jsonSchema(isText ? schema : try Terminal.readFile(schema))
}

private func promptText(_ arguments: Arguments) throws -> String {
  if let prompt = arguments.string("prompt") { return prompt }
  let text =
    try arguments.string("prompt-file").map { try Terminal.readFile($0) }
    ?? Terminal.readPipe(or: "no prompt: pagoda ask \"...\", --prompt-file FILE, --prompt-ids IDS, or pipe text in")
  return text.hasSuffix("\n") && !arguments.has("raw") ? String(text.dropLast()) : text
}

/// Prints text as it arrives; reasoning only on a terminal, on standard error and separate from the answer. Without a
/// tokenizer, prints ids.
private func stream(_ request: Request, on engine: Engine) async throws -> Completion? {
  var ids: [String] = []
  var thinking = ThinkingText(to: STDERR_FILENO)
  var completion: Completion?
  var answer = AnswerText()
  let progress = ProgressLine("reading", unknown: true)
  var request = request
  if Terminal.errorIsTerminal { request.promptProgressInterval = 0.5 }
  defer { if completion == nil { progress.clear() } }
  for try await event in engine.submit(request) {
    switch event {
    case .text(let text):
      thinking.end()
      answer.write(text)
    case .reasoning(let text): thinking.add(text)
    case .promptProgress(let read): progress.say(progressText(read))
    case .toolCall, .rejectedToolCall, .toolFailed, .contextTrimmed: break  // not asked for
    case .token(let token):
      if ids.isEmpty { progress.clear() }
      ids.append(String(token.id))
    case .finished(let end):
      completion = end
      thinking.end("\n")
      answer.finish()
      Terminal.write(engine.tokenizer == nil ? ids.joined(separator: ",") + "\n" : "\n")
    }
  }
  try Task.checkCancellation()
  return completion
}
