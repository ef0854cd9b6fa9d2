// The banner of a chat: the current model, and others that this machine could run.
import PagodaKit

/// The lines above the first prompt.
func chatBanner(_ name: String, _ info: ModelInfo) async -> String {
  let hint = Style.dim(fittingLine("/help shows the commands, Ctrl-D leaves.")) + "\n\n"
  let memory = "\(readable(bytes: info.plan.totalBytes)) of \(readable(bytes: info.plan.deviceLimitBytes))"
  guard name == "mini" else {
    let context = "\(info.plan.maximumModelLength) tokens of context"
    let facts = fittingParts([name, info.weightDType, memory, context, info.device])
    return Style.bold(name) + facts.dropFirst(name.count) + "\n" + hint
  }
  let first = fittingLine(
    "mini, the \(megabytes(MiniModelSize.bytes)) demo model inside the program, on \(info.device).")
  var text = Style.bold("mini") + first.dropFirst("mini".count) + "\n"
  let models = await fittingModels()
  if !models.isEmpty {
    text +=
      fittingLine(
        "It answers simple questions. Real models that fit this machine, with their memory use for a chat of "
          + "\(advisedContext) tokens:") + "\n"
    let rows = models.map {
      (
        "  pagoda chat \($0.shortName) --quantize \($0.form)",
        "\(readable(bytes: $0.plan.totalBytes)) of \(readable(bytes: $0.plan.deviceLimitBytes))"
      )
    }
    text += columns(rows, width: Style.textWidth)
  }
  return text + hint
}

/// The embedded model's weights.
enum MiniModelSize {
  static let bytes: Int64 = 23_416_424
}

func megabytes(_ bytes: Int64) -> String { "\((bytes + 500_000) / 1_000_000) MB" }
