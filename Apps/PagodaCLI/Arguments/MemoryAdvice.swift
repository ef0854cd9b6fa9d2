// Memory advice: model sizes that fit this machine, and a format in which a model fits if the given one does not.
import PagodaHub
import PagodaKit
import PagodaServer

/// A model that fits, with its format and planned memory.
struct FittingModel {
  var shortName: String
  var form: String
  var plan: MemoryPlan
  var downloadBytes: Int64  // in 16 bits per weight, as on the hub
}

/// The context that advice on models plans for.
let advisedContext = 16384

/// Two or three sizes of Qwen3.5 that fit this machine, the largest last: 4 bits per weight, one conversation.
func fittingModels(of sizes: [String] = ["0.8b", "2b", "4b", "9b", "27b"]) async -> [FittingModel] {
  var options = EngineOptions()
  options.quantize = .fourBit
  options.maximumSequences = 1
  options.maximumModelLength = advisedContext
  var found: [FittingModel] = []
  for size in sizes {
    guard let info = try? await Engine.inspect(.shape("qwen3.5-\(size)"), options: options) else { break }
    // Do not recommend a model that leaves no memory for other programs.
    guard info.plan.totalBytes < info.plan.deviceLimitBytes * 3 / 4 else { break }
    found.append(
      FittingModel(shortName: "qwen3.5:\(size)", form: "4bit", plan: info.plan, downloadBytes: info.parameterCount * 2))
  }
  return found.suffix(3)
}

/// The same for the server's page.
func suggestions() async -> [ModelSuggestion] {
  await fittingModels().map {
    ModelSuggestion(
      command: "pagoda serve --model \($0.shortName) --quantize \($0.form)", memoryBytes: $0.plan.totalBytes,
      limitBytes: $0.plan.deviceLimitBytes, contextLength: advisedContext)
  }
}

/// The error for a model that does not fit, with a format that does.
func adviceOnMemory(_ message: String, _ source: ModelSource, _ options: EngineOptions) async -> String {
  for form in [EngineOptions.Quantization.eightBit, .fourBit] where form != options.quantize {
    var smaller = options
    smaller.quantize = form
    guard let info = try? await Engine.inspect(source, options: smaller) else { continue }
    return "\(message)\nIt would fit with --quantize \(form.rawValue): \(readable(bytes: info.plan.totalBytes)) of "
      + "\(readable(bytes: info.plan.deviceLimitBytes))."
  }
  var shorter = options
  (shorter.quantize, shorter.maximumModelLength, shorter.maximumSequences) = (.fourBit, 4096, 1)
  if options.maximumModelLength ?? .max > 4096,
    (try? await Engine.inspect(source, options: shorter)) != nil
  {
    return "\(message)\nIt would fit with --quantize 4bit --max-model-len 4096 --max-num-seqs 1."
  }
  guard let largest = await fittingModels().last else { return message }
  return "\(message)\nNo form of it fits this machine; \(largest.shortName) with --quantize \(largest.form) does "
    + "(\(readable(bytes: largest.plan.totalBytes)))."
}
