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
  var hasTools = false

  var sequenceCount: Int { prompts.count * answers }
  static let maximumSequences = 128

  func check() throws {
    if sequenceCount > Self.maximumSequences {
      throw APIError.invalid(
        "the request asks for \(sequenceCount) answers; \(Self.maximumSequences) are the most", param: "n")
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
  case token(TokenInfo)
  case finished(Completion)
}

/// A whole answer, or as much of it as has come.
struct Answer: Sendable {
  var text = ""
  var reasoning = ""
  var calls: [ToolCall] = []
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

/// Turns the engine's events of one answer into pieces: reasoning apart, tool calls parsed.
struct AnswerReader: Sendable {
  private var splitter: ReasoningSplitter

  init(opening: ReasoningSplitter.Opening) { splitter = ReasoningSplitter(opening) }

  mutating func read(_ event: Event) -> [AnswerPiece] {
    switch event {
    case .text(let text), .reasoning(let text): return splitter.push(text).compactMap(Self.piece)
    case .token(let token): return [.token(token)]
    case .finished(let completion): return splitter.finish().compactMap(Self.piece) + [.finished(completion)]
    }
  }

  private static func piece(_ event: Event) -> AnswerPiece? {
    switch event {
    case .text(let text): .text(text)
    case .reasoning(let text): .reasoning(text)
    case .token, .finished: nil
    }
  }
}

/// `call_` and the like with 24 random characters.
func randomID(_ prefix: String) -> String {
  let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
  return prefix + String((0..<24).map { _ in letters[Int.random(in: 0..<letters.count)] })
}
