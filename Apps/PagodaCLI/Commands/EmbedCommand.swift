// pagoda embed: texts as vectors.
import Foundation
import PagodaKit

extension Command {
  static let embed = Command(
    name: "embed",
    summary: "Prints embedding vectors of texts, for example with Qwen3-Embedding.",
    operands: "[TEXT...]",
    notes: """
      Each argument is a text; without arguments, each line of standard input is one. The vectors have length 1 and are
      printed one per line, as JSON arrays, in the order of the texts.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model, SharedOptions.shape, SharedOptions.pooling,
          Option("dimensions", value: "N", help: "keep the first N components (for models trained for it)"),
          Option("json", help: "print objects with the text, its number of tokens and the vector"),
        ]),
      SharedOptions.engine,
    ],
    run: runEmbed)
}

extension SharedOptions {
  static let pooling = Option(
    "pooling", value: "HOW",
    help: "how hidden states become one vector: last or mean (default: the model's 1_Pooling, else last)")
}

extension Arguments {
  fileprivate func dimensions(of info: ModelInfo) throws -> Int? {
    try integer("dimensions", in: 1...Int64(info.hiddenSize)).map { Int($0) }
  }

  /// The given pooling, or the one in the model's sentence-transformers configuration.
  func pooling() throws -> Pooling {
    if let given = try choice("pooling", of: Pooling.allCases.map(\.rawValue)) {
      return Pooling(rawValue: given) ?? .last
    }
    guard !has("shape"), case .folder(let path)? = try? modelSource(),
      let data = FileManager.default.contents(atPath: path + "/1_Pooling/config.json"),
      let config = JSONValue.parse(String(decoding: data, as: UTF8.self))
    else { return .last }
    if config["pooling_mode_lasttoken"]?.boolValue == true { return .last }
    if config["pooling_mode_mean_tokens"]?.boolValue == true { return .mean }
    throw CommandFailure(
      "\(path)/1_Pooling/config.json asks for a pooling other than last and mean; choose with --pooling")
  }
}

private func runEmbed(_ arguments: Arguments) async throws -> Int32 {
  let texts =
    arguments.positionals.isEmpty
    ? try Terminal.readPipe(or: "no text: pagoda embed \"...\", or pipe lines in").split(separator: "\n")
      .map(String.init)
    : arguments.positionals
  if texts.isEmpty || texts.contains("") { throw UsageError("there is no text to embed") }
  let pooling = try arguments.pooling()
  let engine = try await arguments.loadEngine { info in
    try info.requireTokenizer(or: "it cannot read text")
    _ = try arguments.dimensions(of: info)
  }
  let dimensions = try arguments.dimensions(of: engine.info)
  let window = max(1, engine.info.plan.maximumSequences * 2)
  for first in stride(from: 0, to: texts.count, by: window) {
    let batch = Array(texts[first..<min(first + window, texts.count)])
    let vectors = try await withThrowingTaskGroup(of: (Int, Embedding).self) { group in
      for (index, text) in batch.enumerated() {
        group.addTask { (index, try await engine.embed(text, pooling: pooling)) }
      }
      var all = [Embedding?](repeating: nil, count: batch.count)
      for try await (index, vector) in group { all[index] = vector }
      return all.compactMap { $0 }
    }
    for (text, vector) in zip(batch, vectors) {
      let values = dimensions.map { vector.normalized(dimensions: $0).values } ?? vector.values
      let list = JSONValue.array(values.map { .number(Double($0)) })
      let object = JSONValue.object([
        "text": .string(text), "tokens": .integer(Int64(vector.tokenCount)), "embedding": list,
      ])
      Terminal.write((arguments.has("json") ? object : list).text + "\n")
    }
  }
  await engine.shutDown()
  return 0
}
