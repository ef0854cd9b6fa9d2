// pagoda quantize: writes a copy of a model with 4 or 8 bits per weight.
import Foundation
import PagodaKit

extension Command {
  static let quantize = Command(
    name: "quantize",
    summary: "Writes a model with 4 or 8 bits per weight, in MLX's format.",
    operands: "IN OUT",
    notes: """
      IN is anything that --model accepts. OUT is a new folder, which appears when it is complete. Matrices get one scale and
      one offset per group of columns (affine, rounded as by mlx.core.quantize on a CPU); norms, convolutions and small gates
      are not changed. Weights of a GGUF file are decoded and rounded again, which costs some accuracy if it has few bits.
      With --mixed, embeddings and the output matrix have 8 bits, and so have the down, value and recurrent output projections
      of the first and the last eighth of the layers and of every third layer between. mlx-lm reads such folders too.
      Models with experts, and safetensors that are already quantised, are refused.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          Option("bits", short: "b", value: "N", help: "4 (default) or 8"),
          Option("mixed", help: "8 bits for the matrices whose rounding changes answers most, 4 for the others"),
          Option("group-size", value: "N", help: "columns that share a scale: 32, 64 (default) or 128"),
        ])
    ],
    run: runQuantize)
}

private func runQuantize(_ arguments: Arguments) async throws -> Int32 {
  guard arguments.positionals.count == 2, !arguments.positionals[1].isEmpty else {
    throw UsageError("name a model and a new folder: pagoda quantize IN OUT")
  }
  let bits = Int(try arguments.choice("bits", of: ["4", "8"]) ?? "4") ?? 4
  let mixed = arguments.has("mixed")
  if mixed && bits != 4 { throw UsageError("--mixed has matrices of 4 and of 8 bits: leave out --bits") }
  let groupSize = Int(try arguments.choice("group-size", of: ["32", "64", "128"]) ?? "64") ?? 64
  let source = try namedModel(arguments.positionals[0])
  let folder = NSString(string: arguments.positionals[1]).expandingTildeInPath
  let line = ProgressLine("quantising \(arguments.positionals[0])")
  let report: QuantizeReport
  do {
    defer { line.clear() }
    report = try await source.quantize(to: folder, bits: bits, groupSize: groupSize, mixed: mixed) {
      line.show($0)
    }
  }
  let formats = mixed ? "\(report.wideCount) of them at 8 bits, the others at 4" : "all at \(bits) bits"
  Terminal.say(
    "\(folder): \(report.quantizedCount) matrices, \(formats), \(readable(bytes: report.inputBytes)) became "
      + "\(readable(bytes: report.outputBytes))")
  return 0
}
