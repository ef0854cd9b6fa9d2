// ModelSource: where a model comes from.

/// Where a model comes from.
@frozen
public enum ModelSource: Hashable, Sendable {
  /// A folder with `config.json`, safetensors files and, for text, `tokenizer.json`.
  case folder(path: String)
  /// The shape of a well-known model, such as `qwen3.5-0.8b`, with pseudo-random weights and no tokenizer: for measuring
  /// speed and memory without a download.
  case shape(String)
  /// A model that is fetched when it is first needed, such as `ModelSource.hub("Qwen/Qwen3.5-0.8B")` of PagodaHub.
  case fetched(FetchedModel)
  /// A model whose files are in memory, such as `ModelSource.mini` of PagodaMini.
  case embedded(EmbeddedModel)
}

/// A model whose files are in memory, mostly inside the program. Two of the same name are the same model.
public struct EmbeddedModel: Hashable, Sendable {
  /// A file of a model.
  public struct File: @unchecked Sendable {
    /// Its name, such as `config.json`.
    public let name: String
    /// Its content. It is read where it lies, best from an address that is a multiple of 64.
    public let bytes: UnsafeRawBufferPointer

    /// A file whose content does not change and stays at its address as long as the process.
    public init(name: String, bytes: UnsafeRawBufferPointer) {
      self.name = name
      self.bytes = bytes
    }
  }

  /// Its name.
  public let name: String
  /// Its files: those that a folder of a model has.
  public let files: [File]

  /// A model of these files.
  public init(name: String, files: [File]) {
    self.name = name
    self.files = files
  }

  /// Whether the names are the same.
  public static func == (left: EmbeddedModel, right: EmbeddedModel) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A model that is fetched when it is first needed. Two of the same name are the same model.
public struct FetchedModel: Hashable, Sendable {
  /// Its name at its origin.
  public let name: String
  let fetch: @Sendable (@escaping @Sendable (Double) -> Void) async throws -> String

  /// A model and how it is fetched.
  /// - Parameters:
  ///   - name: what it is called where it comes from.
  ///   - fetch: returns the path of the model's folder or file, at once if it is there. It is given a function to report
  ///     a fraction from 0 to 1 to, and ends early when its task is cancelled.
  public init(
    name: String, fetch: @escaping @Sendable (_ progress: @escaping @Sendable (Double) -> Void) async throws -> String
  ) {
    self.name = name
    self.fetch = fetch
  }

  /// Whether the names are the same.
  public static func == (left: FetchedModel, right: FetchedModel) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// How far a load is.
public struct LoadProgress: Hashable, Sendable {
  /// The phase.
  @frozen
  public enum Phase: Hashable, Sendable {
    /// Files are fetched from elsewhere.
    case fetching
    /// Weights are read and put into the device's form.
    case loading
  }

  /// The phase.
  public var phase: Phase
  /// How much of it is done, from 0 to 1.
  public var fraction: Double

  /// A part of a load.
  public init(phase: Phase, fraction: Double) {
    self.phase = phase
    self.fraction = fraction
  }
}
