// ModelSuggestion: a model that fits the machine, with the command that serves it.

/// A model that fits the machine, for a user who has only the embedded one.
public struct ModelSuggestion: Hashable, Sendable {
  /// The command that serves it.
  public var command: String
  /// The planned memory for one conversation.
  public var memoryBytes: Int64
  /// The memory of the device.
  public var limitBytes: Int64
  /// The context of that conversation in tokens.
  public var contextLength: Int

  /// A model that fits the machine.
  public init(command: String, memoryBytes: Int64, limitBytes: Int64, contextLength: Int) {
    self.command = command
    self.memoryBytes = memoryBytes
    self.limitBytes = limitBytes
    self.contextLength = contextLength
  }
}
