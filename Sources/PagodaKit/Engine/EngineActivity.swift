// EngineActivity: the current state of each request of an engine, and its last steps.
internal import CxxCore

/// The requests of an engine and its last steps, as of the end of a step.
public struct EngineActivity: Hashable, Sendable {
  /// One request.
  public struct Lane: Hashable, Sendable {
    /// The state of a request.
    public enum State: String, Hashable, Sendable, CaseIterable {
      /// It waits for memory or a slot.
      case waiting
      /// Its prompt is being computed.
      case reading
      /// It generates a token in each step.
      case answering
      /// It was preempted and waits to resume.
      case preempted
    }

    /// Identifies the request; later requests have larger ids.
    public var id: UInt64
    /// Its state.
    public var state: State
    /// Tokens of its prompt.
    public var promptTokens: Int
    /// How many of them were found in the prefix cache.
    public var cachedTokens: Int
    /// Tokens of prompt and answer whose keys, values and state are in memory.
    public var computedTokens: Int
    /// Tokens of its answer so far.
    public var generatedTokens: Int
    /// Maximum tokens of its answer.
    public var maximumGeneratedTokens: Int
    /// How often it was preempted.
    public var preemptions: Int

    /// A request, for tests.
    public init(
      id: UInt64, state: State, promptTokens: Int, cachedTokens: Int, computedTokens: Int, generatedTokens: Int,
      maximumGeneratedTokens: Int, preemptions: Int
    ) {
      self.id = id
      self.state = state
      self.promptTokens = promptTokens
      self.cachedTokens = cachedTokens
      self.computedTokens = computedTokens
      self.generatedTokens = generatedTokens
      self.maximumGeneratedTokens = maximumGeneratedTokens
      self.preemptions = preemptions
    }
  }

  /// One step: a pass of the model over parts of several requests.
  public struct Step: Hashable, Sendable {
    /// Numbered from 1 since the engine was loaded.
    public var index: Int64
    /// Prompt tokens processed in this step.
    public var readTokens: Int
    /// Requests that computed a token of their answers.
    public var answering: Int
    /// Drafts verified.
    public var drafts: Int
    /// Requests preempted before this step.
    public var preempted: Int
    /// The duration of the step.
    public var seconds: Double

    /// A step, for tests.
    public init(index: Int64, readTokens: Int, answering: Int, drafts: Int, preempted: Int, seconds: Double) {
      self.index = index
      self.readTokens = readTokens
      self.answering = answering
      self.drafts = drafts
      self.preempted = preempted
      self.seconds = seconds
    }
  }

  /// Running requests, oldest first, then waiting ones; at most 128.
  public var lanes: [Lane]
  /// The last steps, oldest first; at most 256.
  public var steps: [Step]

  /// Requests and steps, for tests.
  public init(lanes: [Lane], steps: [Step]) {
    self.lanes = lanes
    self.steps = steps
  }
}

/// A live view of an engine's requests. The engine records them only while a watch exists.
///
/// ```swift
/// let watch = engine.watch()
/// for lane in watch.activity.lanes { print(lane) }
/// ```
public final class EngineWatch: Sendable {
  private let core: EngineHandle
  private let isOpen: Bool

  init(_ core: EngineHandle) {
    self.core = core
    isOpen = core.engine.open_watch()
  }

  deinit {
    if isOpen { core.engine.close_watch() }
  }

  /// Requests and steps as of the last step since the watch started.
  public var activity: EngineActivity { EngineActivity(core.engine.activity()) }
}

extension Engine {
  /// Starts recording each request's state; ends when the watch is released.
  public func watch() -> EngineWatch { EngineWatch(core) }
}

extension EngineActivity {
  init(_ activity: pagoda.Activity) {
    lanes = activity.lanes.map { Lane($0) }
    steps = activity.steps.map { Step($0) }
  }
}

extension EngineActivity.Lane {
  init(_ lane: pagoda.Lane) {
    id = lane.request_id
    switch lane.state {
    case .reading: state = .reading
    case .answering: state = .answering
    case .preempted: state = .preempted
    default: state = .waiting
    }
    promptTokens = Int(lane.num_prompt_tokens)
    cachedTokens = Int(lane.num_cached_tokens)
    computedTokens = Int(lane.num_computed_tokens)
    generatedTokens = Int(lane.num_generated_tokens)
    maximumGeneratedTokens = Int(lane.max_generated_tokens)
    preemptions = Int(lane.num_preemptions)
  }
}

extension EngineActivity.Step {
  init(_ step: pagoda.StepRecord) {
    index = step.step_index
    readTokens = Int(step.num_read_tokens)
    answering = Int(step.num_answering)
    drafts = Int(step.num_drafts)
    preempted = Int(step.num_preempted)
    seconds = step.seconds
  }
}
