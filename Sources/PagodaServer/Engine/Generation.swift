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
  /// What the sequences have in common: everything but the prompt.
  var request: Request
  /// Number of answers to each prompt.
  var answers = 1
  var isStream = false
  /// The field that limits the answer, for messages about it.
  var limitField = "max_tokens"
  var promptField = "messages"
  /// The field that the request's grammar came from.
  var grammarField = "response_format"
  /// Text that the answer is expected to repeat in parts, such as a file to edit.
  var prediction: String?
  /// Functions that the model may call, in the shape of chat completions.
  var tools: [JSONValue] = []
  var forcedCall: ForcedCall?
  /// How their calls are enforced and answered.
  var toolList = ToolList()
  var allowsParallelCalls = true
  /// The beginning of the answer, which is not repeated.
  var continued: Continued?

  /// Whether the oldest turns are left out of a conversation that is too long.
  var contextPolicy = ContextPolicy.stop

  init(prompts: [Prompt], sampling: SamplingParameters) {
    self.prompts = prompts
    request = Request(prompt: .tokens([]), sampling: sampling)
  }

  var sequenceCount: Int { prompts.count * answers }
  static let maximumSequences = 128

  /// Reads the fields that OpenAI's endpoints have in common besides sampling.
  mutating func readCommon(_ fields: FieldReader, _ models: ServedModels) throws {
    request.priority = try fields.integer("priority", in: Int64(Int32.min)...Int64(Int32.max)) ?? 0
    request.cacheSalt = try fields.string("cache_salt", maximumBytes: 64)
    request.lora = try models.adapter(in: fields)
  }

  /// A format or a forced call applies to the whole answer, part of which the client has already given.
  func checkContinued() throws {
    guard continued != nil, request.grammar != nil || forcedCall != nil else { return }
    throw APIError.invalid(
      "\(request.grammar == nil ? "tool_choice" : grammarField) cannot be enforced on a message that is continued",
      param: request.grammar == nil ? "tool_choice" : grammarField)
  }

  private static let logprobEntryBytes = 400  // a token with its text, its bytes and its number

  /// The limit of an answer that is sent whole with log probabilities, if the request gives none: they are in memory
  /// until then, so that not all of the context can be reserved for them.
  var defaultTokensWithLogprobs: Int? {
    guard !isStream, request.sampling.maximumTokens == nil, let top = request.sampling.topLogProbabilities else {
      return nil
    }
    return max(2048, (64 << 20) / (sequenceCount * (1 + top) * Self.logprobEntryBytes))
  }

  /// Maximum bytes of log probabilities in answers that are sent whole, as values and as JSON.
  func logprobBytes(_ prepared: [PreparedPrompt], context: Int) -> Int {
    if isStream { return 0 }
    let perEntry = Self.logprobEntryBytes
    return prepared.reduce(0) { sum, prompt in
      let limit = max(context - prompt.ids.count, 1)
      let made = min(prompt.clampedTokens ?? request.sampling.maximumTokens ?? limit, limit)
      let answer = request.sampling.topLogProbabilities.map { made * (1 + $0) * perEntry } ?? 0
      let read = request.promptLogProbabilities.map { prompt.ids.count * (1 + $0) * perEntry } ?? 0
      return sum + answers * (answer + read)
    }
  }

  func check() throws {
    if sequenceCount > Self.maximumSequences {
      throw APIError.invalid(
        "the request asks for \(sequenceCount) answers; at most \(Self.maximumSequences) are allowed", param: "n")
    }
    switch request.grammar {
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
    case .callBegin(_, let id, let name): calls.append(ToolCall(id: id, name: name, arguments: ""))
    case .callArguments(let index, let text): if index < calls.count { calls[index].arguments += text }
    case .callEnd: break
    case .rejected(let call):
      rejected.append(call)
      if let index = call.index, index == calls.count - 1 { cutCall = calls.removeLast() }
    case .token(let token, let isReasoning):
      tokens.append(token)
      if !isReasoning { textTokens.append(token) }
    case .progress, .trimmed: break
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

/// What the engine reports of one answer: its next segment, or why there is no more.
typealias StreamEvent = Result<AnswerSegment, PagodaError>

/// A prefix such as `resp_` with 24 random characters.
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
