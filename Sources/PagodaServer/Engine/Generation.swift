// Generation: the common form of every endpoint's requests for text.
import PagodaKit

struct Generation: Sendable {
  enum Prompt: Sendable {
    case chat(ChatPrompt)
    case text(String)
    case tokens([Int32])
    /// The separator of two texts.
    case middle(prefix: String, suffix: String)
  }

  var prompts: [Prompt]
  var sampling: SamplingParameters
  /// Number of answers to each prompt.
  var answers = 1
  var isStream = false
  /// The field that limits the answer, for messages about it.
  var limitField = "max_tokens"
  var promptField = "messages"
  /// The constraint on the answer, and the field it came from.
  var grammar: Request.Grammar?
  var grammarField = "response_format"
  /// Requests with lower values run first; at least the value of the client's key.
  var priority = 0
  /// Requests with the same id use one fair share of the engine.
  var shareID = ""
  /// Requests with different salts share no cached prefix with this one.
  var cacheSalt = ""
  /// The LoRA adapter; nil for the model alone.
  var lora: String?
  /// Text that the answer is expected to repeat in parts, such as a file to edit.
  var prediction: String?
  /// Whether tokens may be drafted.
  var speculates = true
  /// Functions that the model may call, in the shape of chat completions.
  var tools: [JSONValue] = []
  var forcedCall: ForcedCall?
  /// How their calls are enforced and answered.
  var toolList = ToolList()
  var allowsParallelCalls = true
  /// Log probabilities of the prompt: nil for none, otherwise the number of most likely alternatives per token.
  var promptLogProbabilities: Int?
  /// The beginning of the answer, which is not repeated.
  var continued: Continued?

  /// Whether the oldest turns are left out of a conversation that is too long.
  var contextPolicy = ContextPolicy.stop
  /// Seconds between reports of the prompt's progress; nil for none.
  var progressInterval: Double?

  var sequenceCount: Int { prompts.count * answers }
  static let maximumSequences = 128

  /// Reads the fields that OpenAI's endpoints have in common besides sampling.
  mutating func readCommon(_ fields: FieldReader, _ models: ServedModels) throws {
    priority = try fields.priority()
    cacheSalt = try fields.string("cache_salt", maximumBytes: 64) ?? ""
    lora = try models.adapter(in: fields)
  }

  /// A format or a forced call applies to the whole answer, part of which the client has already given.
  func checkContinued() throws {
    guard continued != nil, grammar != nil || forcedCall != nil else { return }
    throw APIError.invalid(
      "\(grammar == nil ? "tool_choice" : grammarField) cannot be enforced on a message that is continued",
      param: grammar == nil ? "tool_choice" : grammarField)
  }

  private static let logprobEntryBytes = 400  // a token with its text, its bytes and its number

  /// The limit of an answer that is sent whole with log probabilities, if the request gives none: they are in memory
  /// until then, so that not all of the context can be reserved for them.
  var defaultTokensWithLogprobs: Int? {
    guard !isStream, sampling.maximumTokens == nil, let top = sampling.topLogProbabilities else { return nil }
    return max(2048, (64 << 20) / (sequenceCount * (1 + top) * Self.logprobEntryBytes))
  }

  /// Maximum bytes of log probabilities in answers that are sent whole, as values and as JSON.
  func logprobBytes(_ prepared: [PreparedPrompt], context: Int) -> Int {
    if isStream { return 0 }
    let perEntry = Self.logprobEntryBytes
    return prepared.reduce(0) { sum, prompt in
      let limit = max(context - prompt.ids.count, 1)
      let made = min(prompt.clampedTokens ?? sampling.maximumTokens ?? limit, limit)
      let answer = sampling.topLogProbabilities.map { made * (1 + $0) * perEntry } ?? 0
      let read = promptLogProbabilities.map { prompt.ids.count * (1 + $0) * perEntry } ?? 0
      return sum + answers * (answer + read)
    }
  }

  func check() throws {
    if sequenceCount > Self.maximumSequences {
      throw APIError.invalid(
        "the request asks for \(sequenceCount) answers; at most \(Self.maximumSequences) are allowed", param: "n")
    }
    switch grammar {
    case .regularExpression, .choice, .gbnf:
      if !tools.isEmpty {
        throw APIError.invalid("\(grammarField) can be JSON only where tools may be called", param: grammarField)
      }
    default: break
    }
  }
}

/// A message of the assistant that the answer continues.
struct Continued: Sendable {
  var text: String
  var reasoning: String
}

/// A call that the answer must contain.
enum ForcedCall: Sendable, Equatable {
  case any
  case named(String)
}

/// One tool call of an answer.
struct ToolCall: Sendable {
  var id: String
  var name: String
  var arguments = ""  // JSON text
}

/// A part of an answer that is certain.
enum AnswerSegment: Sendable {
  case text(String)
  case reasoning(String)
  case callBegin(index: Int, id: String, name: String)
  case callArguments(index: Int, String)
  case callEnd(index: Int)
  case rejected(RejectedToolCall)
  case token(TokenInfo, isReasoning: Bool)
  case progress(PromptProgress)
  case finished(Completion, reasoningTokens: Int)
}

