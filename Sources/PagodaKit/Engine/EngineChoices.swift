// Choices of an engine: devices, number formats, weight formats, RoPE scaling, speculation.

extension EngineOptions {
  /// The device that runs the model.
  public enum Device: Hashable, Sendable {
    /// A GPU whose self-test agrees with the CPU, otherwise the CPU.
    case automatic
    /// The CPU with the best instruction set it supports.
    case cpu
    /// The CPU with a given instruction set, such as `avx2`; for comparisons.
    case cpuWith(instructions: String)
    /// The GPU of a Mac, an iPhone or an iPad.
    case metal
    /// An NVIDIA GPU.
    case cuda
    /// The GPU kernels, executed and checked on the CPU; slow.
    case software
    /// Kernels are prepared and counted but not run; answers are meaningless. With `overlapping`, launches overlap as
    /// on NVIDIA GPUs, otherwise they run as on Apple's.
    case dry(overlapping: Bool)
    /// Scalar code in double precision, for comparisons; slow.
    case reference
  }

  /// A number format of weights.
  public enum WeightFormat: String, CaseIterable, Hashable, Sendable {
    /// 32 bits.
    case float32
    /// 16 bits, 11 of them for precision.
    case float16
    /// 16 bits, 8 of them for precision.
    case bfloat16
  }

  /// A number format of the KV cache.
  public enum CacheFormat: String, CaseIterable, Hashable, Sendable {
    /// 32 bits.
    case float32
    /// 16 bits, 11 of them for precision.
    case float16
    /// 16 bits, 8 of them for precision.
    case bfloat16
    /// 8 bits with scales; about half the size of 16 bits.
    case int8
  }

  /// A number format of recurrent states.
  public enum StateFormat: String, CaseIterable, Hashable, Sendable {
    /// 32 bits.
    case float32
    /// 16 bits, 8 of them for precision; states are rounded once every 16 tokens.
    case bfloat16
  }

  /// The format of the weights in memory.
  public enum Quantization: String, CaseIterable, Hashable, Sendable {
    /// The format of the file; matrices in a format that the device cannot keep get 8 bits per weight.
    case automatic = "auto"
    /// The format given by `EngineOptions.dtype`.
    case off = "none"
    /// bfloat16.
    case bfloat16 = "bf16"
    /// 8 bits per weight.
    case eightBit = "8bit"
    /// 4 bits per weight.
    case fourBit = "4bit"
  }

  /// RoPE scaling for a context longer than the trained one. If no trained context is given, the model's own value is
  /// used.
  public enum RopeScaling: Hashable, Sendable {
    /// No scaling, even if the model specifies one.
    case off
    /// All positions are divided by a factor.
    case linear(factor: Double, trainedContext: Int? = nil)
    /// The base grows with the length of the sequence.
    case dynamic(factor: Double, trainedContext: Int? = nil)
    /// YaRN: slow rotations are stretched, fast ones are kept.
    case yarn(factor: Double, trainedContext: Int? = nil)
  }

  /// The source of drafts for speculative decoding.
  public enum Speculation: String, CaseIterable, Hashable, Sendable {
    /// The model's own head, if it has one, and the text so far; as many drafts as pay off.
    case automatic = "auto"
    /// No drafts: one token per step.
    case off
    /// Only the model's own multi-token-prediction head.
    case mtp
    /// Only earlier text of the same sequence.
    case lookup
  }
}

extension EngineOptions.Device: LosslessStringConvertible {
  /// The name on the command line, such as `auto` or `cpu:avx2`.
  public var description: String {
    switch self {
    case .automatic: "auto"
    case .cpu: "cpu"
    case .cpuWith(let instructions): "cpu:" + instructions
    case .metal: "metal"
    case .cuda: "cuda"
    case .software: "software"
    case .dry(let overlapping): overlapping ? "dry:overlap" : "dry"
    case .reference: "reference"
    }
  }

  /// The devices available on this platform, the automatic choice first.
  public static var choices: [Self] {
    #if canImport(Metal)
    [.automatic, .cpu, .metal, .software, .reference]
    #elseif os(Linux)
    [.automatic, .cpu, .cuda, .software, .reference]
    #else
    [.automatic, .cpu, .software, .reference]
    #endif
  }

  /// A device by its name on the command line; nil for an unknown one.
  public init?(_ description: String) {
    let known: [Self] = [
      .automatic, .cpu, .metal, .cuda, .software, .dry(overlapping: false), .dry(overlapping: true), .reference,
    ]
    if let device = known.first(where: { $0.description == description }) {
      self = device
    } else if description.hasPrefix("cpu:"), description.utf8.count > 4 {
      self = .cpuWith(instructions: String(description.dropFirst(4)))
    } else {
      return nil
    }
  }
}

extension EngineOptions.RopeScaling: LosslessStringConvertible {
  /// The rule on the command line, such as `yarn:4` or `yarn:4:32768`.
  public var description: String {
    switch self {
    case .off: "none"
    case .linear(let factor, let context): Self.rule("linear", factor, context)
    case .dynamic(let factor, let context): Self.rule("dynamic", factor, context)
    case .yarn(let factor, let context): Self.rule("yarn", factor, context)
    }
  }

  private static func rule(_ name: String, _ factor: Double, _ context: Int?) -> String {
    "\(name):\(factor)" + (context.map { ":\($0)" } ?? "")
  }

  /// A rule by its name on the command line; nil if it is not valid.
  public init?(_ description: String) {
    let words = description.split(separator: ":", omittingEmptySubsequences: false)
    if words == ["none"] {
      self = .off
      return
    }
    guard words.count == 2 || words.count == 3, let factor = Double(words[1]) else { return nil }
    let context = words.count == 3 ? Int(words[2]) : nil
    if words.count == 3 && context == nil { return nil }
    switch words[0] {
    case "linear": self = .linear(factor: factor, trainedContext: context)
    case "dynamic": self = .dynamic(factor: factor, trainedContext: context)
    case "yarn": self = .yarn(factor: factor, trainedContext: context)
    default: return nil
    }
  }
}

extension EngineOptions {
  /// The other stages of a model that runs on several machines.
  public enum Pipeline: Hashable, Sendable, CustomStringConvertible {
    /// Addresses as `host:port`, each of a ``PipelineStage``.
    case stages([String])
    /// The other ranks that mpirun started.
    case mpi

    /// The value as written on the command line.
    public var description: String {
      switch self {
      case .stages(let addresses): addresses.joined(separator: ",")
      case .mpi: "mpi"
      }
    }
  }
}
