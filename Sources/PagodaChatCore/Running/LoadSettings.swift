// LoadSettings: the user's choices before a model is loaded; kept per model.
import PagodaKit

/// Settings chosen before a model is loaded.
public struct LoadSettings: Codable, Hashable, Sendable {
  /// A format of the weights.
  public enum Weights: String, Codable, CaseIterable, Hashable, Sendable {
    /// As the engine thinks best.
    case automatic
    /// As in the file.
    case asStored
    /// 8 bits per weight.
    case eightBit
    /// 4 bits per weight.
    case fourBit
  }

  /// The device that computes.
  public enum Device: String, Codable, CaseIterable, Hashable, Sendable {
    /// A GPU that passes its test, otherwise the CPU.
    case automatic
    /// The CPU.
    case cpu
    /// The GPU of a Mac.
    case metal
  }

  /// Format of the weights.
  public var weights = Weights.automatic
  /// The device that computes.
  public var device = Device.automatic
  /// Longest conversation in tokens; nil for the model's own, or as much of it as fits.
  public var contextLength: Int?
  /// Whether the KV cache takes 8 bits per number instead of 16.
  public var compactCache = false
  /// Conversations that are answered concurrently.
  public var parallelAnswers = 4

  /// As the engine thinks best.
  public init() {}

  /// Missing fields keep their defaults, so that files of earlier versions can be read.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    weights = try values.decodeIfPresent(Weights.self, forKey: .weights) ?? weights
    device = try values.decodeIfPresent(Device.self, forKey: .device) ?? device
    contextLength = try values.decodeIfPresent(Int.self, forKey: .contextLength)
    compactCache = try values.decodeIfPresent(Bool.self, forKey: .compactCache) ?? compactCache
    parallelAnswers = try values.decodeIfPresent(Int.self, forKey: .parallelAnswers) ?? parallelAnswers
  }

  /// Engine options with these choices.
  public func applied(to options: EngineOptions) -> EngineOptions {
    var result = options
    result.quantize =
      switch weights {
      case .automatic: options.quantize
      case .asStored: .off
      case .eightBit: .eightBit
      case .fourBit: .fourBit
      }
    result.device =
      switch device {
      case .automatic: options.device
      case .cpu: .cpu
      case .metal: .metal
      }
    result.maximumModelLength = contextLength ?? options.maximumModelLength
    if compactCache { result.kvDType = .int8 }
    result.maximumSequences = max(1, parallelAnswers)
    return result
  }
}
