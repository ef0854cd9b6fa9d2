// The formats of a model's matrices, their sizes, and what other formats would take.

/// The matrices of a model that are kept in one format.
///
/// ```swift
/// let info = try await Engine.inspect(.mini)
/// for one in info.weightFormats { print(one.format, one.matrixCount, one.matrices.bytes, one.matrices.bitsPerWeight) }
/// ```
public struct WeightFormatSum: Hashable, Sendable {
  /// The format: `Q4_K`, `8bit`, `bfloat16`.
  public var format: String = ""
  /// Number of matrices of the model's files; stacked experts are one.
  public var matrixCount: Int = 0
  /// Their elements and bytes.
  public var matrices = MatrixSum()

  /// All values zero or empty, for tests that set what they need.
  public init() {}
}

/// What a model's weights would take in another format.
///
/// ```swift
/// let info = try await Engine.inspect(.mini)
/// for other in info.otherWeights { print(other.quantize, other.weightsBytes - info.plan.weightsBytes) }
/// ```
public struct OtherWeights: Hashable, Sendable {
  /// The format, as an option of an engine.
  public var quantize = EngineOptions.Quantization.automatic
  /// The memory of the weights, as ``MemoryPlan/weightsBytes``.
  public var weightsBytes: Int64 = 0
  /// Bytes that each token of an answer reads, as ``ModelInfo/bytesPerToken``.
  public var bytesPerToken: Int64 = 0

  /// All values zero, for tests that set what they need.
  public init() {}
}

extension ModelInfo {
  /// All matrices in memory.
  public var allMatrices: MatrixSum {
    weightFormats.reduce(into: MatrixSum()) {
      $0.parameterCount += $1.matrices.parameterCount
      $0.bytes += $1.matrices.bytes
    }
  }

  /// Bytes of matrices that each token of a single answer reads: the layers, of experts only those that it is routed to,
  /// and the output matrix.
  public var bytesPerToken: Int64 { layerMatrices.bytes + headMatrix.bytes }
}

/// A set of matrices.
public struct MatrixSum: Hashable, Sendable {
  /// Number of elements.
  public var parameterCount: Int64 = 0
  /// Their size in memory.
  public var bytes: Int64 = 0

  /// Bits that an element takes in memory, with its share of scales; 0 without elements.
  public var bitsPerWeight: Double { parameterCount > 0 ? Double(bytes) * 8 / Double(parameterCount) : 0 }

  /// A set of matrices.
  public init(parameterCount: Int64 = 0, bytes: Int64 = 0) {
    self.parameterCount = parameterCount
    self.bytes = bytes
  }
}
