// Request: a prompt and how to answer it.

/// A prompt and how to answer it.
public struct Request: Hashable, Sendable {
  /// The prompt.
  @frozen
  public enum Prompt: Hashable, Sendable {
    /// Text given to the model as it is, without its chat template; spelled control tokens count as such. Where the
    /// tokenizer has a token that begins a text (``Tokenizer/startTokens``), it is put before it unless it is there.
    case text(String)
    /// Token ids; works without a tokenizer.
    case tokens([Int32])
    /// A conversation, put into the model's chat template.
    case messages([Message])
  }

  /// A constraint on an answer. Enforced token by token, after thinking; what cannot be enforced is refused.
  @frozen
  public enum Grammar: Hashable, Sendable {
    /// Any JSON object.
    case jsonObject
    /// A JSON schema, as its text.
    case jsonSchema(String)
    /// A regular expression that the whole answer matches; of ECMA-262, without look-around and back references.
    case regularExpression(String)
    /// One of these texts.
    case choice([String])
    /// A grammar in llama.cpp's notation (GBNF), whose rule `root` is the answer.
    case gbnf(String)
  }

  /// Whether an answer calls tools.
  @frozen
  public enum ToolChoice: Hashable, Sendable {
    /// As the model likes.
    case automatic
    /// It calls one or more of them.
    case required
    /// It calls the one of this name.
    case named(String)
  }

  /// The prompt.
  public var prompt: Prompt
  /// How it picks its tokens and when it ends.
  public var sampling: SamplingParameters
  /// Whether the model thinks before it answers; nil leaves it to the chat template.
  public var thinking: Bool?
  /// Tools that the model may call; only for conversations.
  public var tools: [ToolDefinition] = []
  /// Whether the answer must call them. A call that is required is enforced token by token, after thinking, with arguments that
  /// fit the tool's parameters; `grammar` then has no effect.
  public var toolChoice = ToolChoice.automatic
  /// A constraint on the answer; nil for none.
  public var grammar: Grammar?
  /// Calls that the answer must or may hold, as the core's grammar of kind `tool_calls` has it; goes before `grammar`.
  package var callGrammar: String?
  /// Whether the request may reuse what others computed, and leave what it computes to them.
  public var usesPrefixCache = true
  /// Of requests that wait, those with a lower priority run first, as in vLLM.
  public var priority = 0
  /// Requests with the same share (those of one client) take their tokens from one fair share; at most 256 bytes. Nil shares with
  /// all others that have none.
  public var shareID: String?
  /// Requests with different salts (tenants, for instance) share nothing; at most 256 bytes.
  public var cacheSalt: String?
  /// Whether tokens may be drafted for this request; see `EngineOptions.speculation`.
  public var speculates = true
  /// Log probabilities of the prompt's tokens, in ``Completion/promptTokens``: nil for none, 0 for those of the tokens, n
  /// also for the n most likely alternatives (20 at most). Such a request reads its prompt anew.
  public var promptLogProbabilities: Int?
  /// An answer made before, to be checked: its tokens are drawn again in one pass, and the first that differs is the last.
  package var answerTokens: [Int32] = []
  /// A grammar by the core's own kind and text; goes before the others.
  package var coreGrammar: CoreGrammar?
  /// Where other prompts will diverge from this one: numbers of leading tokens after which a state is worth keeping. Ends of
  /// turns, a coarse grid and the end of the prompt need no mention.
  public var checkpointPositions: [Int] = []

  /// Whether thinking tags among the ids of ``Prompt/tokens(_:)`` are meant as such; false for ids of plain text.
  package var hasThinkingTags = true

  package struct CoreGrammar: Hashable, Sendable {
    package var kind: String
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

  /// One question of a person.
  public init(_ question: String, sampling: SamplingParameters = SamplingParameters(), thinking: Bool? = nil) {
    self.init(messages: [.user(question)], sampling: sampling, thinking: thinking)
  }
}
