// Turn: one answer of a session: the model's text, and the rounds of tool calls before it.
import AnyLanguageModel
import Foundation
import PagodaKit

struct Turn {
  private let container: ModelContainer
  private let session: LanguageModelSession
  private let options: GenerationOptions
  private let grammar: Request.Grammar?
  private let maximumRounds = 8  // of tool calls

  init(
    _ container: ModelContainer, _ session: LanguageModelSession, _ options: GenerationOptions,
    _ grammar: Request.Grammar?
  ) {
    self.container = container
    self.session = session
    self.options = options
    self.grammar = grammar
  }

  /// `onText` receives the answer's text so far, whenever it has grown.
  func run(_ onText: (String) -> Void) async throws -> (text: String, entries: [AnyLanguageModel.Transcript.Entry]) {
    let engine = try await container.engine()
    let history = Array(session.transcript)
    var entries: [AnyLanguageModel.Transcript.Entry] = []
    for _ in 0..<maximumRounds {
      var request = Request(messages: (history + entries).flatMap(messages(of:)))
      request.sampling = try sampling(of: options)
      request.grammar = grammar
      request.tools = try session.tools.map {
        ToolDefinition(name: $0.name, description: $0.description, parameters: try jsonText(of: $0.parameters))
      }
      var text = ""
      var calls: [AnyLanguageModel.Transcript.ToolCall] = []
      for try await event in engine.submit(request) {
        switch event {
        case .text(let chunk):
          text += chunk
          onText(text)
        case .toolCall(let call):
          calls.append(
            .init(id: call.id, toolName: call.name, arguments: try GeneratedContent(json: call.arguments)))
        case .reasoning, .rejectedToolCall, .toolFailed, .token, .promptProgress, .contextTrimmed, .finished: break
        @unknown default: break
        }
      }
      try Task.checkCancellation()
      if calls.isEmpty { return (text, entries) }
      entries.append(.toolCalls(.init(calls)))
      for call in calls { entries.append(.toolOutput(try await output(of: call))) }
    }
    throw PagodaError.resourceExhausted("the model called tools \(maximumRounds) times without an answer")
  }

  private func output(
    of call: AnyLanguageModel.Transcript.ToolCall
  ) async throws -> AnyLanguageModel.Transcript.ToolOutput {
    guard let tool = session.tools.first(where: { $0.name == call.toolName }) else {
      return .init(id: call.id, toolName: call.toolName, segments: [.text(.init(content: "There is no such tool."))])
    }
    do {
      let text = try await run(tool, call.arguments)
      return .init(id: call.id, toolName: call.toolName, segments: [.text(.init(content: text))])
    } catch {
      throw LanguageModelSession.ToolCallError(tool: tool, underlyingError: error)
    }
  }

  private func run(_ tool: some AnyLanguageModel.Tool, _ arguments: GeneratedContent) async throws -> String {
    func call<T: AnyLanguageModel.Tool>(_ tool: T) async throws -> String {
      try await tool.call(arguments: T.Arguments(arguments)).promptRepresentation.description
    }
    return try await call(tool)
  }
}

/// An entry as messages; these models do not accept images.
private func messages(of entry: AnyLanguageModel.Transcript.Entry) -> [Message] {
  switch entry {
  case .instructions(let instructions): [.system(text(of: instructions.segments))]
  case .prompt(let prompt): [.user(text(of: prompt.segments))]
  case .response(let response): [.assistant(text(of: response.segments))]
  case .toolOutput(let output): [.tool(text(of: output.segments), callID: output.id)]
  case .toolCalls(let calls):
    [
      Message(
        role: .assistant, content: "",
        toolCalls: calls.map { ToolCall(id: $0.id, name: $0.toolName, arguments: $0.arguments.jsonString) })
    ]
  }
}

private func text(of segments: [AnyLanguageModel.Transcript.Segment]) -> String {
  segments.compactMap { segment in
    switch segment {
    case .text(let text): text.content
    case .structure(let structure): structure.content.jsonString
    case .image: nil
    }
  }.joined(separator: "\n")
}

func jsonText(of schema: GenerationSchema) throws -> String {
  String(decoding: try JSONEncoder().encode(schema), as: UTF8.self)
}

/// The package does not expose the sampling mode; its encoded form identifies it.
private func sampling(of options: GenerationOptions) throws -> SamplingParameters {
  struct Encoded: Decodable {
    struct Mode: Decodable {
      struct Greedy: Decodable {}
      struct Top: Decodable {
        var value: Double
        var seed: UInt64?
        enum CodingKeys: String, CodingKey {
          case value = "_0"
          case seed
        }
      }
      var greedy: Greedy?
      var topK: Top?
      var nucleus: Top?
    }
    var mode: Mode
  }
  var sampling = SamplingParameters()
  sampling.temperature = options.temperature
  sampling.maximumTokens = options.maximumResponseTokens
  guard let given = options.sampling else { return sampling }
  let mode = try JSONDecoder().decode(Encoded.self, from: try JSONEncoder().encode(given)).mode
  if mode.greedy != nil { sampling.temperature = 0 }
  if let top = mode.topK { (sampling.topK, sampling.seed) = (Int(top.value), top.seed) }
  if let nucleus = mode.nucleus { (sampling.topP, sampling.seed) = (nucleus.value, nucleus.seed) }
  return sampling
}
