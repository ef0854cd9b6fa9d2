// pagoda info: describes a model and its memory plan; loads no weights.
import Foundation
import PagodaHub
import PagodaKit

extension Command {
  static let info = Command(
    name: "info",
    summary: "Describes a model and the memory it needs, without loading it.",
    operands: "[MODEL]",
    notes: """
      MODEL is anything that --model accepts. For a model ORG/NAME that is not on this machine, it lists the hub's files.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model, SharedOptions.shape,
          Option("image", value: "FILE", help: "also show how many tokens an image takes; may be given several times"),
          Option("json", help: "print a JSON object"),
        ]),
      SharedOptions.engine,
    ],
    run: runInfo)
}

private func runInfo(_ arguments: Arguments) async throws -> Int32 {
  var arguments = arguments
  try arguments.takeModelOperand()
  if let name = arguments.string("model"), !arguments.has("shape"), let listing = try await listingIfAbsent(name) {
    Terminal.write(arguments.has("json") ? json(listing, of: name).text + "\n" : describe(listing, of: name))
    return 0
  }
  let (source, options) = (try arguments.modelSource(), try arguments.engineOptions())
  do {
    let images = try arguments.images()
    let info = try await Engine.inspect(source, options: options)
    let named = Array(zip(arguments.values["image"] ?? [], images))
    if arguments.has("json") {
      Terminal.write(JSONValue.model(info, images: try named.map { try json($0, $1, info) }).text + "\n")
    } else {
      Terminal.write(describe(info) + (try describe(named, info)))
    }
  } catch PagodaError.outOfMemory(let message) {
    throw PagodaError.outOfMemory(await adviceOnMemory(message, source, options))
  }
  return 0
}

private func json(_ name: String, _ image: ImageInput, _ info: ModelInfo) throws -> JSONValue {
  let (width, height) = try image.pixelSize
  var low = image
  low.detail = .low
  return .object([
    "file": .string(name), "width": .integer(Int64(width)), "height": .integer(Int64(height)),
    "tokens": .integer(Int64(try info.tokenCount(of: image))),
    "tokens_low_detail": .integer(Int64(try info.tokenCount(of: low))),
  ])
}

private func describe(_ images: [(String, ImageInput)], _ info: ModelInfo) throws -> String {
  if images.isEmpty { return "" }
  return "\nImages\n"
    + table(
      try images.map { name, image in
        let (size, tokens) = try imageFacts(image, info)
        return (URL(filePath: name).lastPathComponent, "\(size), \(tokens) tokens")
      })
}

/// The hub's files of a model that is not in the cache; nil if the name refers to a model on this machine.
private func listingIfAbsent(_ name: String) async throws -> HubListing? {
  do {
    _ = try namedModel(name)
    return nil
  } catch let error as HubError {
    guard let model = ModelName(try fullModelName(name)), case .notFound = error, !HubSettings.current.isOffline else {
      throw error
    }
    return try await HubAPI(.current).listing(of: model)
  }
}

private func describe(_ listing: HubListing, of name: String) -> String {
  let files = listing.files.sorted { $0.path < $1.path }
  return "\(name) on the hub, commit \(listing.commit.prefix(12)); pagoda pull \(name) downloads it\n"
    + table(files.map { ($0.path, readable(bytes: $0.size)) })
    + table([("all \(files.count) files", readable(bytes: files.reduce(0) { $0 + $1.size }))])
}

private func json(_ listing: HubListing, of name: String) -> JSONValue {
  .object([
    "model": .string(name), "commit": .string(listing.commit),
    "files": .array(listing.files.map { .object(["path": .string($0.path), "bytes": .integer($0.size)]) }),
  ])
}

private func describe(_ info: ModelInfo) -> String {
  var out =
    "Model\n" + table(modelRows(info)) + "\nWeights\n" + table(weightRows(info)) + "\nMemory plan\n"
    + memoryBar(info.plan, width: Style.textWidth ?? 80)
  out += table(memoryRows(info))
  if !info.skippedTensors.isEmpty {
    let names = info.skippedTensors.prefix(5) + (info.skippedTensors.count > 5 ? ["..."] : [])
    out += "\nTensors not used: \(info.skippedTensors.count) (\(names.joined(separator: ", ")))\n"
  }
  return out
}

private func table(_ rows: [(String, String)]) -> String {
  columns(rows.map { ("  " + $0.0, $0.1) }, width: Style.textWidth)
}

private func modelRows(_ info: ModelInfo) -> [(String, String)] {
  let text =
    !info.hasTokenizer ? "token ids only" : info.hasChatTemplate ? "tokenizer, chat template" : "tokenizer only"
  return [
    ("architecture", "\(info.architecture) (\(info.family))"),
    ("parameters", "\(readable(count: info.parameterCount)), \(info.weightDType)"),
    ("layers", "\(info.layerCount) (\(info.attentionLayerCount) attention, \(info.recurrentLayerCount) recurrent)"),
    ("hidden size", String(info.hiddenSize)),
    ("vocabulary", String(info.vocabularySize)),
    ("context", "\(info.contextLength) tokens"),
    ("text", text),
    ("images", images(info)),
    ("device", info.device),
  ]
}

/// The mix of formats, what a token reads, and what other formats would take.
private func weightRows(_ info: ModelInfo) -> [(String, String)] {
  func size(_ matrices: MatrixSum) -> String {
    "\(readable(bytes: matrices.bytes)), \(String(format: "%.2f", matrices.bitsPerWeight)) bits per weight"
  }
  var rows = info.weightFormats.map { one in
    (one.format, "\(one.matrixCount) \(one.matrixCount == 1 ? "matrix" : "matrices"), \(size(one.matrices))")
  }
  if rows.count > 1 { rows.append(("all matrices", size(info.allMatrices))) }
  let parts = "layers \(readable(bytes: info.layerMatrices.bytes)), head \(readable(bytes: info.headMatrix.bytes))"
  rows.append(("read per token", "\(readable(bytes: info.bytesPerToken)) (\(parts))"))
  for other in info.otherWeights {
    let sizes = "\(readable(bytes: other.weightsBytes)), \(readable(bytes: other.bytesPerToken)) per token"
    rows.append(("--quantize \(other.quantize.rawValue)", "would take \(sizes)"))
  }
  if let note = info.weightCacheNote { rows.append(("weight cache", note)) }
  return rows
}

private func images(_ info: ModelInfo) -> String {
  if let refusal = info.imageRefusal { return "no: \(refusal)" }
  let tower = "vision tower of \(readable(count: info.visionParameterCount)) parameters"
  return "\(tower) on \(info.visionDevice ?? info.device), \(info.maximumImageTokens) tokens each at most"
}

private func memoryRows(_ info: ModelInfo) -> [(String, String)] {
  let plan = info.plan
  let blocks = "\(plan.kvBlockCount) blocks of \(plan.blockSize) tokens, \(info.kvDType)"
  let slotSize = "\(readable(bytes: plan.stateSlotBytes))\(info.stateDType.map { ", \($0)" } ?? "")"
  let slots = "\(plan.stateSlotCount) slot\(plan.stateSlotCount == 1 ? "" : "s") of \(slotSize)"
  let unused = max(plan.deviceLimitBytes - plan.totalBytes, 0)
  let together = plan.kvBlockCount * Int64(plan.blockSize)
  let sequences = plan.maximumSequences == 1 ? "1 sequence" : "\(plan.maximumSequences) sequences at once"
  let fits = "\(sequences), \(plan.maximumModelLength) tokens each at most"
  var rows = [
    ("device limit", readable(bytes: plan.deviceLimitBytes)),
    ("weights", readable(bytes: plan.weightsBytes)),
  ]
  if plan.expertMemoryBytes > 0 { rows.append(("experts", experts(plan))) }
  rows += [
    ("KV cache", "\(readable(bytes: plan.kvBytes)) (\(blocks))"),
    ("recurrent state", "\(readable(bytes: plan.stateBytes)) (\(slots))"),
    ("checkpoints", "\(readable(bytes: plan.checkpointBytes)) (\(plan.checkpointCount) states of prefixes)"),
    ("workspace", readable(bytes: plan.workspaceBytes)),
  ]
  if plan.visionBytes > 0 {
    let host = plan.visionHostBytes > 0 ? ", \(readable(bytes: plan.visionHostBytes)) of it in host memory" : ""
    rows.append(("vision tower", "\(readable(bytes: plan.visionBytes)) with its cache\(host)"))
  }
  if plan.adapterBytes > 0 { rows.append(("LoRA adapters", readable(bytes: plan.adapterBytes))) }
  if plan.hostCacheBytes > 0 {
    rows.append(("host cache", "\(readable(bytes: plan.hostCacheBytes)) of host memory for prefixes"))
  }
  rows.append(("total", "\(readable(bytes: plan.totalBytes)), leaving \(readable(bytes: unused))"))
  rows.append(("fits", "\(fits), \(together) tokens together"))
  return rows
}

/// What part of the experts is in memory, and the speed that reading the others allows.
func experts(_ plan: MemoryPlan) -> String {
  let part = "\(readable(bytes: plan.expertMemoryBytes)) of \(readable(bytes: plan.expertBytes)) in memory"
  let read = plan.expertReadBytesPerToken
  guard read > 0 else { return part }
  let assumedDisk = 2e9  // bytes per second: a solid-state disk
  let speed = assumedDisk / Double(read)
  let tokens = String(format: speed < 10 ? "%.1f" : "%.0f", speed)
  return "\(part); a token reads \(readable(bytes: read)), \(tokens) tokens/s at most from a disk of 2 GB/s"
}

private func readable(count: Int64) -> String {
  count >= 1_000_000_000
    ? String(format: "%.2f billion", Double(count) / 1e9) : String(format: "%.1f million", Double(count) / 1e6)
}
