// Generation: what every endpoint that makes text boils its request down to.
import PagodaKit

struct Generation: Sendable {
  enum Prompt: Sendable {
    case chat(ChatPrompt)
    case text(String)
    case tokens([Int32])
  }

  var prompts: [Prompt]
  var sampling: SamplingParameters
  /// Answers to each prompt.
  var answers = 1
  var isStream = false
  /// The field that limits the answer, for messages about it.
  var limitField = "max_tokens"
  var promptField = "messages"
  /// What the answer must be, and the field that says so.
  var grammar: Request.Grammar?
  var grammarField = "response_format"
  /// Requests with other salts share no cached prefix with this one.
  var cacheSalt = ""
  /// Functions that the model may call, in the shape of chat completions.
  var tools: [JSONValue] = []
  var forcedCall: ForcedCall?

  var sequenceCount: Int { prompts.count * answers }
  static let maximumSequences = 128

  func check() throws {
    if sequenceCount > Self.maximumSequences {
      throw APIError.invalid(
        "the request asks for \(sequenceCount) answers; \(Self.maximumSequences) are the most", param: "n")
    }
  }
}

/// A call that the answer has to begin with.
enum ForcedCall: Sendable, Equatable {
  case any
  case named(String)

  /// How such a call begins, in the way that the prompt told the model to write calls.
  func opening(in prompt: String) -> String {
    let isXML = prompt.contains("<function=")
    switch self {
    case .any: return isXML ? "<tool_call>\n<function" : "<tool_call>\n{\"name\":"
    case .named(let name):
      let quoted = JSONValue.string(name).text
      return isXML ? "<tool_call>\n<function=\(name)>\n" : "<tool_call>\n{\"name\": \(quoted), \"arguments\":"
    }
  }
}

/// One tool call of an answer.
struct ToolCall: Sendable {
  var id: String
  var name: String
  var arguments = ""  // JSON text
}

/// A part of an answer, as it becomes certain.
enum AnswerPiece: Sendable {
  case text(String)
  case reasoning(String)
  case callBegin(index: Int, id: String, name: String)
  case callArguments(index: Int, String)
  case callEnd(index: Int)
  case rejected(RejectedToolCall)
  case token(TokenInfo)
  case finished(Completion)
}

/// A whole answer, or as much of it as has come.
struct Answer: Sendable {
  var text = ""
  var reasoning = ""
  var calls: [ToolCall] = []
  var rejected: [RejectedToolCall] = []
  var tokens: [TokenInfo] = []
  var completion: Completion?
  var failure: PagodaError?

  mutating func add(_ piece: AnswerPiece) {
    switch piece {
    case .text(let text): self.text += text
    case .reasoning(let text): reasoning += text
    case .callBegin(_, let id, let name): calls.append(ToolCall(id: id, name: name))
    case .callArguments(let index, let text): if index < calls.count { calls[index].arguments += text }
    case .callEnd: break
    case .rejected(let call):
      rejected.append(call)
      if let index = call.index, index == calls.count - 1 { calls.removeLast() }
    case .token(let token): tokens.append(token)
    case .finished(let completion): self.completion = completion
    }
  }

  /// OpenAI's word for how it ended.
  var finishReason: String { calls.isEmpty ? completion?.finishReason.rawValue ?? "stop" : "tool_calls" }
}

/// What the engine says about one answer.
enum StreamEvent: Sendable {
  case engine(Event)
  case failed(PagodaError)
}

/// Turns the engine's events of one answer into pieces: reasoning apart, tool calls parsed. For one thread at a time.
final class AnswerReader {
  private let parser: OutputParser
  private var waiting: [AnswerPiece]

  /// `prefix` is a part of the answer that the prompt ends with.
  init(opening: OutputParser.Opening, tools: [JSONValue], prefix: String) throws {
    parser = try OutputParser(opening, tools: tools.isEmpty ? "" : JSONValue.array(tools).text)
    waiting = []
    if !prefix.isEmpty { waiting = parser.push(prefix).map(piece) }
  }

  func read(_ event: Event) -> [AnswerPiece] {
    defer { waiting = [] }
    switch event {
    case .text(let text), .reasoning(let text): return waiting + parser.push(text).map(piece)
    case .toolCall, .rejectedToolCall: return waiting  // the engine was given no tools
    case .token(let token): return waiting + [.token(token)]
    case .finished(let completion): return waiting + parser.finish().map(piece) + [.finished(completion)]
    }
  }

  private func piece(_ piece: OutputPiece) -> AnswerPiece {
    switch piece {
    case .text(let text): .text(text)
    case .reasoning(let text): .reasoning(text)
    case .toolCallBegin(let index, let name): .callBegin(index: index, id: randomID("call_"), name: name)
    case .toolArguments(let index, let fragment): .callArguments(index: index, fragment)
    case .toolCallEnd(let index): .callEnd(index: index)
    case .rejectedToolCall(let call): .rejected(call)
    }
  }
}

/// `call_` and the like with 24 random characters.
func randomID(_ prefix: String) -> String {
  let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
  return prefix + String((0..<24).map { _ in letters[Int.random(in: 0..<letters.count)] })
}
