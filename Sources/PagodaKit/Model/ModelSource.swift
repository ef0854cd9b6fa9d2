// ModelSource: the origin of a model.

/// The origin of a model.
///
/// ```swift
/// let engine = try await Engine.load(.folder(path: "Models/Qwen3.5-0.8B"))
/// let demo = try await Engine.load(.mini)                        // with the product PagodaMini
/// let hub = ModelContainer(.hub("Qwen/Qwen3.5-0.8B"))            // with the product PagodaHub
/// ```
public enum ModelSource: Hashable, Sendable {
  /// A folder with `config.json`, safetensors files and, for text, `tokenizer.json`.
  case folder(path: String)
  /// The dimensions of a well-known model, such as `qwen3.5-0.8b`, with pseudo-random weights, a vocabulary of made-up words
  /// and a plain chat template: for measuring speed and memory without a download.
  case shape(String)
  /// A model that is downloaded when it is first needed, such as `ModelSource.hub("Qwen/Qwen3.5-0.8B")` of PagodaHub.
  case fetched(FetchedModel)
  /// A model whose files are in memory, such as `ModelSource.mini` of PagodaMini.
  case embedded(EmbeddedModel)
}

/// A model whose files are in memory, usually embedded in the program. Models with equal names are equal.
///
/// ```swift
/// let config = EmbeddedModel.File(name: "config.json", bytes: configBytes)
/// let weights = EmbeddedModel.File(name: "model.safetensors", bytes: weightBytes)
/// let engine = try await Engine.load(.embedded(EmbeddedModel(name: "tiny", files: [config, weights])))
/// ```
public struct EmbeddedModel: Hashable, Sendable {
  /// A file of a model.
  public struct File: @unchecked Sendable {
    /// Its name, such as `config.json`.
    public let name: String
    /// Its content. It is read in place, preferably from an address that is a multiple of 64.
    public let bytes: UnsafeRawBufferPointer

    /// A file whose content does not change and stays at its address for the lifetime of the process.
    public init(name: String, bytes: UnsafeRawBufferPointer) {
      self.name = name
      self.bytes = bytes
    }
  }

  /// Its name.
  public let name: String
  /// Its files, the same as in a model folder.
  public let files: [File]

  /// A model made of these files.
  public init(name: String, files: [File]) {
    self.name = name
    self.files = files
  }

  /// Whether the names are the same.
  public static func == (left: EmbeddedModel, right: EmbeddedModel) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A model that is downloaded when it is first needed. Models with equal names are equal.
///
/// ```swift
/// let mine = FetchedModel(name: "mine") { progress in
///   try await download("https://example.com/mine", to: folder, progress: progress)
///   return folder
/// }
/// let model = ModelContainer(.fetched(mine))
/// ```
public struct FetchedModel: Hashable, Sendable {
  /// Its name at its origin.
  public let name: String
  let location: @Sendable () throws -> String?
  let size: @Sendable () async throws -> Int64?
  let fetch: @Sendable (@escaping @Sendable (Double) -> Void) async throws -> String

  /// A model and a function that downloads it.
  /// - Parameters:
  ///   - name: its name at its origin.
  ///   - location: returns the path of the model's folder or file if it is on this machine, without downloading
  ///     anything; otherwise nil. Without this function a model never counts as downloaded.
  ///   - size: asks the origin for the bytes of a download, for ``Availability/notDownloaded(bytes:)``; nil if unknown.
  ///   - fetch: returns the path of the model's folder or file, immediately if it is present. It receives a function for
  ///     reporting a fraction from 0 to 1, and ends early when its task is cancelled. Its errors reach the caller as
  ///     ``PagodaError/fetchFailed(_:)``.
  public init(
    name: String, location: @escaping @Sendable () throws -> String? = { nil },
    size: @escaping @Sendable () async throws -> Int64? = { nil },
    fetch: @escaping @Sendable (_ progress: @escaping @Sendable (Double) -> Void) async throws -> String
  ) {
    self.name = name
    self.location = location
    self.size = size
    self.fetch = fetch
  }

  /// Whether the names are the same.
  public static func == (left: FetchedModel, right: FetchedModel) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The progress of a load.
public struct LoadProgress: Hashable, Sendable {
  /// The phase.
  public enum Phase: Hashable, Sendable {
    /// Files are being downloaded.
    case fetching
    /// Weights are being read and converted for the device.
    case loading
  }

  /// The phase.
  public var phase: Phase
  /// The completed fraction, from 0 to 1.
  public var fraction: Double
  /// Bytes of weights that are loaded; 0 while files are being downloaded.
  public var loadedBytes: Int64 = 0
  /// Bytes of weights to load; 0 while files are being downloaded.
  public var totalBytes: Int64 = 0

  /// A progress report.
  public init(phase: Phase, fraction: Double) {
    self.phase = phase
    self.fraction = fraction
  }
}