/// A whole answer, or the part received so far.
struct Answer: Sendable {
  var text = ""
  var reasoning = ""
  var calls: [ToolCall] = []
  var rejected: [RejectedToolCall] = []
  var cutCall: ToolCall?  // the incomplete call when the answer was cut off
  var tokens: [TokenInfo] = []
  var textTokens: [TokenInfo] = []  // tokens that are not reasoning
  var completion: Completion?
  var reasoningTokens = 0
  var failure: PagodaError?

  mutating func add(_ segment: AnswerSegment) {
    switch segment {
    case .text(let text): self.text += text
    case .reasoning(let text): reasoning += text
    case .callBegin(_, let id, let name): calls.append(ToolCall(id: id, name: name))
    case .callArguments(let index, let text): if index < calls.count { calls[index].arguments += text }
    case .callEnd: break
    case .rejected(let call):
      rejected.append(call)
      if let index = call.index, index == calls.count - 1 { cutCall = calls.removeLast() }
    case .token(let token, let isReasoning):
      tokens.append(token)
      if !isReasoning { textTokens.append(token) }
    case .progress: break
    case .finished(let completion, let reasoningTokens):
      self.completion = completion
      self.reasoningTokens = reasoningTokens
      if !completion.wasCut { cutCall = nil }
    }
  }

  /// OpenAI's finish reason. Calls before a truncated one are complete, but the client must see that there was more.
  var finishReason: String {
    calls.isEmpty || (cutCall != nil && completion?.finishReason == .length)
      ? completion?.finishReason.rawValue ?? "stop" : "tool_calls"
  }
}

extension Completion {
  /// Whether the model did not end the answer itself.
  var wasCut: Bool { finishReason != .stop || stopString != nil }
}

/// The engine's events of one answer.
enum StreamEvent: Sendable {
  case engine(Event)
  case failed(PagodaError)
}

/// Turns the engine's events of one answer into segments: reasoning separated, tool calls parsed. One thread at a time
/// may use it.
final class AnswerReader {
  private let parser: OutputParser
  private let thinking: ThinkingTokens
  private var isReasoning: Bool
  private var reasoningTokens = 0
  /// Notes when calls begin and end.
  var record: AccessRecord?

  init(opening: OutputParser.Opening, tools: [JSONValue], thinking: ThinkingTokens = ThinkingTokens()) throws {
    self.thinking = thinking
    isReasoning = opening == .reasoning
    parser = try OutputParser(opening, tools: tools.isEmpty ? "" : JSONValue.array(tools).text)
  }

  func read(_ event: Event) -> [AnswerSegment] {
    switch event {
    case .text(let text), .reasoning(let text): return parser.push(text).map(segment)
    case .toolCall, .rejectedToolCall, .toolFailed, .contextTrimmed: return []  // the engine gets tokens, without tools
    case .promptProgress(let progress): return [.progress(progress)]
    case .token(let token):
      if token.id == thinking.open { isReasoning = true }
      let wasReasoning = isReasoning
      if isReasoning { reasoningTokens += 1 }
      if token.id == thinking.close { isReasoning = false }
      return [.token(token, isReasoning: wasReasoning)]
    case .finished(let completion):
      return parser.finish(wasCut: completion.wasCut).map(segment)
        + [.finished(completion, reasoningTokens: reasoningTokens)]
    }
  }

  private func segment(_ segment: OutputSegment) -> AnswerSegment {
    record?.noteCall(segment)
    return switch segment {
    case .text(let text): .text(text)
    case .reasoning(let text): .reasoning(text)
    case .toolCallBegin(let index, let name): .callBegin(index: index, id: randomID("call_"), name: name)
    case .toolArguments(let index, let fragment): .callArguments(index: index, fragment)
    case .toolCallEnd(let index): .callEnd(index: index)
    case .rejectedToolCall(let call): .rejected(call)
    }
  }
}

/// The tokens that enclose a model's thinking; nil if it has none.
struct ThinkingTokens: Sendable {
  var open: Int32?
  var close: Int32?

  init() {}

  init(_ tokenizer: Tokenizer?) {
    func id(_ tag: String) -> Int32? {
      guard let ids = try? tokenizer?.encode(tag, parsingSpecialTokens: true), ids.count == 1 else { return nil }
      return ids[0]
    }
    (open, close) = (id("<think>"), id("</think>"))
  }
}

/// `call_` and the like with 24 random characters.
func randomID(_ prefix: String) -> String {
  // Two random numbers of the system, each a system call, give twelve characters each.
  let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)
  var text = Array(prefix.utf8)
  for _ in 0..<2 {
    var number = UInt64.random(in: .min ... .max)
    for _ in 0..<12 {
      text.append(letters[Int(number % 36)])
      number /= 36
    }
  }
  return String(decoding: text, as: UTF8.self)
}
