// Request: a prompt and the parameters of its answer.

/// A prompt and the parameters of its answer.
///
/// ```swift
/// var request = Request("Name a colour.", sampling: SamplingParameters(temperature: 0))
/// request.grammar = .choice(["red", "green", "blue"])
/// print(try await engine.respond(to: request))
/// ```
public struct Request: Hashable, Sendable {
  /// The prompt.
  public enum Prompt: Hashable, Sendable {
    /// Text passed to the model without its chat template; control tokens in the text are recognised. If the tokenizer
    /// has start tokens (``Tokenizer/startTokens``), they are prepended unless the text begins with them.
    case text(String)
    /// Token ids; works without a tokenizer.
    case tokens([Int32])
    /// A conversation, put into the model's chat template.
    case messages([Message])
  }

  /// A constraint on an answer. Enforced token by token, after thinking; a constraint that cannot be enforced is
  /// refused.
  ///
  /// ```swift
  /// request.grammar = .choice(["yes", "no"])
  /// request.grammar = .regex("[0-9]{4}-[0-9]{2}-[0-9]{2}")
  /// request.grammar = .matching(.object([.init("age", .integer(in: 0...150))]))
  /// ```
  public enum Grammar: Hashable, Sendable {
    /// Any JSON object.
    case jsonObject
    /// A JSON schema, as its text.
    case jsonSchema(String)
    /// A regular expression that the whole answer must match; ECMA-262 without look-around and back references.
    case regularExpression(String)
    /// One of these texts.
    case choice([String])
    /// A grammar in llama.cpp's notation (GBNF), whose rule `root` is the answer.
    case gbnf(String)
  }

  /// Whether an answer must call tools.
  ///
  /// ```swift
  /// request.tools = [definition]
  /// request.toolChoice = .required
  /// ```
  public enum ToolChoice: Hashable, Sendable {
    /// The model decides.
    case automatic
    /// The answer calls one or more tools.
    case required
    /// The answer calls the tool of this name.
    case named(String)
  }

  /// The prompt.
  public var prompt: Prompt
  /// Sampling parameters and stop conditions.
  public var sampling: SamplingParameters
  /// Whether the model thinks before it answers; nil leaves it to the chat template.
  public var thinking: Bool?
  /// The beginning of the answer, which the model continues, for example one that a token limit cut off; only for
  /// conversations. The events have what follows it. If the template begins with thinking, the thinking is closed first.
  public var answerStart: String?
  /// Tools that the model may call; only for conversations.
  public var tools: [ToolDefinition] = []
  /// Whether the answer must call them. A required call is enforced token by token, after thinking, with arguments that
  /// match the tool's parameters; `grammar` then has no effect.
  public var toolChoice = ToolChoice.automatic
  /// A constraint on the answer; nil for none.
  public var grammar: Grammar?
  /// Tool calls that the answer must or may contain, as text of the core's grammar kind `tool_calls`; overrides
  /// `grammar`.
  package var callGrammar: String?
  /// Whether the request may use the prefix cache and add to it.
  public var usesPrefixCache = true
  /// Waiting requests with a lower priority value run first, as in vLLM.
  public var priority = 0
  /// Requests with the same share id (those of one client) use one fair share; at most 256 bytes. Requests without one
  /// form one share together.
  public var shareID: String?
  /// Requests with different salts (such as tenants) never share cached prefixes; at most 256 bytes.
  public var cacheSalt: String?
  /// The LoRA adapter that the answer uses, by its name in ``Engine/loras``; nil for the model alone.
  public var lora: String?
  /// Whether tokens may be drafted for this request; see `EngineOptions.speculation`.
  public var speculates = true
  /// Log probabilities of the prompt's tokens, in ``Completion/promptTokens``: nil for none, 0 for the tokens only, n
  /// also for the n most likely alternatives (at most 20). Such a request computes its whole prompt.
  public var promptLogProbabilities: Int?
  /// What happens if a conversation does not fit the context; prompts of text or tokens are always refused.
  public var contextPolicy = ContextPolicy.stop
  /// Minimum seconds between ``Event/promptProgress(_:)`` events; 0 for one per step, nil for none.
  public var promptProgressInterval: Double?
  /// Changes the logits of each token before it is sampled, or chooses the token; nil for none.
  public var logitProcessor: LogitProcessor?
  /// A recorded answer to verify: its tokens are sampled again in one pass, which ends at the first difference.
  package var answerTokens: [Int32] = []
  /// Text that the answer is expected to repeat in parts; tokens may be drafted from it.
  package var predictionTokens: [Int32] = []
  /// A grammar by the core's own kind and text; overrides the others.
  package var coreGrammar: CoreGrammar?
  /// Positions where other prompts are expected to diverge: numbers of leading tokens after which a state is worth
  /// saving. Ends of turns, a coarse grid and the end of the prompt are included automatically.
  public var checkpointPositions: [Int] = []

  /// The images of ``Prompt/tokens(_:)``, whose ids have the placeholders of each.
  package var placedImages: [PlacedImage] = []

  /// How the answer to ``Prompt/tokens(_:)`` is read if a chat template has rendered the ids; nil for plain text.
  package var answerForm: AnswerForm?

  /// Whether thinking tags among the ids of ``Prompt/tokens(_:)`` are control tokens; false for ids of plain text.
  package var hasThinkingTags = true

  package struct CoreGrammar: Hashable, Sendable {
    /// Named as in receipts.
    package enum Kind: String, CaseIterable, Sendable {
      case jsonObject = "json_object"
      case jsonSchema = "json_schema"
      case toolCalls = "tool_calls"
      case regularExpression = "regex"
      case choice, gbnf
    }
    package var kind: Kind
    package var text: String
  }

  /// A request with any kind of prompt.
  public init(prompt: Prompt, sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil) {
    self.prompt = prompt
    self.sampling = sampling
    self.thinking = thinking
  }

  /// A conversation.
  public init(messages: [Message], sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil) {
    self.init(prompt: .messages(messages), sampling: sampling, thinking: thinking)
  }

  /// A single question of a user.
  public init(_ question: String, sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil) {
    self.init(messages: [.user(question)], sampling: sampling, thinking: thinking)
  }
}
